package plan

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// controllerOf asks the surroundings. One that is there and does not get on is neither
// running nor gone, and neither is one that goes with what is deleted: whether it is
// done before, depends on who is faster. Of the content of a namespace the pods go
// first.
//
// Upstream: pkg/controller/namespace/deletion/namespaced_resources_deleter.go deleteAllContent.
func (s *simulation) controllerOf(o *object.Object, finalizer string) (string, report.ControllerState) {
	j := s.options.Surroundings.Controller(o, finalizer)
	name := j.Name
	if name == "" && j.Controller.Name != "" {
		name = j.Controller.KubectlName()
	}
	switch {
	case j.State == report.RemoverAlive && !s.allLeave(j.Working):
		return name, report.ControllerRuns
	case j.State == report.RemoverGone:
		return name, report.ControllerGone
	default:
		return name, report.ControllerUnknown
	}
}

// allLeave tells whether all of some pods are gone or on their way out, and nobody
// makes them again.
func (s *simulation) allLeave(pods []report.Ref) bool {
	return len(pods) > 0 && !slices.ContainsFunc(pods, func(r report.Ref) bool { return s.staysInUse(object.Ref(r)) })
}

// staysInUse tells whether a pod stays, or its controller does, which makes it again.
// One that the snapshot does not have stays.
func (s *simulation) staysInUse(ref object.Ref) bool {
	o := s.snap.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name)
	if o == nil || !s.leaves(o) {
		return true
	}
	owner, ok := o.Controller()
	if !ok || s.leavesAt(object.Namespace.Ref("", o.Namespace)) {
		return false
	}
	return !s.leavesAt(object.Ref{APIVersion: owner.APIVersion, Kind: owner.Kind, Namespace: o.Namespace, Name: owner.Name})
}

func (s *simulation) leavesAt(ref object.Ref) bool {
	o := s.snap.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name)
	return o != nil && s.leaves(o)
}

// leaves tells whether an object is gone or on its way out by now.
func (s *simulation) leaves(o *object.Object) bool {
	tr := s.tracks.byUID[s.tracks.key(o.Ref)]
	if tr == nil {
		return o.BeingDeleted()
	}
	return tr.last == nil || tr.last.BeingDeleted()
}
