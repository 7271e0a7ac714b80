package plan

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan/outcome"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// holds are the finalizers that have to come off before something happens to an
// object, from what it waits for and is kept by at some time.
type holds struct {
	snap       *snapshot.Snapshot
	tracks     *outcome.Tracks
	judge      *outcome.Judge
	awaited    *awaited
	finalizers *finalizers
	outcomes   *outcome.Outcomes
	known      map[outcome.Key]*once
	joins      joins
}

func (s *simulation) holds(all *outcome.Outcomes) holds {
	return holds{
		snap: s.snap, tracks: s.tracks, judge: s.judge, awaited: &s.awaited, finalizers: &s.finalizers,
		outcomes: all, known: map[outcome.Key]*once{}, joins: joins{},
	}
}

func (h holds) of(o *object.Object) *once {
	key := h.tracks.Key(o)
	if list, ok := h.known[key]; ok {
		return list
	}
	h.known[key] = nil // who waits in a circle adds nothing
	var found union
	out := h.outcomes.At(key)
	if out != nil && out.Track.First.Ref != o.Ref {
		out = nil
	}
	switch {
	case out != nil && out.Blocked != nil:
		found.add(h.named(o, out.Blocked.Finalizers))
		for _, d := range out.Blocked.Dependents {
			found.join(h.at(object.Ref(d)))
		}
	case out != nil && out.Result == report.Deleted:
	case out == nil && h.tracks.At(key) != nil && h.tracks.At(key).Awaited:
		found.add(h.finalizers.of(o))
		for _, d := range h.awaited.waitsFor[key] {
			found.join(h.at(object.Ref(d)))
		}
	default:
		for _, ref := range o.Owners {
			found.join(h.at(h.judge.Locate(ref, o.Namespace)))
		}
		if o.Namespace != "" && found.empty() {
			found.join(h.at(object.Ref{APIVersion: "v1", Kind: "Namespace", Name: o.Namespace}))
		}
		if v := o.Volume(); v != nil {
			for _, claim := range outcome.ClaimOf(o) {
				found.join(h.at(claim))
			}
		}
	}
	list := found.all(h.joins)
	h.known[key] = list
	return list
}

// at are the holds of the object at some coordinates, if it is terminating.
func (h holds) at(ref object.Ref) *once {
	o := h.snap.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name)
	if o == nil {
		return nil
	}
	return h.of(o)
}

// named are the releases of these finalizers of an object.
func (h holds) named(o *object.Object, names []string) []report.Release {
	return slices.DeleteFunc(h.finalizers.of(o), func(r report.Release) bool { return !slices.Contains(names, r.Finalizer) })
}
