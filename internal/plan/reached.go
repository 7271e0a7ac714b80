package plan

import (
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
}

// worth is how many times as much there has to be as is reached, for it to be worth looking.
const worth = 4

// look finds what a seed may reach in a snapshot.
func look(snap *snapshot.Snapshot, seed Seed, rules engine.Rules) *seen {
	c := Start(snap, rules)
	found := &seen{paths: impact.New(snap, c.Graph())}
	starts := found.paths.Restless()
	for _, ref := range seed.Targets {
		if o := snap.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name); o != nil {
			starts = append(starts, o)
		}
	}
	if part := found.paths.SmallPart(len(snap.Objects)/worth, starts...); part != nil {
		found.part = part.Objects
	} else {
		found.collector = c
	}
	return found
}

// world are the objects among which a seed is simulated.
func (o Options) world(snap *snapshot.Snapshot) []*object.Object {
	if o.seen != nil && o.seen.part != nil {
		return o.seen.part
	}
	return snap.Objects
}

// beside are the objects of the snapshot that are not in the simulated world.
func (s *simulation) beside() []*object.Object {
	world := s.options.world(s.snap)
	list := make([]*object.Object, 0, len(s.snap.Objects)-len(world))
	for _, o := range s.snap.Objects {
		if len(world) > 0 && world[0] == o {
			world = world[1:]
		} else {
			list = append(list, o)
		}
	}
	return list
}
