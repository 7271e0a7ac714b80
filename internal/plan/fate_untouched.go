package plan

import (
	"context"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/graph"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// The fates of objects that nothing touched, and of which a plan speaks all the same.

// addTerminating puts every object that is being deleted into the plan of a
// collection, also those that nothing concerned.
func (s *simulation) addTerminating(all fates) {
	for _, o := range s.after() {
		if o.BeingDeleted() && s.fateIn(all, o.Ref) == nil {
			tr := s.tracks.of(o)
			f := &fate{track: tr}
			s.blockedFate(f)
			all[s.tracks.key(o.Ref)] = f
		}
	}
}

// addUndecided puts the dependents of owners that cannot be looked up into the
// plan of a collection: they may be garbage. The collector itself only retries
// the owner.
func (s *simulation) addUndecided(all fates) {
	g := s.collector.Graph()
	reads := s.recorder.reads
	s.recorder.reads = false
	defer func() { s.recorder.reads = reads }()
	for _, ref := range s.collector.Deferred(engine.DeleteWork) {
		id, ok := g.Find(ref.UID)
		if !ok || !g.Virtual(id) {
			continue
		}
		g.EachDependent(id, func(d graph.ID) bool {
			o := g.Object(d)
			if s.fateIn(all, o.Ref) == nil && !o.BeingDeleted() {
				if f := s.undecided(o); f != nil {
					all[s.tracks.key(o.Ref)] = f
				}
			}
			return true
		})
	}
}

// undecided asks the engine about an object that it was not going to look at;
// nil if it can be decided after all.
func (s *simulation) undecided(o *object.Object) *fate {
	a, _ := s.collector.Inspect(o.UID)
	d := s.collector.Decide(engine.Lookup(context.Background(), s.recorder, s.options.Rules, a))
	f := &fate{track: &track{first: o, last: o, decision: judgementOf(d, afterSeed)}}
	if s.consideredFate(f); f.outcome != report.Unknown {
		return nil
	}
	return f
}

// addKeptByBlocked lists the dependents of what the seed leaves blocked: they
// live exactly as long as it does.
func (s *simulation) addKeptByBlocked(all fates) {
	g := s.collector.Graph()
	var blocked []*fate
	for _, f := range all {
		if f.outcome == report.Blocked && !f.baseline && s.seed.Verb != Collect {
			blocked = append(blocked, f)
		}
	}
	slices.SortFunc(blocked, func(a, b *fate) int { return object.Compare(a.track.first.Ref, b.track.first.Ref) })
	for _, f := range blocked {
		id, ok := g.Find(f.track.first.UID)
		if !ok {
			continue
		}
		g.EachDependent(id, func(d graph.ID) bool {
			o := g.Object(d)
			if s.fateIn(all, o.Ref) == nil && !o.BeingDeleted() {
				all[s.tracks.key(o.Ref)] = s.keptBy(o, f.track.first.Ref)
			}
			return true
		})
	}
}

// keptBy is the fate of an object that nothing touched. Of several with one UID the
// graph knows one: which of them has this owner is not known.
func (s *simulation) keptBy(o *object.Object, owner object.Ref) *fate {
	f := &fate{
		track: &track{first: o, last: o}, outcome: report.Kept,
		reason: engine.SolidOwner.String(), because: []object.Ref{owner},
	}
	if s.tracks.shared[o.UID] {
		f.doubt(SharedUID)
	}
	return f
}
