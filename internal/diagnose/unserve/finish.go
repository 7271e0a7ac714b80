package unserve

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

func (q *question) note(n reason.Code) {
	q.doc.Notes = append(q.doc.Notes, report.ExposureNote{Note: string(n), Message: reason.ExposureNote.Sentence(n)})
}

// finish sorts and counts.
func (q *question) finish() {
	d := q.doc
	for _, n := range q.subject.notes(q.snap) {
		q.note(n)
	}
	if len(d.Dependents) > 0 && !q.subject.whole() {
		q.note(reason.NeverCollected)
		q.note(reason.ServedAgain)
	}
	slices.SortFunc(d.Notes, func(a, b report.ExposureNote) int { return noteRank(a) - noteRank(b) })
	byRef := func(a, b report.Ref) int { return object.Compare(object.Ref(a), object.Ref(b)) }
	slices.SortFunc(d.Dependents, func(a, b report.ExposedDependent) int { return byRef(a.Object, b.Object) })
	slices.SortFunc(d.Consequences, func(a, b report.ExposureConsequence) int { return byRef(a.Object, b.Object) })
	slices.SortFunc(d.Owners, func(a, b report.ExposedOwner) int { return byRef(a.Object, b.Object) })
	slices.SortFunc(d.Patches, func(a, b report.ReferencePatch) int { return byRef(a.Object, b.Object) })
	gone := map[report.Ref]bool{}
	for _, c := range d.Consequences {
		gone[c.Object] = true
	}
	d.Safe = slices.DeleteFunc(d.Safe, func(s report.SafeDependent) bool { return gone[s.Object] })
	slices.SortFunc(d.Safe, func(a, b report.SafeDependent) int { return byRef(a.Object, b.Object) })
	d.Gaps = append(d.Gaps, plan.RelevantGaps(q.snap, func(string) bool { return true })...)
	d.Summary = summary(d)
	d.Conditions = append(d.Conditions, conditions(d)...)
	d.Complete = d.Summary.Unknown == 0 && len(d.Gaps) == 0
}

// summary counts.
func summary(d *report.Exposure) report.ExposureSummary {
	n := report.ExposureSummary{Exposed: len(d.Dependents), Consequences: len(d.Consequences), Safe: len(d.Safe)}
	for i := range d.Dependents {
		switch d.Dependents[i].Outcome {
		case report.Deleted:
			n.Deleted++
		case report.Blocked:
			n.Blocked++
		case report.Pruned, report.Orphaned:
			n.Pruned++
		default:
			n.Unknown++
		}
	}
	return n
}

// conditions lists the conditions that concern anybody. What is created with a
// reference is not there yet: of it the owners are counted.
func conditions(d *report.Exposure) []report.ExposureCondition {
	counts := map[string]int{}
	for i := range d.Dependents {
		for _, e := range d.Dependents[i].When {
			counts[e.Condition]++
		}
	}
	for _, o := range d.Owners {
		if o.New == report.Deleted {
			counts[string(reason.NewDependent)]++
		}
	}
	var list []report.ExposureCondition
	for _, c := range reason.Condition.Meanings {
		if n := counts[string(c.Code)]; n > 0 {
			list = append(list, report.ExposureCondition{Condition: string(c.Code), Objects: n, Message: c.Sentence()})
		}
	}
	return list
}

func noteRank(n report.ExposureNote) int { return reason.ExposureNote.Rank(reason.Code(n.Note)) }
