package engine_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// confluent are the worlds with one final state under any schedule. Excluded are
//
//   - objects with one UID: which of them the graph knows depends on the order of events;
//   - finalizers of the collector from before the deletes. They make the delete of a dependent an
//     orphaning one, with an outcome that is contested if a reference dangles, or a foreground one.
const confluent = scenario.Wild &^ (scenario.RepeatedUIDs | scenario.CollectorFinalizers | scenario.Terminating)

// schedules runs deletes in a settled world under several schedules and compares the final states.
// The references of objects that are being deleted are not compared: whether one is pruned before
// the collector sees the deletion is a matter of timing without consequence.
func schedules(t *rapid.T, w scenario.World, acts []scenario.Act) {
	first := newRig(t, w).sync().drain().act(acts...).drain()
	for range 5 {
		r := newRig(t, w).sync().drain().act(acts...).explore(rapid.Uint64().Draw(t, "seed"))
		if r.outcomes() != first.outcomes() {
			r.fatalf("one schedule ends in\n%s\nanother in\n%s", first.outcomes(), r.outcomes())
		}
	}
}

// Confluence of background deletion, if no object refers twice to an owner: that owner may be
// deleted between the two reads. Then both references are pruned and the object stays
// (owner_goes_between_two_reads.txt).
func TestPropertyConfluenceOfBackground(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := scenario.DrawWorld(t, confluent&^scenario.RepeatedOwners)
		schedules(t, w, scenario.DrawDeletes(t, w, scenario.Policies[:1]))
	})
}

// Confluence of foreground deletion, unless an object in reach of the deletes stays while its owner
// waits. Then the order of the attempts matters:
//
//   - Q24: an owner with a foreign finalizer counts as waiting until its own finalizer is removed
//     and as solid afterwards, so that a non-blocking dependent is deleted or stays;
//   - Q25: a dependent with a blocking dependent that stays is deleted in the foreground, and
//     hangs, or in the background, and is deleted. Objects stay that have a foreign finalizer or
//     a reference that cannot be resolved;
//   - Q2, Q1: members of a cycle in foreground deletion wait for each other forever, and an object
//     that blocks itself waits for itself, unless one of them is unblocked in time: by a second
//     delete, or because the collector repeats the attempt after a conflict.
//
// If several references to one UID are pruned together, only the last one tells the owner that it
// is unblocked, so that the owner hangs or not.
func TestPropertyConfluenceOfForeground(t *testing.T) {
	compared := 0
	rapid.Check(t, func(t *rapid.T) {
		w := scenario.DrawWorld(t, confluent&^scenario.RepeatedOwners)
		acts := scenario.DrawDeletes(t, w, scenario.Policies[:2])
		if contested(t, w, acts) {
			return
		}
		compared++
		schedules(t, w, acts)
	})
	if compared == 0 {
		t.Error("every world was contested: the property says nothing")
	}
}

// contested reports whether one of the three exceptions can apply.
func contested(t *rapid.T, w scenario.World, acts []scenario.Act) bool {
	r := newRig(t, w).sync().drain()
	reached := map[types.UID]bool{}
	foreground := 0
	for _, a := range acts {
		if o := r.get(a.Ref); o != nil {
			reached[o.UID] = true
		}
		if a.Policy == metav1.DeletePropagationForeground {
			foreground++
		}
	}
	if foreground > 0 && w.Variety.Has(scenario.Cycles) {
		return true
	}
	for grew := true; grew; {
		grew = false
		for _, o := range r.server.Objects() {
			for _, ref := range o.Owners {
				if !reached[ref.UID] || reached[o.UID] {
					continue
				}
				reached[o.UID], grew = true, true
			}
		}
	}
	for _, o := range r.server.Objects() {
		if !reached[o.UID] {
			continue
		}
		if o.HasFinalizer(scenario.Foreign) {
			return true
		}
		for _, ref := range o.Owners {
			if r.stateOf(ref, o.Namespace) == unresolved {
				return true
			}
		}
	}
	return false
}

// Confluence of orphaning, if only orphaning happens and no reference dangles. Resolvable ones were
// settled before, so worlds are excluded with unresolvable ones, which keep a dangling one in the
// list. (Whether the object has a reference left depends on whether a dangling one is pruned before
// or after the orphaned one.)
func TestPropertyConfluenceOfOrphaning(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := scenario.DrawWorld(t, confluent&^(scenario.UnknownKinds|scenario.Mismatches|scenario.Unwatched))
		schedules(t, w, scenario.DrawDeletes(t, w, scenario.Policies[2:3]))
	})
}
