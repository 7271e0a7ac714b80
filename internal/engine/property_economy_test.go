package engine_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// A collector that doesn't read what a watch has shown reaches upstream's end state, under any
// schedule and with both rule sets.
func TestPropertyEconomyEndsTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rules := rapid.SampledFrom([]engine.Rules{engine.Upstream, engine.Strict}).Draw(t, "rules")
		allowed := confluent &^ scenario.RepeatedOwners
		if rules == engine.Strict { // they cannot resolve references with other coordinates, and that is contested
			allowed &^= scenario.Mismatches | scenario.Aliases
		}
		w := scenario.DrawWorld(t, allowed)
		acts := scenario.DrawDeletes(t, w, scenario.Policies[:2])
		if contested(t, w, acts) {
			return
		}
		plain := newRig(t, w, engine.WithRules(rules)).sync().drain().act(acts...).drain()
		thrifty := newRig(t, w, engine.WithRules(rules), engine.WithEconomy()).sync().drain().act(acts...).drain()
		if thrifty.outcomes() != plain.outcomes() {
			thrifty.fatalf("economy ends in\n%s\nand without it\n%s", thrifty.outcomes(), plain.outcomes())
		}
		other := newRig(t, w, engine.WithRules(rules), engine.WithEconomy()).sync().drain().act(acts...).explore(rapid.Uint64().Draw(t, "seed"))
		if other.outcomes() != plain.outcomes() {
			other.fatalf("under another schedule economy ends in\n%s\nand without it\n%s", other.outcomes(), plain.outcomes())
		}
	})
}

// Economy is as safe as upstream with overlapping attempts and lagging watches, although it doesn't
// read what a watch has shown. It never sends an unpinned DELETE.
func TestPropertyEconomySafety(t *testing.T) {
	deletes := 0
	rapid.Check(t, func(t *rapid.T) {
		w := scenario.DrawWorld(t, scenario.Wild)
		r := newRig(t, w, engine.WithEconomy())
		r.judgeWhileOverlapping(w, &deletes)
		acts := scenario.DrawDeletes(t, w, scenario.Policies)
		r.sync().act(acts...).explore(rapid.Uint64().Draw(t, "seed"))
		r.act(scenario.DrawMeddling(t, w, acts)).explore(rapid.Uint64().Draw(t, "seed"))
	})
	if deletes == 0 {
		t.Error("nothing was ever deleted: the property says nothing")
	}
}

// Liveness of an economical collector: as TestPropertyLiveness, with the same exceptions.
func TestPropertyEconomyLiveness(t *testing.T) {
	garbage := 0
	scenario.CheckUntil(t, func() bool { return garbage > 0 }, func(t *rapid.T) {
		w := scenario.DrawWorld(t, scenario.Wild&^(scenario.RepeatedUIDs|scenario.Unwatched))
		r := newRig(t, w, engine.WithEconomy()).sync()
		acts := scenario.DrawDeletes(t, w, scenario.Policies)
		r.act(acts...).explore(rapid.Uint64().Draw(t, "seed"))
		for range rapid.IntRange(0, 3).Draw(t, "meddling") {
			r.act(scenario.DrawMeddling(t, w, acts)).explore(rapid.Uint64().Draw(t, "seed"))
		}
		garbage += r.lookedAfter()
	})
}

// An object in a cycle that refers twice to its waiting owner cannot be unblocked: a strategic
// patch changes only the first reference. It is deleted nevertheless.
func TestEconomyOfStubbornReferences(t *testing.T) {
	const world = `v1 ConfigMap n/a owners=v1:Secret:b:b!
v1 Secret n/b owners=v1:ConfigMap:a:a!^,v1:ConfigMap:a:a!`
	for _, options := range [][]engine.Option{nil, {engine.WithEconomy()}} {
		rapid.Check(t, func(t *rapid.T) {
			objects, err := scenario.ParseWorld(world, scenario.Names{})
			if err != nil {
				t.Fatal(err)
			}
			r := newRig(t, scenario.World{Objects: objects}, options...).sync().drain()
			r.act(scenario.Act{Ref: objects[0].Ref, Policy: "Foreground"}).drain()
			if b := r.get(objects[1].Ref); b == nil || !b.BeingDeleted() {
				r.fatalf("%d options: b is not deleted: %s", len(options), r.outcomes())
			}
		})
	}
}

// A custom object in a suspected cycle gets blockOwnerDeletion=false in every reference, also where
// it was unset: upstream's merge patch writes all of them, and waiting owners keep the object.
// (S254)
func TestEconomyOfUnsaidBlocking(t *testing.T) {
	const world = `example.com/v1 Widget n/a
example.com/v1 Widget n/b owners=a
example.com/v1 Widget n/c owners=b! fin=example.com/hold
v1 ConfigMap n/d owners=a! fin=example.com/hold`
	var ends []string
	for _, options := range [][]engine.Option{nil, {engine.WithEconomy()}} {
		rapid.Check(t, func(t *rapid.T) {
			objects, err := scenario.ParseWorld(world, scenario.Names{})
			if err != nil {
				t.Fatal(err)
			}
			r := newRig(t, scenario.World{Objects: objects}, options...).sync().drain()
			r.act(scenario.Act{Ref: objects[2].Ref, Policy: "Foreground"}).drain()
			r.act(scenario.Act{Ref: objects[0].Ref, Policy: "Foreground"}).drain()
			b := r.get(objects[1].Ref)
			if b == nil || b.Owners[0].BlockOwnerDeletion != object.False {
				r.fatalf("%d options: %v", len(options), b)
			}
			ends = append(ends, r.outcomes())
		})
	}
	if len(slices.Compact(ends)) != 1 {
		t.Errorf("with and without economy it ends differently:\n%s", ends)
	}
}
