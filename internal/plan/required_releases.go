package plan

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan/outcome"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// requiredReleases computes the finalizers that must be removed before an object can change, from
// the objects that it waits for or that keep it, in one state of the simulation.
type requiredReleases struct {
	snap           *snapshot.Snapshot
	tracks         *outcome.Tracks
	judge          *outcome.Judge
	priorDeletions *priorDeletions
	controllers    *finalizerControllers
	outcomes       *outcome.Outcomes
	cache          map[outcome.Key]*releaseSet
	unions         unionCache
}

func (s *simulation) requiredReleases(all *outcome.Outcomes) requiredReleases {
	return requiredReleases{
		snap: s.snap, tracks: s.tracks, judge: s.judge, priorDeletions: &s.priorDeletions, controllers: &s.finalizerControllers,
		outcomes: all, cache: map[outcome.Key]*releaseSet{}, unions: unionCache{},
	}
}

func (h requiredReleases) releasesFor(o *object.Object) *releaseSet {
	key := h.tracks.Key(o)
	if list, ok := h.cache[key]; ok {
		return list
	}
	h.cache[key] = nil // a cycle adds nothing
	var found releaseSetBuilder
	out := h.outcomes.At(key)
	if out != nil && out.Track.First.Ref != o.Ref {
		out = nil
	}
	switch {
	case out != nil && out.Blocked != nil:
		found.addReleases(h.namedReleases(o, out.Blocked.Finalizers))
		for _, d := range out.Blocked.Dependents {
			found.addSet(h.releasesAt(object.Ref(d)))
		}
	case out != nil && out.Result == report.Deleted:
	case out == nil && h.tracks.At(key) != nil && h.tracks.At(key).Awaited:
		found.addReleases(h.controllers.releasesOf(o))
		for _, d := range h.priorDeletions.waitsFor[key] {
			found.addSet(h.releasesAt(object.Ref(d)))
		}
	default:
		for _, ref := range o.Owners {
			found.addSet(h.releasesAt(h.judge.Locate(ref, o.Namespace)))
		}
		if o.Namespace != "" && found.isEmpty() {
			found.addSet(h.releasesAt(object.Ref{APIVersion: "v1", Kind: "Namespace", Name: o.Namespace}))
		}
		if v := o.Volume(); v != nil {
			for _, claim := range outcome.ClaimOf(o) {
				found.addSet(h.releasesAt(claim))
			}
		}
	}
	list := found.build(h.unions)
	h.cache[key] = list
	return list
}

// releasesAt returns the finalizers for the object at some coordinates. nil if it is not in the
// snapshot.
func (h requiredReleases) releasesAt(ref object.Ref) *releaseSet {
	o := h.snap.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name)
	if o == nil {
		return nil
	}
	return h.releasesFor(o)
}

// namedReleases returns the releases of the named finalizers of an object.
func (h requiredReleases) namedReleases(o *object.Object, names []string) []report.Release {
	return slices.DeleteFunc(h.controllers.releasesOf(o), func(r report.Release) bool { return !slices.Contains(names, r.Finalizer) })
}
