package engine

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/graph"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// numbered returns a ConfigMap with the number as name and UID.
func numbered(name string, owners ...string) *object.Object {
	o := &object.Object{Ref: object.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: "n", Name: name, UID: types.UID(name)}}
	for _, owner := range owners {
		o.Owners = append(o.Owners, object.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: owner, UID: types.UID(owner)})
	}
	return o
}

func added(o *object.Object) object.Event   { return object.Event{Type: object.Added, Object: o} }
func deleted(o *object.Object) object.Event { return object.Event{Type: object.Deleted, Object: o} }

func check(t *testing.T, g *graph.Graph) {
	t.Helper()
	if err := g.Check(); err != nil {
		t.Fatal(err)
	}
}

// consistent checks the graph, and that each object is a dependent of all its owners. The second
// half need not hold after a removal (spec §3.2, exception).
func consistent(t *testing.T, g *graph.Graph) {
	t.Helper()
	check(t, g)
	for id := range g.All {
		for _, ref := range g.Owners(id) {
			owner, ok := g.Find(ref.UID)
			if !ok || !slices.Contains(g.Dependents(owner), id) {
				t.Fatalf("%s refers to %s and is not its dependent", g.Identity(id).Name, ref.Name)
			}
		}
	}
}

// dependentsOf maps each node to the names of its dependents. Virtual ones have a question mark.
func dependentsOf(g *graph.Graph) map[string][]string {
	all := map[string][]string{}
	for id := range g.All {
		name := g.Identity(id).Name
		if g.Virtual(id) {
			name += "?"
		}
		all[name] = []string{}
		for _, d := range g.Dependents(id) {
			all[name] = append(all[name], g.Identity(d).Name)
		}
	}
	return all
}

// Covers: S250, S251
func TestObserveKeepsTheGraphConsistent(t *testing.T) {
	type step struct {
		event object.Event
		want  map[string][]string
	}
	for name, steps := range map[string][]step{
		"a deletion": {
			{added(numbered("1")), map[string][]string{"1": {}}},
			{added(numbered("2", "1")), map[string][]string{"1": {"2"}, "2": {}}},
			{added(numbered("3", "1", "2")), map[string][]string{"1": {"2", "3"}, "2": {"3"}, "3": {}}},
			{added(numbered("4", "2")), map[string][]string{"1": {"2", "3"}, "2": {"3", "4"}, "3": {}, "4": {}}},
			// The references of the event itself don't matter.
			{deleted(numbered("2", "4")), map[string][]string{"1": {"3"}, "3": {}, "4": {}}},
		},
		"a change that closes a cycle": {
			{added(numbered("1")), map[string][]string{"1": {}}},
			{added(numbered("2", "1")), map[string][]string{"1": {"2"}, "2": {}}},
			{added(numbered("3", "1", "2")), map[string][]string{"1": {"2", "3"}, "2": {"3"}, "3": {}}},
			{added(numbered("4", "3")), map[string][]string{"1": {"2", "3"}, "2": {"3"}, "3": {"4"}, "4": {}}},
			{
				object.Event{Type: object.Modified, Object: numbered("2", "4")},
				map[string][]string{"1": {"3"}, "2": {"3"}, "3": {"4"}, "4": {"2"}},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := New()
			for i, s := range steps {
				c.Observe(s.event)
				check(t, c.graph)
				if diff := cmp.Diff(s.want, dependentsOf(c.graph)); diff != "" {
					t.Fatalf("after step %d (-want +got):\n%s", i+1, diff)
				}
			}
		})
	}
}

// Covers: S252
func TestObserveInEveryOrder(t *testing.T) {
	objects := []*object.Object{numbered("1"), numbered("2", "1"), numbered("3", "1", "2"), numbered("4", "2")}
	want := map[string][]string{"1": {"2", "3"}, "2": {"3", "4"}, "3": {}, "4": {}}
	orders := 0
	permute(objects, func(order []*object.Object) {
		orders++
		c := New()
		seen := map[types.UID]bool{}
		for _, o := range order {
			c.Observe(added(o))
			seen[o.UID] = true
			consistent(t, c.graph)
			for id := range c.graph.All {
				if c.graph.Virtual(id) == seen[c.graph.Identity(id).UID] {
					t.Fatalf("%s: virtual is %v", c.graph.Identity(id), c.graph.Virtual(id))
				}
			}
		}
		if diff := cmp.Diff(want, dependentsOf(c.graph)); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
	if orders != 24 {
		t.Errorf("%d orders, want 24", orders)
	}
}

func permute(objects []*object.Object, yield func([]*object.Object)) {
	var step func(done, rest []*object.Object)
	step = func(done, rest []*object.Object) {
		if len(rest) == 0 {
			yield(done)
		}
		for i := range rest {
			step(append(slices.Clip(done), rest[i]), slices.Delete(slices.Clone(rest), i, i+1))
		}
	}
	step(nil, objects)
}

func queuedNames(c *Collector) []string {
	names := []string{}
	for _, ref := range c.Queued(DeleteWork) {
		names = append(names, ref.Name)
	}
	return names
}

// clearQueue takes and settles all waiting nodes without effect.
func clearQueue(c *Collector) {
	for c.toDelete.len() > 0 {
		if a, ok := c.NextOf(DeleteWork, 0); ok {
			c.Settle(Outcome{Decision: Decision{Attempt: a}})
		}
	}
}

// An owner is created and deleted before it was observed: only its deletion is. First the
// dependents with a reference that contradicts its identity are queued, then all.
//
// Covers: S264
func TestObserveDeletionOfVirtual(t *testing.T) {
	node := object.Ref{APIVersion: "v1", Kind: "Node", Name: "a", UID: "a"}
	right, wrong := numbered("right"), numbered("wrong", "a")
	right.Owners = []object.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: "a", UID: "a"}}
	c := New()
	c.Observe(added(right))
	c.Observe(added(wrong))
	clearQueue(c)
	c.Observe(deleted(&object.Object{Ref: node}))
	if diff := cmp.Diff([]string{"wrong", "right"}, queuedNames(c)); diff != "" {
		t.Errorf("queued (-want +got):\n%s", diff)
	}
	if _, ok := c.graph.Find("a"); ok {
		t.Error("the node is still there")
	}
	if diff := cmp.Diff([]object.Ref{node}, c.Absent()); diff != "" {
		t.Errorf("remembered (-want +got):\n%s", diff)
	}
	check(t, c.graph)
}

// A request finds that an object is gone before the watch reports it. The later event changes
// nothing.
//
// Covers: S265
func TestVanishedBeforeTheWatchSaysSo(t *testing.T) {
	owner, dependent := numbered("a"), numbered("b", "a")
	c := New()
	c.Observe(added(owner))
	c.Observe(added(dependent))
	clearQueue(c)
	id, _ := c.graph.Find("a")
	c.toDelete.add(id)
	a, _ := c.NextOf(DeleteWork, 0)
	c.Settle(Outcome{Decision: Decision{Attempt: a, Reason: reason.NotFound}, Disposition: Vanish})
	if c.Ready() != 1 {
		t.Fatalf("%d ready, want the one that vanished", c.Ready())
	}
	if _, ok := c.graph.Find("a"); !ok {
		t.Fatal("gone before the change was taken into the graph")
	}
	c.TakeVanished()
	if _, ok := c.graph.Find("a"); ok {
		t.Error("a is still in the graph")
	}
	if diff := cmp.Diff([]string{"b"}, queuedNames(c)); diff != "" {
		t.Errorf("queued (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]object.Ref{owner.Ref}, c.Absent()); diff != "" {
		t.Errorf("remembered (-want +got):\n%s", diff)
	}
	clearQueue(c)
	c.Observe(deleted(owner))
	if len(queuedNames(c)) != 0 || c.graph.Len() != 1 {
		t.Errorf("the late event queued %v and left %d nodes", queuedNames(c), c.graph.Len())
	}
	check(t, c.graph)
}
