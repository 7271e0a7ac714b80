package plan

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/impact"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// cause tells what follows from our requests from what happens beside them. Most runs
// never ask: only where something had changed before the seed, or others change
// something while we collect.
type cause struct {
	// paths is the map on which that is looked up; nil until somebody asks. Its graph is
	// nobody's who goes on.
	paths *impact.Map
	// from is what deletes of the objects of our requests may touch, by the keys of the
	// tracks; nil until somebody asks.
	from map[types.UID]bool
}

// caused tells whether what happened to an object follows from our requests, or may.
// What would have happened anyway does, too, where it is on their way.
func (s *simulation) caused(tr *track) bool {
	switch {
	case tr.target:
		return true
	case tr.changed == 0, tr.awaited:
		return false
	case s.seed.Verb == Delete && s.follows(tr):
		return true
	default:
		return s.reaches(tr.first)
	}
}

// follows tells whether something happened to an object after our requests, and because
// of them. Where it happened only when finalizers came off what others had deleted before,
// it has to be on the way of ours, and must not go with theirs alone.
func (s *simulation) follows(tr *track) bool {
	switch {
	case tr.awaited:
		return false
	case tr.changed&(afterSeed|afterRelease|inLaterFuture) != 0:
		return true
	case tr.changed&(afterOthers|laterOfOthers) == 0:
		return false
	default:
		return s.reaches(tr.first) && (tr.last != nil || !s.goesWithoutUs(tr.first))
	}
}

// lookedAtBesides tells whether an object was only looked at because of what others had
// deleted before.
func (s *simulation) lookedAtBesides(tr *track) bool {
	return tr.decision.phase&(afterOthers|laterOfOthers) != 0 && !s.reaches(tr.first)
}

// reaches tells whether deletes of the objects of our requests may touch an object.
func (s *simulation) reaches(o *object.Object) bool {
	if s.cause.from == nil {
		s.reachFrom(s.paths())
	}
	return s.cause.from[s.tracks.key(o.Ref)]
}

// paths is the map of the snapshot as it was before the first of our requests.
func (s *simulation) paths() *impact.Map {
	if s.cause.paths == nil {
		collector, _ := Open(s.snap, engine.Upstream)
		s.cause.paths = impact.New(s.snap, collector.Graph())
	}
	return s.cause.paths
}

// reachFrom finds what deletes of the objects of our requests may touch, on a map of the
// snapshot as it was before the first of them.
func (s *simulation) reachFrom(m *impact.Map) {
	all := m.From(s.requested()...)
	s.cause.from = make(map[types.UID]bool, len(all))
	for o := range all {
		s.cause.from[s.tracks.key(o.Ref)] = true
	}
}

// requested are the objects of our requests: of a collection those that it has written
// to.
func (s *simulation) requested() []*object.Object {
	var list []*object.Object
	add := func(ref object.Ref) {
		if o := s.snap.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name); o != nil {
			list = append(list, o)
		}
	}
	for _, ref := range s.seed.Targets {
		add(ref)
	}
	if s.seed.Verb == Collect {
		for _, w := range s.writes() {
			add(w.Object)
		}
	}
	return list
}

// claim notes of what would have gone anyway that a request of ours takes it, too:
// nobody knows who is faster, and it is gone afterwards.
func (s *simulation) claim(all fates) {
	for _, f := range all {
		if f.baseline && (s.caused(f.track) || f.outcome == report.Unknown && s.reaches(f.track.first)) {
			f.anyway = true
		}
	}
}

// exonerate notes of what is contested elsewhere that it would be so without our
// requests, too: what the collector remembers of the deletions of others is no doing of
// ours.
func (s *simulation) exonerate(all fates) {
	if s.seed.Verb == Collect {
		return
	}
	for key, f := range all {
		if !f.contested || f.baseline || s.reaches(f.track.first) {
			continue
		}
		if tr := s.tracks.byUID[key]; tr == nil || !s.caused(tr) {
			f.baseline = true
		}
	}
}

// near are the namespaces that a request has to do with, the empty one for objects
// without one: those of its targets, and of what follows from it.
type near map[string]bool

func (s *simulation) nearby(all fates) near {
	if !s.options.OnlyNear || s.seed.Verb == Collect {
		return nil
	}
	in := near{}
	for _, ref := range s.seed.Targets {
		in[ref.Namespace] = true
	}
	for _, f := range all {
		if !f.baseline || f.anyway {
			in[f.track.first.Namespace] = true
		}
	}
	return in
}

// concerns tells whether the request has to do with what becomes of an object. A
// collection in some namespaces has nothing to do with what is garbage, protected or
// on its way elsewhere, unless that follows from what it does there.
func (s *simulation) concerns(f *fate, in near) bool {
	o := f.track.first
	switch {
	case s.seed.Verb == Collect:
		return !s.notAskedFor(o) || s.reaches(o)
	case in == nil:
		return true
	default:
		return !f.baseline || f.anyway || in[o.Namespace]
	}
}
