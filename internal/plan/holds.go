package plan

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

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
	outcomes   outcome.Outcomes
	known      map[types.UID][]report.Release
}

func (s *simulation) holds(all outcome.Outcomes) holds {
	return holds{
		snap: s.snap, tracks: s.tracks, judge: s.judge, awaited: &s.awaited, finalizers: &s.finalizers,
		outcomes: all, known: map[types.UID][]report.Release{},
	}
}

func (h holds) of(o *object.Object) []report.Release {
	key := h.tracks.Key(o.Ref)
	if list, ok := h.known[key]; ok {
		return list
	}
	h.known[key] = nil // who waits in a circle adds nothing
	var found union
	out := h.outcomes[key]
	if out != nil && out.Track.First.Ref != o.Ref {
		out = nil
	}
	switch {
	case out != nil && out.Blocked != nil:
		found.add(h.named(o, out.Blocked.Finalizers))
		for _, d := range out.Blocked.Dependents {
			found.add(h.at(object.Ref(d)))
		}
	case out != nil && out.Result == report.Deleted:
	case out == nil && h.tracks.ByUID[key] != nil && h.tracks.ByUID[key].Awaited:
		found.add(h.finalizers.of(o))
		for _, d := range h.awaited.waitsFor[key] {
			found.add(h.at(object.Ref(d)))
		}
	default:
		for _, ref := range o.Owners {
			found.add(h.at(h.judge.Locate(ref, o.Namespace)))
		}
		if o.Namespace != "" && len(found.list) == 0 {
			found.add(h.at(object.Ref{APIVersion: "v1", Kind: "Namespace", Name: o.Namespace}))
		}
		if v := o.Volume(); v != nil {
			for _, claim := range outcome.ClaimOf(o) {
				found.add(h.at(claim))
			}
		}
	}
	h.known[key] = found.list
	return found.list
}

// union lists releases, each once. A namespace may wait for thousands.
type union struct {
	list []report.Release
	has  map[report.Release]bool
}

func (u *union) add(more []report.Release) {
	if u.has == nil {
		u.has = make(map[report.Release]bool, len(more))
	}
	for _, r := range more {
		if !u.has[r] {
			u.has[r] = true
			u.list = append(u.list, r)
		}
	}
}

// at are the holds of the object at some coordinates, if it is terminating.
func (h holds) at(ref object.Ref) []report.Release {
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
