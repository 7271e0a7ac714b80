package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// source is what the comments and constants of packages say of its types.
type source struct {
	// types are the comments of types, with those of their constants.
	types map[string]string
	// fields are the comments of fields, by type and name of the field in Go.
	fields map[string]string
	// constants are the values of a type of text, in their order.
	constants map[string][]string
}

func readSource(patterns ...string) (source, error) {
	s := source{map[string]string{}, map[string]string{}, map[string][]string{}}
	var names []string
	for _, p := range patterns {
		files, err := filepath.Glob(p)
		if err != nil {
			return s, err
		}
		names = append(names, files...)
	}
	said := map[string][]string{}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return s, err
		}
		for _, d := range file.Decls {
			if d, ok := d.(*ast.GenDecl); ok {
				if err := s.read(d, said); err != nil {
					return s, err
				}
			}
		}
	}
	for name, sentences := range said {
		s.types[name] = strings.TrimSpace(s.types[name] + " " + strings.Join(sentences, " "))
	}
	return s, nil
}

// read takes what a declaration says. Said are the sentences about constants, by type.
func (s source) read(d *ast.GenDecl, said map[string][]string) error {
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			s.types[spec.Name.Name] = flat(d.Doc)
			if t, ok := spec.Type.(*ast.StructType); ok {
				s.structure(spec.Name.Name, t)
			}
		case *ast.ValueSpec:
			t, ok := spec.Type.(*ast.Ident)
			if !ok || d.Tok != token.CONST {
				continue
			}
			literal, ok := spec.Values[0].(*ast.BasicLit)
			if !ok {
				return fmt.Errorf("constant %s is no literal", spec.Names[0].Name)
			}
			value, err := strconv.Unquote(literal.Value)
			if err != nil {
				return err
			}
			s.constants[t.Name] = append(s.constants[t.Name], value)
			if sentence, ok := strings.CutPrefix(flat(spec.Doc), spec.Names[0].Name+":"); ok {
				said[t.Name] = append(said[t.Name], value+":"+sentence)
			}
		}
	}
	return nil
}

// structure takes the comments of fields. One comment may speak of the fields below
// it, too. Where it names a field, it is called as in JSON.
func (s source) structure(name string, t *ast.StructType) {
	var words []string
	called := map[string]string{}
	comments := ""
	for _, f := range t.Fields.List {
		if len(f.Names) != 1 || f.Tag == nil {
			continue
		}
		tag, err := strconv.Unquote(f.Tag.Value)
		if err != nil {
			panic("reference: the parser knows a tag that is no text: " + f.Tag.Value)
		}
		called[f.Names[0].Name], _, _ = strings.Cut(reflect.StructTag(tag).Get("json"), ",")
		words = append(words, f.Names[0].Name)
	}
	form := regexp.MustCompile(`\b(` + strings.Join(words, "|") + `)\b`)
	for _, f := range t.Fields.List {
		if len(f.Names) != 1 {
			continue
		}
		own := flat(f.Doc)
		if own != "" {
			comments = own
		}
		if own == "" && regexp.MustCompile(`\b`+f.Names[0].Name+`\b`).MatchString(comments) {
			own = comments
		}
		s.fields[name+"."+f.Names[0].Name] = form.ReplaceAllStringFunc(own, func(word string) string { return called[word] })
	}
}

// flat is a comment on one line.
func flat(c *ast.CommentGroup) string { return strings.Join(strings.Fields(c.Text()), " ") }

// wording is what the text of a field may be, where its type does not say so.
type wording struct {
	// words are the values. Where more of them may be added, any word in the same
	// form is valid, too.
	words []string
	grows bool
	// pattern is a form, more that of what may be added, format one that JSON Schema has
	// a name for.
	pattern, more, format string
}

// word is the form of reasons and codes.
const word = "^[A-Z][A-Za-z0-9]*$"

// say puts it into the schema of the field.
func (w wording) say(n *node) {
	known := node{Enum: w.words, Pattern: w.pattern}
	if w.grows {
		n.AnyOf = []*node{&known, {Pattern: w.more}}
	} else {
		n.Enum, n.Pattern = known.Enum, known.Pattern
	}
	n.Format = w.format
}

// vocabulary is the wording of fields, by type and name in JSON. The lists are those
// of docs/reasons.md.
func vocabulary() map[string]wording {
	plans := slices.Concat(reason.Collector.Codes(), reason.Plan.Codes())
	gaps := strings.Join(reason.Gap.Codes(), "|")
	policies := []string{"Background", "Foreground", "Orphan"}
	digest := wording{pattern: "^sha256:[0-9a-f]{64}$"}
	moment := wording{format: "date-time"}
	why := wording{pattern: fmt.Sprintf("^(%s)(: |$)", gaps), grows: true, more: "^[A-Z][A-Za-z0-9]*(: |$)"}
	return map[string]wording{
		"Checkup.earlierTakenAt":  moment,
		"CheckupReason.code":      growing(reason.Doctor.Codes(), reason.Verdict.Codes()),
		"Deadlock.reason":         growing(plans),
		"DependentFinding.state":  closed("Live", "BeingDeleted", "WaitingForDependents"),
		"DroppedReference.reason": growing(reason.UndoDrop.Codes()),
		"Effect.reason":           growing(plans),
		"EventFinding.last":       moment,
		"Explanation.reason":      growing(plans, reason.Explanation.Codes()),
		"FinalizerFinding.state":  closed("Waiting", "Idle"),
		"Finding.code":            growing(reason.Check.Codes(), reason.Stuck.Codes(), reason.Doctor.Codes()),
		"Finding.since":           moment,
		"Gap.why":                 why,
		"HistoryLimit.why":        why,
		"LossCause.code":          growing(reason.Lost.Codes()),
		"Loss.policy":             closed(policies...),
		"LostRequest.policy":      closed(policies...),
		"Moment.time":             moment,
		"Plan.digest":             {pattern: "^(sha256:[0-9a-f]{64})?$"},
		"Plan.rules":              closed("upstream", "strict"),
		"PlannedFinalizer.class":  closed("Collector", "Protection", "Cleanup", "Cloud", "Operator", "Unknown"),
		"Proof.reason":            growing(reason.Proof.Codes()),
		"Refusal.reason":          growing(reason.Refusal.Codes()),
		"Risk.policy":             closed(policies...),
		"Run.digest":              digest,
		"RunWrite.verb":           closed("DELETE", "PATCH"),
		"Seed.policy":             closed(policies...),
		"Seed.verb":               closed("delete", "collect", "removeFinalizer"),
		"Source.type":             closed("files", "cluster"),
		"Step.policy":             closed(policies...),
		"Step.reason":             growing(plans, []string{""}), // a GET comes before there is one
		"Step.verb":               closed("GET", "DELETE", "PATCH", "PUT", "DELETECOLLECTION", "REMOVED"),
		"Storage.reclaimPolicy":   closed("Delete", "Retain", "Recycle"),
		"Stuck.reason":            growing(plans),
		"Taker.policy":            closed(policies...),
		"Undo.digest":             digest,
		"UndoNote.reason":         growing(reason.UndoNote.Codes()),
		"UndoSkip.reason":         growing(reason.UndoSkip.Codes()),
		"UndoStep.verb":           closed("Create", "Restore", "Status", "Overwrite", "Secrets", "Manage"),
		"WaitLink.waits":          growing(plans, reason.Stuck.Codes()),
	}
}

func closed(words ...string) wording { return wording{words: words} }

// growing joins lists that may become longer in later versions. A word stands once, wherever it
// occurs.
func growing(lists ...[]string) wording {
	words := slices.Concat(lists...)
	slices.Sort(words)
	return wording{words: slices.Compact(words), grows: true, more: word}
}
