package plan

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/evidence"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan/outcome"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// leaving knows who takes finalizers off in some surroundings, as long as he is not
// deleted himself.
type leaving struct {
	around *evidence.Surroundings
	snap   *snapshot.Snapshot
	judge  *outcome.Judge
}

// controllerOf asks the surroundings. One that is there and does not get on is neither
// running nor gone, and neither is one that goes with what is deleted: whether it is
// done before, depends on who is faster. Of the content of a namespace the pods go
// first.
//
// Upstream: pkg/controller/namespace/deletion/namespaced_resources_deleter.go deleteAllContent.
func (l leaving) controllerOf(o *object.Object, finalizer string) (string, report.ControllerState) {
	j := l.around.Controller(o, finalizer)
	name := j.Name
	if name == "" && j.Controller.Name != "" {
		name = j.Controller.ShortName()
	}
	switch {
	case j.State == report.FinalizerControllerAlive && l.mayBeUsed(o, finalizer):
		return name, report.ControllerGuards
	case j.State == report.FinalizerControllerAlive && !l.allLeave(j.Working):
		return name, report.ControllerRuns
	case j.State == report.FinalizerControllerGone:
		return name, report.ControllerGone
	default:
		return name, report.ControllerUnknown
	}
}

// mayBeUsed reports whether a finalizer that protects an object in use may stay: its controller
// removes it once nothing uses the object.
func (l leaving) mayBeUsed(o *object.Object, finalizer string) bool {
	use, protects := l.around.UseOf(o, finalizer)
	return protects && (use.Unseen || use.Counted > 0 || len(l.judge.Staying(use.Users))+len(l.judge.Staying(use.Possible)) > 0)
}

// allLeave reports whether all of some pods are gone or on their way out, and nobody
// makes them again.
func (l leaving) allLeave(pods []report.Ref) bool {
	return len(pods) > 0 && !slices.ContainsFunc(pods, func(r report.Ref) bool { return l.staysInUse(object.Ref(r)) })
}

// staysInUse reports whether a pod stays, or its controller does, which makes it again.
// One that the snapshot does not have stays.
func (l leaving) staysInUse(ref object.Ref) bool {
	o := l.snap.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name)
	if o == nil || !l.judge.Leaves(o) {
		return true
	}
	owner, ok := o.Controller()
	if !ok || l.leavesAt(object.Ref{APIVersion: "v1", Kind: "Namespace", Name: o.Namespace}) {
		return false
	}
	return !l.leavesAt(object.Ref{APIVersion: owner.APIVersion, Kind: owner.Kind, Namespace: o.Namespace, Name: owner.Name})
}

func (l leaving) leavesAt(ref object.Ref) bool {
	o := l.snap.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name)
	return o != nil && l.judge.Leaves(o)
}
