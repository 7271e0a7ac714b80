// Package diagnose answers questions about a snapshot, one document each: Check, Stuck, Explain,
// Graph, Rank and Examine. All ask the engine, in simulations where time passes, and derive no rules.
// Unread objects prove nothing: without proof a verdict is Unknown.
package diagnose

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// answer is the result of a diagnosis of a snapshot. Check and Stuck share it.
type answer struct {
	Snapshot *snapshot.Snapshot
	// Namespace limits the question to one namespace; empty for all.
	Namespace string
	Findings  []report.Finding
	Summary   report.FindingSummary
	// Unseen is where unseen objects could change a finding.
	Unseen plan.Unseen
	// OfAll: the question is about all objects, so that every unread object is missing in the answer.
	OfAll bool
}

// Document returns the answer with its findings sorted and counted.
func (a *answer) Document() *report.Diagnosis {
	slices.SortStableFunc(a.Findings, compareFindings)
	a.Summary.Count(a.Findings)
	d := &report.Diagnosis{
		Header: report.HeaderOf("Diagnosis"), Source: plan.SourceOf(a.Snapshot),
		Summary: a.Summary, Findings: a.Findings, Gaps: []report.Gap{},
	}
	if d.Findings == nil {
		d.Findings = []report.Finding{}
	}
	gaps, open := a.gaps()
	d.Gaps, d.Complete = append(d.Gaps, gaps...), !open
	return d
}

func compareFindings(a, b report.Finding) int {
	return cmp.Or(
		object.Compare(a.Object, b.Object),
		strings.Compare(a.Code, b.Code),
		compareReferences(a.Reference, b.Reference),
	)
}

func compareReferences(a, b *object.Ref) int {
	if a == nil || b == nil {
		return 0
	}
	return object.Compare(*a, *b)
}

// gaps returns what was not seen of the subject of the question, what was not seen but could change
// the answer, and whether anything could. For a question about one namespace, the subject is its
// content and the Namespace object.
func (a *answer) gaps() (gaps []report.Gap, open bool) {
	gaps, open = a.Unseen.Gaps(a.Snapshot, func(string) bool { return true })
	if a.OfAll {
		for _, g := range a.Snapshot.Unread(a.Namespace) {
			open = true
			for i := range gaps {
				gaps[i].Matters = gaps[i].Matters || gaps[i].APIVersion == g.APIVersion && gaps[i].Resource == g.Resource && gaps[i].Namespace == g.Namespace
			}
		}
	}
	if a.Namespace == "" {
		return gaps, open
	}
	seen := map[[2]string]bool{} // resources that were read for the namespace
	for _, r := range a.Snapshot.Resources.All() {
		seen[[2]string{r.APIVersion(), r.Name}] = !r.Namespaced && !r.Is(object.Namespace) || r.Namespaced && a.Snapshot.Covers(r, a.Namespace) ||
			r.Is(object.Namespace) && a.Snapshot.Find(r.APIVersion(), r.Kind, "", a.Namespace) != nil
	}
	return slices.DeleteFunc(gaps, func(g report.Gap) bool {
		return !g.Matters && (g.Namespace != "" && g.Namespace != a.Namespace || seen[[2]string{g.APIVersion, g.Resource}])
	}), open
}
