package plan

import (
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan/outcome"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// Open starts a collector on a simulated copy of a snapshot, as after a restart: it has observed
// everything and attempted nothing. Use it to query the engine. Simulate runs it.
func Open(snap *snapshot.Snapshot, rules engine.Rules) (*engine.Collector, engine.World) {
	return Start(snap, rules), World(snap)
}

// World returns the world of Open, for callers with a collector of their own.
func World(snap *snapshot.Snapshot) engine.World {
	return newRecorder(outcome.NewHealth(snap, nil), snap.Objects, RecordRequests)
}

// Start returns the collector of Open, for callers that do not need the world.
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
