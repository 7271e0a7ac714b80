package engine_test

import (
	"encoding/json"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// Idempotence: at rest the collector has no work, and Wake leads to no write.
func TestPropertyIdempotence(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := lived(t, scenario.Wild, func(*rig) {})
		before := r.server.Writes()
		r.collector.Wake()
		r.drain()
		if r.server.Writes() != before {
			r.fatalf("the garbage collector was not at rest")
		}
	})
}

// Restart: a collector that starts over in the final world changes nothing either. Four cases are
// excluded; in each, upstream's collector has missed something that it finds when it lists
// everything again:
//
//   - objects with one UID, and kinds that are not watched, see TestPropertyLiveness;
//   - cluster-scoped objects with a reference to a namespaced kind: their attempt is dropped (Q5)
//     and not repeated when that reference is removed;
//   - several references to one UID: when they are pruned, only the last of them decides whether
//     the owner is told that it is unblocked.
func TestPropertyRestart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := lived(t, scenario.Wild&^(scenario.RepeatedUIDs|scenario.Unwatched|scenario.RepeatedOwners), func(*rig) {})
		if slices.ContainsFunc(r.world.Objects, r.givenUp) {
			return
		}
		before := r.state()
		if r.restart().drain(); r.state() != before {
			r.fatalf("a new collector changes\n%s\nto\n%s", before, r.state())
		}
	})
}

// Termination: the number of attempts is bounded by the size of the world, the number of objects
// and references. An object is attempted when it or one of its owners changes, and each changes a
// few times at most: its deletion starts, blocking ends, a finalizer is removed, it is deleted.
// Deferred attempts are repeated after every round of writes.
func TestPropertyTermination(t *testing.T) {
	const perItem = 4
	rapid.Check(t, func(t *rapid.T) {
		w := scenario.DrawWorld(t, scenario.Wild)
		size := 0
		for _, o := range w.Objects {
			size += 1 + len(o.Owners)
		}
		r := newRig(t, w).sync().act(scenario.DrawDeletes(t, w, scenario.Policies)...)
		r.drain()
		if r.attempts > perItem*size {
			r.fatalf("%d attempts for %d objects and references", r.attempts, size)
		}
	})
}

// Purity: a simulation doesn't change the given objects.
func TestPropertyPurity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var given string
		r := lived(t, scenario.Wild, func(r *rig) { given = text(t, r.world) })
		if after := text(t, r.world); after != given {
			r.fatalf("given %s\nafter %s", given, after)
		}
	})
}

// text returns the whole content of a world, including the targets of pointers.
func text(t *rapid.T, w scenario.World) string {
	b, err := json.Marshal(w.Objects)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
