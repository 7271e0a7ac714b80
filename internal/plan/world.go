package plan

import (
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan/outcome"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// Open starts a collector over a simulated copy of a snapshot, as after a
// restart: everything is observed, nothing has been attempted. It is for asking
// the engine questions; Simulate runs it.
func Open(snap *snapshot.Snapshot, rules engine.Rules) (*engine.Collector, engine.World) {
	world := newRecorder(outcome.NewNeighbours(snap, nil), false)
	c := engine.New(engine.WithRules(rules), engine.WithCapacity(len(snap.Objects)))
	for _, o := range snap.Objects {
		if world.watches(o) {
			c.Observe(object.Event{Type: object.Added, Object: o})
		}
	}
	return c, world
}
