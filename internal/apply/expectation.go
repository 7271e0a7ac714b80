package apply

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// expectation is what is expected of one object: a consequence of the account, or that
// it is kept.
type expectation struct {
	report.Consequence
	// kept: the plan has considered the object, and nothing happens to it.
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

// mayGo reports whether the object goes, now or later, for all that the plan says.
func (e expectation) mayGo() bool { return e.Change == report.ChangeDeleted }

// takes reports whether the object is gone afterwards, or on its way.
func (e expectation) takes() bool { return e.Outcome == report.Deleted || e.stays() }

// stays reports whether the object is on its way and does not get there.
func (e expectation) stays() bool { return e.Outcome == report.Blocked }

// changes reports whether the object stays, and not as it was.
func (e expectation) changes() bool {
	return e.Outcome == report.Orphaned || e.Outcome == report.Pruned
}

// predicted reports whether reality can be compared with what is expected.
func (e expectation) predicted() bool { return e.Certainty == report.Sure }

func sortSubjects(list []subject) {
	slices.SortFunc(list, func(a, b subject) int { return object.Compare(a.ref, b.ref) })
}
