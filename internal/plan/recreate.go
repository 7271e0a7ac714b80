package plan

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan/outcome"
	"github.com/kubectl-gc/kubectl-gc/internal/release"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// finalState is the end of a simulation, as the input of controllers.ComesBack.
type finalState struct {
	*simulation
	// last is the result of the previous Find: siblings look up the same owner.
	last struct {
		ref      object.Ref
		object   *object.Object
		standing controllers.Standing
	}
}

// Find returns the object that the snapshot has at the coordinates, in its last state, and whether
// it still exists.
func (s *finalState) Find(ref object.Ref) (*object.Object, controllers.Standing) {
	if s.last.ref != ref {
		s.last.ref = ref
		s.last.object, s.last.standing = s.lookup(ref)
	}
	return s.last.object, s.last.standing
}

func (s *finalState) lookup(ref object.Ref) (*object.Object, controllers.Standing) {
	o := s.snap.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name)
	if o == nil {
		if r, err := s.recorder.Resource(ref.APIVersion, ref.Kind); err == nil && s.snap.Covers(r, ref.Namespace) {
			return nil, controllers.Gone
		}
		return nil, controllers.Unseen
	}
	if tr := s.tracks.Known(o); tr != nil {
		o = tr.Last
	}
	if o == nil || o.BeingDeleted() {
		return nil, controllers.Gone
	}
	return o, controllers.Lives
}

// Rules returns the rules of the cluster's release.
func (s *finalState) Rules() release.Rules { return s.snap.Version().Rules() }

// Definition returns the CustomResourceDefinition that serves an API version and still exists at
// the end.
func (s *finalState) Definition(apiVersion string) object.Ref {
	for _, r := range s.snap.Resources.All() {
		if r.APIVersion() != apiVersion || r.Group == "" {
			continue
		}
		ref := s.snap.RefTo(object.CRD, "", r.Name+"."+r.Group)
		if o, standing := s.Find(ref); standing == controllers.Lives {
			return o.Ref
		}
	}
	return object.Ref{}
}

// addRecreator adds to the effect on a deleted object the controller that creates it again.
func (s *finalState) addRecreator(e *report.Effect, out *outcome.Outcome) {
	again, ok := controllers.ComesBack(s, out.Track.First)
	if !ok {
		return
	}
	e.Recreator, e.RecreatedWhen = again.Controller, again.When
	if again.For.Name != "" {
		ref := report.RefOf(again.For)
		e.RecreatedBy = &ref
	}
	e.Assumptions = append(slices.Clip(e.Assumptions), "for what comes back, "+again.Assumption)
}
