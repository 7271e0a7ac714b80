package apply

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// expectation is the expected outcome of one object: a predicted consequence, or that it is kept.
type expectation struct {
	report.Consequence
	// kept reports that the plan has considered the object and does not affect it.
	kept bool
}

func expectationsOf(result *plan.Result) []expectation {
	account := result.Plan.Consequences
	list := make([]expectation, 0, len(account))
	for i := range account {
		list = append(list, expectation{Consequence: account[i]})
	}
	for _, ref := range result.Stays() {
		list = append(list, expectation{report.Consequence{Object: report.RefOf(ref), Outcome: report.Kept, Certainty: report.Sure}, true})
	}
	return list
}

// mayGo reports whether the plan predicts the deletion of the object, now or later.
func (e expectation) mayGo() bool { return e.Change == report.ChangeDeleted }

// takes reports whether the object will be deleted or being deleted.
func (e expectation) takes() bool { return e.Outcome == report.Deleted || e.stays() }

// stays reports whether the object will be being deleted, but blocked.
func (e expectation) stays() bool { return e.Outcome == report.Blocked }

// changes reports whether the object remains and will be modified.
func (e expectation) changes() bool {
	return e.Outcome == report.Orphaned || e.Outcome == report.Pruned
}

// predicted reports whether the prediction is certain enough for a comparison.
func (e expectation) predicted() bool { return e.Certainty == report.Sure }

func sortSubjects(list []subject) {
	slices.SortFunc(list, func(a, b subject) int { return object.Compare(a.ref, b.ref) })
}
