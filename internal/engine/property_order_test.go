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

// links is what a graph says of the objects that were observed, and who depends
// on whom; virtual nodes are named by UID alone, since their identity is a guess
// that depends on who was seen first.
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

// Order: however a world is listed, the graph is the same. With several objects
// of one UID it cannot be: the node keeps the identity of the first and the
// references of the last.
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

// Incremental: the graph that grew with what happened is the same as one made
// afresh at the end, as far as objects go that are there. Two things are one-way
// by design and compared one way only: the wait for dependents is never taken
// back, and a dependent that outlived the removal of its owner's node is not
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

// observedDump is what two graphs have to agree on about an observed object.
func observedDump(g *graph.Graph, id graph.ID) string {
	dependents := uids(g, g.Dependents(id))
	slices.Sort(dependents)
	return fmt.Sprint(g.Identity(id), g.Virtual(id), g.BeingDeleted(id), g.Owners(id), dependents, g.BlockingCount(id))
}
