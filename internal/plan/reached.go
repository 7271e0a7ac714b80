package plan

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/impact"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// seen is what was found out about a snapshot before a seed is put into it.
type seen struct {
	// collector has seen all of it and done nothing; it is nil where there is a part. Paths are
	// those along which deletes go.
	collector *engine.Collector
	paths     *impact.Map
	// part are the objects to which something may happen by the seed or by itself, with what
	// decides about that, in object.Compare order: what is simulated among these ends as in the
	// whole. It is nil where that is so much of the whole that it is not worth it.
	part []*object.Object
	// fold tells for whom those of the part stand; nil where each is only itself.
	fold *impact.Fold
}

// worth is how many times as much there has to be as is reached, for it to be worth looking.
const worth = 4

// look finds what a seed may reach in a snapshot. The collector whose graph tells that sees only
// the outline. Where much is reached and that may be folded, the part has objects that stand for
// others.
func look(snap *snapshot.Snapshot, seed Seed, rules engine.Rules, folds bool) *seen {
	out := impact.OutlineOf(snap)
	if out == nil {
		c := Start(snap, rules)
		return &seen{collector: c, paths: impact.New(snap, c.Graph())}
	}
	found := &seen{paths: out.Map(Start(out.Snapshot(), rules).Graph())}
	starts := found.paths.Restless()
	for _, ref := range seed.Targets {
		if o := snap.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name); o != nil {
			starts = append(starts, o)
		}
	}
	most := len(snap.Objects) / worth
	if folds && most > worthFolding {
		if part := found.paths.SmallPart(worthFolding, starts...); part != nil {
			found.part = part.Objects
			return found
		}
		if folded := fold(snap, found.paths, starts, rules, len(snap.Objects)/2); folded != nil {
			return folded
		}
	}
	if part := found.paths.SmallPart(most, starts...); part != nil {
		found.part = part.Objects
		return found
	}
	found.collector = Start(snap, rules)
	return found
}

// world are the objects among which a seed is simulated.
func (o Options) world(snap *snapshot.Snapshot) []*object.Object {
	if o.seen != nil && o.seen.part != nil {
		return o.seen.part
	}
	return snap.Objects
}

// beside are the objects of the snapshot that are not in the simulated world, where these are
// left in it. Whom one of that world stands for goes where it goes.
func (s *simulation) beside(left []*object.Object) []*object.Object {
	rest := s.options.world(s.snap)
	gone := s.goneForOthers(rest, left)
	list := make([]*object.Object, 0, len(s.snap.Objects)-len(rest))
	for place, o := range s.snap.Objects {
		switch {
		case len(rest) > 0 && rest[0] == o:
			rest = rest[1:]
		case gone == nil || !gone[s.options.seen.fold.By(place)]:
			list = append(list, o)
		}
	}
	return list
}

// goneForOthers are the places of those of the simulated world that stand for others and are not
// left in it.
func (s *simulation) goneForOthers(world, left []*object.Object) map[int]bool {
	if s.options.seen == nil || s.options.seen.fold == nil {
		return nil
	}
	there := map[types.UID]bool{}
	for _, o := range left {
		there[o.UID] = true
	}
	gone := map[int]bool{}
	for _, o := range world {
		if place := s.snap.Place(o); s.options.seen.fold.Times(place) > 1 && !there[o.UID] {
			gone[place] = true
		}
	}
	return gone
}
