package plan

import (
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/graph"
	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reach"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// reachCache holds the paths along which deletes spread in a snapshot, and the objects that a seed
// may reach. It is computed before a run.
type reachCache struct {
	// collector has observed the whole snapshot and done nothing. nil if part is set.
	collector *engine.Collector
	paths     *reach.Map
	// part contains the objects that may change because of the seed or by themselves, and the
	// objects that decide about them, in object.Compare order. A simulation of part ends as one of
	// the whole snapshot does. nil if part would be too large to save work.
	part []*object.Object
}

// minPartRatio is the minimum ratio of all objects to reached objects. Below it, the whole snapshot
// is simulated.
const minPartRatio = 4

// findReach finds what a seed may reach in a snapshot.
func findReach(snap *snapshot.Snapshot, seed Seed, o Options) *reachCache {
	c := Start(snap, o.Rules)
	found := &reachCache{paths: ReachMap(snap, c.Graph(), o.Health)}
	starts := found.paths.Unstable()
	for _, ref := range seed.Targets {
		if o := snap.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name); o != nil {
			starts = append(starts, o)
		}
	}
	if part := found.paths.SmallPart(len(snap.Objects)/minPartRatio, starts...); part != nil {
		found.part = part.Objects
	} else {
		found.collector = c
	}
	return found
}

// ReachMap returns the map of a snapshot, with the deletions that objects obstruct. assessment may be nil.
func ReachMap(snap *snapshot.Snapshot, g *graph.Graph, assessment *health.Assessment) *reach.Map {
	m := reach.New(snap, g)
	if assessment != nil {
		m.Obstructed(assessment.FreedBy)
	}
	return m
}

// simulatedObjects returns the objects that are simulated.
func (o Options) simulatedObjects(snap *snapshot.Snapshot) []*object.Object {
	if o.reachCache != nil && o.reachCache.part != nil {
		return o.reachCache.part
	}
	return snap.Objects
}

// notSimulated returns the objects of the snapshot that are not simulated.
func (s *simulation) notSimulated() []*object.Object {
	world := s.options.simulatedObjects(s.snap)
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
