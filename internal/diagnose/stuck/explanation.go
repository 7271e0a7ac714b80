package stuck

import (
	"cmp"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// Complete adds to the explanation of an object that is being deleted what is said
// of it here: the ends that it waits for, whether anybody removes its finalizers, and what
// would end the waiting. Findings about other objects are left out; of an object
// without any, nothing changes.
func Complete(e *report.Explanation, d *report.Diagnosis) {
	for i := range d.Findings {
		if f := &d.Findings[i]; f.Object == e.Object {
			e.WaitsFor = append(e.WaitsFor, *f)
			e.Complete = e.Complete && !undecided(f)
		}
	}
	if len(e.WaitsFor) == 0 {
		return
	}
	for i := range e.Finalizers {
		judged(&e.Finalizers[i], e.WaitsFor)
	}
	e.Remedies = remediesOf(e)
}

// undecided reports whether a finding depends on something that could not be read.
func undecided(f *report.Finding) bool {
	switch reason.Code(f.Code) {
	case reason.EndNotSeen, reason.FinalizerControllerUnknown, reason.PolicyUnknown:
		return true
	default:
		return false
	}
}

// judged gives a finalizer of the explained object its verdict.
func judged(x *report.FinalizerFinding, findings []report.Finding) {
	for i := range findings {
		if f := &findings[i]; f.Finalizer == x.Name && ownFinalizer(f) {
			x.Verdict, x.Proof = f.Verdict, f.Proof
			return
		}
	}
}

// ownFinalizer reports whether the finalizer of a finding is one of the object itself, and
// not one of those that it waits for. Behind its own there may still be a webhook that
// has to be asked before it can come off.
func ownFinalizer(f *report.Finding) bool {
	if len(f.Chain) == 1 {
		return true
	}
	switch reason.Code(f.Chain[0].Waits) {
	case reason.FinalizerControllerAlive, reason.FinalizerControllerSlow, reason.FinalizerControllerGone, reason.FinalizerControllerUnknown:
		return true
	default:
		return false
	}
}

// remediesOf are commands that would change something: those of the findings, and then those of the explanation that do not
// lead to what the findings already say. First of all comes the one that only looks.
func remediesOf(e *report.Explanation) []report.Remedy {
	said := map[report.Act]bool{{Action: report.Explain, Target: e.Object}: true}
	for i := range e.WaitsFor {
		if reason.Code(e.WaitsFor[i].Code) == reason.StillInUse {
			continue // what would take a user that stays, the finding does not say
		}
		for _, l := range e.WaitsFor[i].Chain {
			said[report.Act{Action: report.Explain, Target: l.Ref}] = true
		}
	}
	if writersShown(e) {
		said[report.Act{Action: report.ShowWriters, Target: e.Object}] = true
	}
	all, own := []report.Remedy{}, []report.Remedy{}
	for _, r := range e.Remedies {
		switch {
		case said[r.Act]:
		case r.Action == report.ShowWriters:
			all = append(all, r)
		default:
			// Of two that only differ in waiting, the explanation says more.
			soonest := r.Act
			soonest.NoWait = true
			said[soonest] = true
			own = append(own, r)
		}
	}
	for i := range e.WaitsFor {
		f := &e.WaitsFor[i]
		for _, r := range f.Remedies {
			if !said[r.Act] && !goes(f) {
				said[r.Act] = true
				all = append(all, r)
			}
		}
	}
	all = append(all, own...)
	slices.SortStableFunc(all, func(a, b report.Remedy) int { return cmp.Compare(harshness(a), harshness(b)) })
	return all
}

// harshness puts last what takes a finalizer off in the place of its controller.
func harshness(r report.Remedy) int {
	if r.Action == report.TakeOff {
		return 1
	}
	return 0
}

// goes tells of an end that it needs nobody: to wait for it changes nothing.
func goes(f *report.Finding) bool {
	return reason.Code(f.Code) == reason.UnderWay || reason.Code(f.Code) == reason.GracePeriod
}

// writersShown reports whether the proofs of all finalizers that wait for somebody say
// who wrote them.
func writersShown(e *report.Explanation) bool {
	for _, x := range e.Finalizers {
		if x.Verdict != "" && !slices.ContainsFunc(x.Proof, func(p report.Proof) bool {
			return p.Reason == string(reason.WrittenBy) || p.Reason == string(reason.WrittenByTool)
		}) {
			return false
		}
	}
	return true
}
