package plan

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/evidence"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan/outcome"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// controllerLookup finds the controller that removes a finalizer, and whether it runs. A controller
// counts as running only if its own pods are not all being deleted.
type controllerLookup struct {
	around *evidence.Surroundings
	snap   *snapshot.Snapshot
	judge  *outcome.Judge
}

// controllerOf returns the controller's name and state. A controller that exists but makes no
// progress is neither running nor gone. Neither is a controller if the request deletes its pods:
// whether it finishes first is a race. The pods are the first content of a namespace to be deleted.
//
// Upstream: pkg/controller/namespace/deletion/namespaced_resources_deleter.go deleteAllContent.
func (l controllerLookup) controllerOf(o *object.Object, finalizer string) (string, report.ControllerState) {
	j := l.around.Controller(o, finalizer)
	name := j.Name
	if name == "" && j.Controller.Name != "" {
		name = j.Controller.ShortName()
	}
	switch {
	case j.State == report.FinalizerControllerAlive && l.mayBeUsed(o, finalizer):
		return name, report.ControllerGuards
	case j.State == report.FinalizerControllerAlive && !l.allDeleted(j.Working):
		return name, report.ControllerRuns
	case j.State == report.FinalizerControllerGone:
		return name, report.ControllerGone
	default:
		return name, report.ControllerUnknown
	}
}

// mayBeUsed reports whether a finalizer that protects an object in use may stay. Its controller
// removes it once nothing uses the object.
func (l controllerLookup) mayBeUsed(o *object.Object, finalizer string) bool {
	use, protects := l.around.UseOf(o, finalizer)
	return protects && (use.Unseen || use.Counted > 0 || len(l.judge.Staying(use.Users))+len(l.judge.Staying(use.Possible)) > 0)
}

// allDeleted reports whether all pods are gone or being deleted, and no controller recreates them.
func (l controllerLookup) allDeleted(pods []report.Ref) bool {
	return len(pods) > 0 && !slices.ContainsFunc(pods, func(r report.Ref) bool { return l.podStays(object.Ref(r)) })
}

// podStays reports whether a pod stays, or is recreated by its owner that stays. A pod that the
// snapshot lacks stays.
func (l controllerLookup) podStays(ref object.Ref) bool {
	o := l.snap.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name)
	if o == nil || !l.judge.Leaves(o) {
		return true
	}
	owner, ok := o.Controller()
	if !ok || l.isDeletedAt(object.Ref{APIVersion: "v1", Kind: "Namespace", Name: o.Namespace}) {
		return false
	}
	return !l.isDeletedAt(object.Ref{APIVersion: owner.APIVersion, Kind: owner.Kind, Namespace: o.Namespace, Name: owner.Name})
}

func (l controllerLookup) isDeletedAt(ref object.Ref) bool {
	o := l.snap.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name)
	return o != nil && l.judge.Leaves(o)
}
