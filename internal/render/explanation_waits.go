package render

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

const (
	// notRead is the reason of a proof about missing input.
	notRead = "NotRead"
	// underWay is the code of a wait that ends by itself.
	underWay = "UnderWay"
)

// explainSince writes since when an object is being deleted.
func explainSince(w *writer, findings []report.Finding) {
	if len(findings) == 0 || findings[0].Since == "" {
		return
	}
	s := w.style
	text := "Being deleted since " + s.text(findings[0].Since)
	if d := span(findings[0].ForSeconds); d != "" {
		text += ", for " + d
	}
	w.prose(text+".", 2)
}

// explainWaits writes what must happen before an object is deleted, with the proofs. It leaves out
// what the explanation has elsewhere.
func explainWaits(w *writer, e *report.Explanation) {
	findings := slices.DeleteFunc(bySeverity(e.WaitsFor), func(f *report.Finding) bool {
		return f.Code == underWay && len(f.Chain) == 1 // the verdict says it
	})
	if len(findings) == 0 {
		return
	}
	s := w.style
	w.section("What it waits for in the end")
	unread := map[string]bool{}
	for _, f := range findings {
		text := s.paint(severityColour(f.Severity), s.text(f.Message)) + " (" + s.text(f.Code) + ")"
		if f.More > 0 {
			text += ", and " + strconv.Itoa(f.More) + " more of the same kind"
		}
		w.prose("  "+text, 4)
		if len(f.Chain) > 1 {
			w.prose("    "+waitText(s, f.Chain), 6)
		}
		for _, text := range proofTexts(s, e, f, unread) {
			w.prose("    "+s.pick("· ", "* ")+text, 6)
		}
	}
}

// proofTexts returns the proofs of a finding. Proofs about missing input are usually the same for
// all findings, and are written once.
func proofTexts(s Style, e *report.Explanation, f *report.Finding, unread map[string]bool) []string {
	const again = "not read: the same as above"
	var texts []string
	for _, p := range f.Proof {
		text := s.text(p.Message)
		switch {
		case toldAlready(e, f, p):
			continue
		case p.Reason == notRead && !unread[text]:
			unread[text] = true
		case p.Reason == notRead && slices.Contains(texts, again):
			continue
		case p.Reason == notRead:
			text = again
		}
		texts = append(texts, text)
	}
	return texts
}

// toldAlready reports whether the explanation has a proof elsewhere: in the verdict, the table of
// finalizers, the message of the finding or the listed events.
func toldAlready(e *report.Explanation, f *report.Finding, p report.Proof) bool {
	return p.Message == e.Message || strings.Contains(f.Message, p.Message) ||
		slices.ContainsFunc(e.Finalizers, func(x report.FinalizerFinding) bool {
			when, known := strings.CutPrefix(x.Evidence, "removed ")
			return known && p.Message == x.RemovedBy+" removes it "+when
		}) ||
		slices.ContainsFunc(e.Events, func(x report.EventFinding) bool { return p.Message == x.Reason+": "+x.Message })
}
