package engine_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// confluent are the worlds for which one final state is promised, whatever the
// schedule. Left out are
//
//   - objects with one UID: which of them the graph knows depends on the order of
//     events;
//   - finalizers of the collector that are there before the deletes: they turn the
//     delete of a dependent into an orphaning one, whose outcome is contested when
//     a reference dangles, or into a foreground one.
const confluent = scenario.Wild &^ (scenario.RepeatedUIDs | scenario.CollectorFinalizers | scenario.Terminating)

// schedules runs deletes in a settled world under several schedules and compares
// the final states. The references of an object that is being deleted are not
// compared: whether one is pruned before the collector sees the deletion is a
// matter of time and of no consequence.
func schedules(t *rapid.T, w scenario.World, acts []scenario.Act) {
	first := newRig(t, w).sync().drain().act(acts...).drain()
	for range 5 {
		r := newRig(t, w).sync().drain().act(acts...).explore(rapid.Uint64().Draw(t, "seed"))
		if r.outcomes() != first.outcomes() {
			r.fatalf("one schedule ends in\n%s\nanother in\n%s", first.outcomes(), r.outcomes())
		}
	}
}

// Confluence of background deletion, where no owner is referred to twice: it may
// go between the two reads, and then both references are pruned and their object
// stays (owner_goes_between_two_reads.txt).
func TestPropertyConfluenceOfBackground(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := scenario.DrawWorld(t, confluent&^scenario.RepeatedOwners)
		schedules(t, w, scenario.DrawDeletes(t, w, scenario.Policies[:1]))
	})
}

// Confluence of foreground deletion, except where something that is in reach of
// the deletes stays behind while its owner waits. Then it matters who is looked
// at first:
//
//   - Q24: an owner with a foreign finalizer counts as waiting until its own
//     finalizer is stripped and as solid afterwards, so that a non-blocking
//     dependent goes or stays;
//   - Q25: a dependent whose own blocking dependent stays is deleted in the
//     foreground, and hangs, or in the background, and goes. What stays is what
//     holds a foreign finalizer, and what has a reference that cannot be resolved;
//   - Q2, Q1: members of a cycle that are deleted in the foreground wait for each
//     other forever, and an object that blocks itself for itself, unless one of
//     them is unblocked in time: by a second delete, or because the collector
//     repeats what met a conflict sooner or later.
//
// Of several references to one UID that are pruned together only the last one
// tells the owner that it is no longer blocked, so that the owner hangs or not.
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

// Confluence of orphaning, where nothing but orphaning happens and no reference
// dangles: those that can be resolved have been settled before, so what has to be
// left out are those that cannot, which keep a dangling one beside them. (Whether
// a dangling reference is pruned before or after the orphaned one goes decides
// whether anything is left that keeps the object.)
func TestPropertyConfluenceOfOrphaning(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := scenario.DrawWorld(t, confluent&^(scenario.UnknownKinds|scenario.Mismatches|scenario.Unwatched))
		schedules(t, w, scenario.DrawDeletes(t, w, scenario.Policies[2:3]))
	})
}
