package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/graph"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// links are the observed objects of a graph and their dependents. Virtual nodes are named only by
// UID, because their guessed identity depends on the order of events.
func links(g *graph.Graph) string {
	var lines []string
	for id := range g.All {
		dependents := uids(g, g.Dependents(id))
		slices.Sort(dependents)
		line := fmt.Sprint(g.Identity(id).UID, dependents, g.BlockingCount(id))
		if !g.Virtual(id) {
			line += fmt.Sprint(g.Identity(id), g.Owners(id), g.BeingDeleted(id), g.WaitingForDependents(id))
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func observed(objects []*object.Object) *engine.Collector {
	c := engine.New()
	for _, o := range objects {
		c.Observe(object.Event{Type: object.Added, Object: o})
	}
	return c
}

// Order: the graph doesn't depend on the order of the list. This excludes several objects with one
// UID: their node keeps the identity of the first and the references of the last.
func TestPropertyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := scenario.DrawWorld(t, scenario.Wild&^scenario.RepeatedUIDs)
		r := newRig(t, w)
		objects := r.listed()
		want := links(observed(objects).Graph())
		order := rapid.Permutation(objects).Draw(t, "order")
		c := observed(order)
		if err := c.Graph().Check(); err != nil {
			r.fatalf("%v", err)
		}
		if got := links(c.Graph()); got != want {
			r.fatalf("listed in another order: %v\ngot\n%s\nwant\n%s", order, got, want)
		}
	})
}

// Incremental: the graph that grew event by event equals one built from the final state, for
// existing objects. Two properties are one-way by design and compared only one way: the wait for
// dependents is never reset, and a dependent that outlived the removal of its owner's node is not
// linked to a new node for that UID (spec §3.2).
func TestPropertyIncremental(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := lived(t, scenario.Wild&^scenario.RepeatedUIDs, func(*rig) {})
		grown, fresh := r.collector.Graph(), observed(r.listed()).Graph()
		for id := range fresh.All {
			if fresh.Virtual(id) {
				continue
			}
			old, ok := grown.Find(fresh.Identity(id).UID)
			if !ok {
				r.fatalf("%s is not in the graph", fresh.Identity(id))
			}
			if got, want := observedDump(grown, old), observedDump(fresh, id); got != want {
				r.fatalf("grown %s\nfresh %s", got, want)
			}
			if fresh.WaitingForDependents(id) && !grown.WaitingForDependents(old) {
				r.fatalf("%s waits, and the grown graph does not know", fresh.Identity(id))
			}
		}
		for id := range grown.All {
			if _, ok := fresh.Find(grown.Identity(id).UID); !ok && !grown.Virtual(id) {
				r.fatalf("%s is still in the graph", grown.Identity(id))
			}
		}
	})
}

// observedDump is the part of the dump of an observed object that two graphs must agree on.
func observedDump(g *graph.Graph, id graph.ID) string {
	dependents := uids(g, g.Dependents(id))
	slices.Sort(dependents)
	return fmt.Sprint(g.Identity(id), g.Virtual(id), g.BeingDeleted(id), g.Owners(id), dependents, g.BlockingCount(id))
}
