package outcome

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// End is another outcome that an object may have, and what it depends on.
type End struct {
	Outcome             *Outcome
	Because             report.Hinge
	Message, Remembered string
}

// Rank orders outcomes from Unknown (0) to Deleted (5): the less is gone, the lower.
func Rank(o report.Outcome) int {
	return slices.Index([]report.Outcome{
		report.Unknown, report.Blocked, report.Orphaned, report.Pruned, report.Kept, report.Deleted,
	}, o)
}

// SameEnd reports whether two outcomes leave the same object in storage: none; one being deleted,
// with the same finalizers; or one that survives, with the same owner references.
func SameEnd(a, b *Outcome) bool {
	x, y := a.Track.Last, b.Track.Last
	if x == nil || y == nil {
		return x == y
	}
	return a.Result == b.Result && x.BeingDeleted() == y.BeingDeleted() &&
		slices.Equal(x.Finalizers(), y.Finalizers()) && slices.Equal(x.Owners, y.Owners)
}

// Knows reports whether other ends like out or like one of its Ends.
func (out *Outcome) Knows(other *Outcome) bool {
	return SameEnd(out, other) || slices.ContainsFunc(out.Ends, func(e End) bool { return SameEnd(e.Outcome, other) })
}

// Undisturbed returns the outcome of an object that nothing touched.
func (j *Judge) Undisturbed(o *object.Object) *Outcome {
	out := &Outcome{Track: &Track{First: o, Last: o}, Result: report.Kept, Reason: reason.NoOwners.String()}
	switch {
	case o.BeingDeleted():
		out.Reason = ""
		j.judgeBlocked(out)
	case len(o.Owners) > 0:
		out.Reason = reason.ExistingOwner.String()
	}
	return out
}

// Otherwise returns the other outcomes of an object in the form of a report.
func (out *Outcome) Otherwise() []report.Otherwise {
	var list []report.Otherwise
	for _, e := range out.Ends {
		list = append(list, report.Otherwise{Outcome: e.Outcome.Result, Because: e.Because, Message: e.Message, Remembered: e.Remembered})
	}
	return list
}
