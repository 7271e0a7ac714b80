package render

import (
	"bufio"
	"io"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

const (
	// factLines is the maximum number of lines for one fact on the first screen.
	factLines = 3
	// manyRefs is the number of objects that are named among many.
	manyRefs = 5
)

// ExplanationText prints why an object stays, is deleted or is stuck: the verdict, then owners,
// dependents and the deletes that delete it. For an object being deleted, it prints what it waits
// for, and the command that ends that. Wide output has everything.
func ExplanationText(out io.Writer, s Style, e *report.Explanation) error {
	s = s.screen()
	w := &writer{Writer: bufio.NewWriter(out), style: s}
	notes := linesOf(s, func(x *writer) { writeNotes(x, explanationUnseen(s, e)) })
	head := linesOf(s, func(x *writer) {
		x.atMost(factLines, verdictText(s, e), 2)
		explainContent(x, e.Content)
		explainUse(x, e)
		if s.Wide {
			explainWidely(x, e)
		} else {
			explainFacts(x, e)
		}
	})
	w.lines(head)
	w.lines(notes)
	if !s.Wide {
		explainRemedies(w, e, screenLines-len(head)-len(notes))
	}
	return w.done()
}

func verdictText(s Style, e *report.Explanation) string {
	phrase := verdictPhrase(s, e.Verdict)
	if e.Message != "" && (e.Verdict == report.HeldByFinalizer || e.Verdict == report.WaitingForDependents) {
		phrase = verdictPhrase(s, report.BeingDeleted) // the message says what blocks it
	}
	text := s.where(e.Object) + " " + s.paint(verdictColour(e.Verdict), phrase)
	if len(e.WaitsFor) > 0 && e.WaitsFor[0].ForSeconds != nil {
		text += ", for " + span(e.WaitsFor[0].ForSeconds)
	}
	if e.Message == "" {
		return text + "."
	}
	return text + ": " + s.text(e.Message)
}

func verdictPhrase(s Style, v report.Verdict) string {
	switch v {
	case report.Live:
		return "stays"
	case report.Garbage:
		return "is garbage"
	case report.BeingDeleted:
		return "is being deleted"
	case report.WaitingForDependents:
		return "is being deleted and waits for its dependents"
	case report.HeldByFinalizer:
		return "is being deleted and held by a finalizer"
	case report.Undecidable:
		return "cannot be decided"
	}
	return "is " + s.text(string(v))
}

// explainContent writes the content of a namespace: workloads and data by kind, and the number of
// generated objects.
func explainContent(w *writer, content []report.ContentCount) {
	if len(content) == 0 {
		return
	}
	s := w.style
	kinds := map[report.Role][]string{}
	hidden := 0
	for _, c := range content {
		if c.Role == report.GeneratedRole && !s.Wide {
			if ref := (object.Ref{APIVersion: c.APIVersion, Kind: c.Kind}); !ref.IsEvent() {
				hidden += c.Count
			}
			continue
		}
		kinds[c.Role] = append(kinds[c.Role], countOf(s, c.Count, c.APIVersion, c.Kind))
	}
	if hidden > 0 {
		kinds[report.GeneratedRole] = []string{plural(hidden, "generated object")}
	}
	for _, role := range []struct {
		role  report.Role
		title string
	}{{report.WorkloadRole, "Workloads: "}, {report.DataRole, "Data: "}, {report.OtherRole, "Also in it: "}, {report.GeneratedRole, "Hidden: "}} {
		if len(kinds[role.role]) > 0 {
			w.atMost(factLines, role.title+strings.Join(kinds[role.role], ", "), 2)
		}
	}
}

// explainUse writes the users of a PVC, and what a delete does to its data.
func explainUse(w *writer, e *report.Explanation) {
	s := w.style
	if len(e.UsedBy) > 0 {
		w.atMost(factLines, "Used by: "+s.some(e.UsedBy, manyRefs), 2)
	} else if e.Object.Is(object.PVC) {
		w.line("Used by: no pod that was seen")
	}
	x := e.Storage
	if x == nil {
		return
	}
	text := "Its storage: "
	if x.Volume != nil && x.Claim != nil {
		text = "Bound to " + s.name(*x.Volume) + "; its storage: "
	}
	if x.ReclaimPolicy != "" {
		text = strings.TrimSuffix(text, ": ") + " (" + s.text(x.ReclaimPolicy) + "): "
	}
	w.atMost(factLines, text+s.text(x.Message), 2)
}
