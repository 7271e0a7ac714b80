package plan

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan/outcome"
	"github.com/kubectl-gc/kubectl-gc/internal/release"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// outlook is the end of a simulation, for whoever asks what comes back.
type outlook struct {
	*simulation
	// last was found last: siblings ask for the same owner.
	last struct {
		ref      object.Ref
		object   *object.Object
		standing controllers.Standing
	}
}

// Find looks up what the snapshot has at the coordinates, and what has become of it.
func (s *outlook) Find(ref object.Ref) (*object.Object, controllers.Standing) {
	if s.last.ref != ref {
		s.last.ref = ref
		s.last.object, s.last.standing = s.find(ref)
	}
	return s.last.object, s.last.standing
}

func (s *outlook) find(ref object.Ref) (*object.Object, controllers.Standing) {
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

// Rules are those of the release of the cluster.
func (s *outlook) Rules() release.Rules { return s.snap.Version().Rules() }

// Definition finds the definition that has an API version served.
func (s *outlook) Definition(apiVersion string) object.Ref {
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

// comesBack adds to the effect on an object that goes who creates it again.
func (s *outlook) comesBack(e *report.Effect, out *outcome.Outcome) {
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
