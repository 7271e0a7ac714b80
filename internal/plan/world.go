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
	return Start(snap, rules), World(snap)
}

// World is that of Open, for those whose collector has observed more than they ask about.
func World(snap *snapshot.Snapshot) engine.World {
	return newRecorder(outcome.NewNeighbours(snap, nil), snap.Objects, false)
}

// Start is the collector of Open, for those who ask about what it has observed alone.
func Start(snap *snapshot.Snapshot, rules engine.Rules) *engine.Collector {
	c := engine.New(engine.WithRules(rules), engine.WithRelease(snap.Version().Rules()), engine.WithCapacity(len(snap.Objects)))
	for same := range snap.ByKind() {
		r, err := snap.Resources.For(same[0].APIVersion, same[0].Kind)
		if err != nil || !snap.Resources.Monitored(r) {
			continue
		}
		for _, o := range same {
			c.Observe(object.Event{Type: object.Added, Object: o})
		}
	}
	return c
}
