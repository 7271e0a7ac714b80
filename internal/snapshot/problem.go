package snapshot

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// ProblemKind classifies a Problem.
type ProblemKind string

// The kinds of problems. Documented in docs/reasons.md.
const (
	// DuplicateUID: two different objects have the same UID.
	DuplicateUID ProblemKind = "DuplicateUID"
	// Replaced: the same coordinates were seen with two UIDs; the object with the newer
	// resourceVersion was kept.
	Replaced ProblemKind = "Replaced"
	// NoUID: objects without a UID; one was made up (see MissingUID).
	NoUID ProblemKind = "NoUID"
	// NoOwnerUID: objects with an owner reference without a UID.
	NoOwnerUID ProblemKind = "NoOwnerUID"
	// WrongScope: a namespaced object without a namespace, or a cluster-scoped one with one. The
	// resource is then not covered.
	WrongScope ProblemKind = "WrongScope"
	// Unread: a file could not be read completely and was left out.
	Unread ProblemKind = "Unread"
	// StaleDiscovery: the discovery documents are incomplete.
	StaleDiscovery ProblemKind = "StaleDiscovery"
	// MisnamedFile: a file is named after one resource and lists another.
	MisnamedFile ProblemKind = "MisnamedFile"
	// NoObject: documents, or a whole input, that are no objects and were skipped.
	NoObject ProblemKind = "NoObject"
)

// Problem is a remark on the input that doesn't stop the reading.
type Problem struct {
	Kind ProblemKind `json:"kind"`
	// Object is the object of the remark, or the first of several. A remark about an API version has no
	// more of it.
	Object object.Ref `json:"object,omitzero"`
	// File is set for remarks about files.
	File    string `json:"file,omitzero"`
	Message string `json:"message"`
}

func compareProblems(a, b Problem) int {
	return cmp.Or(
		strings.Compare(string(a.Kind), string(b.Kind)),
		object.Compare(a.Object, b.Object),
		strings.Compare(a.File, b.File),
		strings.Compare(a.Message, b.Message),
	)
}

// tally counts remarks of one kind about one resource, so that a dump with the same flaw in every
// object gets one line and not a million.
type tally struct {
	first object.Ref
	count int
}

func (t *tally) add(r object.Ref) {
	if t.count == 0 || object.Compare(r, t.first) < 0 {
		t.first = r
	}
	t.count++
}

func (t *tally) problem(kind ProblemKind, what string) Problem {
	message := fmt.Sprintf("%s %s", printable(t.first), what)
	switch more := t.count - 1; {
	case more == 1:
		message += ", and so does 1 more object of this kind"
	case more > 1:
		message += fmt.Sprintf(", and so do %d more objects of this kind", more)
	}
	return Problem{Kind: kind, Object: t.first, Message: message}
}

// printable returns a reference that is safe to print: names in a dump are foreign text.
func printable(r object.Ref) string {
	s := r.String()
	if q := fmt.Sprintf("%q", s); q != `"`+s+`"` {
		return q
	}
	return s
}

// skipped counts the skipped documents, which are not objects, and has the inputs without any other
// content. They prove nothing and don't stop the reading.
type skipped struct {
	// documents is the number of skipped documents. first is the position of the first one, in the
	// order of file names, and why it was skipped.
	documents int
	first     string
	// inputs are those without any object, list or discovery document.
	inputs []unread
}

// unread is an input without any content.
type unread struct{ name, why string }

func (p *skipped) add(what string) {
	p.documents++
	if p.documents == 1 || what < p.first {
		p.first = what
	}
}

// merge adds the skipped documents of another file.
func (p *skipped) merge(one *skipped) {
	if one.documents > 0 && (p.documents == 0 || one.first < p.first) {
		p.first = one.first
	}
	p.documents += one.documents
}

// refusal returns an error if all inputs are without content.
func (p *skipped) refusal(inputs int) error {
	if len(p.inputs) < inputs {
		return nil
	}
	first := p.inputs[0]
	if p.documents == 0 {
		return fmt.Errorf("%s: %s", first.name, first.why)
	}
	return fmt.Errorf("%s: %s (%s)", first.name, first.why, strings.TrimPrefix(p.first, first.name+": "))
}

// remarks returns the problems for skipped documents and inputs.
func (p *skipped) remarks() []Problem {
	var problems []Problem
	for _, in := range p.inputs {
		problems = append(problems, Problem{Kind: NoObject, File: in.name, Message: in.name + ": " + in.why})
	}
	switch {
	case p.documents == 1:
		problems = append(problems, Problem{Kind: NoObject, Message: "skipped: not a Kubernetes object: " + p.first})
	case p.documents > 1:
		problems = append(problems, Problem{Kind: NoObject,
			Message: fmt.Sprintf("skipped %d documents that are not Kubernetes objects, first %s", p.documents, p.first)})
	}
	return problems
}

// isNoObject reports whether the error says that a text isn't objects at all, and not that it is
// cut off or too large.
func isNoObject(err error) bool {
	_, ok := errors.AsType[*manifest.Problem](err)
	return ok && !errors.Is(err, manifest.ErrTruncated) && !errors.Is(err, ErrLimit)
}

// amount returns the amount of content read so far, without lists.
func (r *reader) amount() int {
	n := len(r.objects) + len(r.stored) + len(r.failed) + len(r.documents.groups) + len(r.documents.lists)
	if r.source.KubernetesVersion != "" {
		n++
	}
	return n
}
