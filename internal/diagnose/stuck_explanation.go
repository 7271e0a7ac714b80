package diagnose

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// CompleteExplanation adds findings to the explanation of an object that is being deleted: the ends that it
// waits for, the verdicts about its finalizers, and remedies. It ignores findings about other
// objects. Without findings nothing changes.
func CompleteExplanation(e *report.Explanation, d *report.Diagnosis) {
	for i := range d.Findings {
		if f := &d.Findings[i]; f.Object == e.Object {
			e.WaitsFor = append(e.WaitsFor, *f)
			switch reason.Code(f.Code) {
			case reason.EndNotSeen, reason.FinalizerControllerUnknown, reason.PolicyUnknown:
				e.Complete = false // it depends on something that could not be read
			default:
			}
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

// judged sets the verdict of a finalizer of the explained object.
func judged(x *report.FinalizerFinding, findings []report.Finding) {
	for i := range findings {
		if f := &findings[i]; f.Finalizer == x.Name && ownFinalizer(f) {
			x.Verdict, x.Proof = f.Verdict, f.Proof
			return
		}
	}
}

// ownFinalizer reports whether the finalizer of a finding is on the object itself, and not on one
// that it waits for. The chain may continue from it to a webhook that has to admit its removal.
func ownFinalizer(f *report.Finding) bool {
	if len(f.Chain) == 1 {
		return true
	}
	switch reason.Code(f.Chain[0].Waits) {
	case reason.FinalizerControllerAlive, reason.FinalizerControllerSlow, reason.FinalizerControllerGone, reason.FinalizerControllerUnknown,
		reason.FinalizerControllerPaused:
		return true
	default:
		return false
	}
}

// remediesOf returns the remedies of the findings, and those of the explanation that the findings do
// not cover. A command that only shows something comes first. Commands that remove a finalizer come
// last.
func remediesOf(e *report.Explanation) []report.Remedy {
	said := map[report.Act]bool{{Action: report.Explain, Target: e.Object}: true}
	for i := range e.WaitsFor {
		if reason.Code(e.WaitsFor[i].Code) == reason.StillInUse {
			continue // the finding does not say what would delete a user that stays
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
			// If two differ only in waiting, that of the explanation says more.
			soonest := r.Act
			soonest.NoWait = true
			said[soonest] = true
			own = append(own, r)
		}
	}
	for i := range e.WaitsFor {
		f := &e.WaitsFor[i]
		resolvesItself := reason.Code(f.Code) == reason.UnderWay || reason.Code(f.Code) == reason.GracePeriod
		for _, r := range f.Remedies {
			if !said[r.Act] && !resolvesItself {
				said[r.Act] = true
				all = append(all, r)
			}
		}
	}
	all = append(all, own...)
	slices.SortStableFunc(all, func(a, b report.Remedy) int {
		return object.TrueFirst(a.Action != report.TakeOff, b.Action != report.TakeOff)
	})
	return all
}

// writersShown reports whether the proofs name the writers of all finalizers that have a verdict.
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
