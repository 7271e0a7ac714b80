package graph

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// named returns a ConfigMap in namespace n with its name as UID.
func named(name string, owners ...object.OwnerReference) *object.Object {
	return &object.Object{Ref: identity(name), Owners: owners}
}

func identity(name string) object.Ref {
	return object.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: "n", Name: name, UID: types.UID(name)}
}

// to returns a reference to the object of named.
func to(name string) object.OwnerReference {
	return object.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: name, UID: types.UID(name)}
}

func blockingTo(name string) object.OwnerReference {
	ref := to(name)
	ref.BlockOwnerDeletion = object.True
	return ref
}

// linked adds objects to a new graph and links them to their owners among them.
func linked(t testing.TB, objects ...*object.Object) *Graph {
	t.Helper()
	g := New()
	for _, o := range objects {
		g.Add(o)
	}
	for _, o := range objects {
		for _, ref := range o.Owners {
			if owner, ok := g.Find(ref.UID); ok {
				g.Link(find(t, g, string(o.UID)), owner)
			}
		}
	}
	check(t, g)
	return g
}

func find(t testing.TB, g *Graph, uid string) ID {
	t.Helper()
	id, ok := g.Find(types.UID(uid))
	if !ok {
		t.Fatalf("%s is not in the graph", uid)
	}
	return id
}

func check(t testing.TB, g *Graph) {
	t.Helper()
	if err := g.Check(); err != nil {
		t.Fatal(err)
	}
}

func names(g *Graph, ids []ID) []string {
	list := make([]string, len(ids))
	for i, id := range ids {
		list[i] = g.Identity(id).Name
	}
	return list
}

func want[T any](t testing.TB, what string, got, want T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestFlags(t *testing.T) {
	deleting := &object.Lifecycle{DeletionTimestamp: 1}
	waiting := &object.Lifecycle{DeletionTimestamp: 1, Finalizers: []string{"a/b", object.Foreground}}
	idle := &object.Lifecycle{Finalizers: []string{object.Foreground}}
	for _, c := range []struct {
		name              string
		life              *object.Lifecycle
		deleting, waiting bool
	}{
		{"alive", nil, false, false},
		{"finalizer alone", idle, false, false},
		{"being deleted", deleting, true, false},
		{"waiting", waiting, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := New()
			o := named("a")
			o.Lifecycle = c.life
			id := g.Add(o)
			want(t, "BeingDeleted", g.BeingDeleted(id), c.deleting)
			want(t, "WaitingForDependents", g.WaitingForDependents(id), c.waiting)
			want(t, "Virtual", g.Virtual(id), false)
			want(t, "Present", g.Present(id), true)
		})
	}
}

// Both flags are one-way: an update without them doesn't reset them, and an update alone never
// starts a wait.
func TestFlagsAreNeverReset(t *testing.T) {
	g := New()
	id := g.Add(named("a"))
	waiting := named("a")
	waiting.Lifecycle = &object.Lifecycle{DeletionTimestamp: 1, Finalizers: []string{object.Foreground}}
	g.Update(id, waiting)
	want(t, "waiting by an update alone", g.WaitingForDependents(id), false)
	g.MarkWaiting(id)
	g.Update(id, named("a"))
	want(t, "BeingDeleted", g.BeingDeleted(id), true)
	want(t, "WaitingForDependents", g.WaitingForDependents(id), true)
	check(t, g)
}

// A node keeps the identity that was observed first.
func TestUpdateKeepsTheIdentity(t *testing.T) {
	g := New()
	id := g.Add(named("a"))
	other := named("a", to("b"))
	other.Name = "renamed"
	g.Update(id, other)
	want(t, "identity", g.Identity(id), identity("a"))
	want(t, "owners", g.Owners(id), other.Owners)
	want(t, "the given object", other.Name, "renamed")
	check(t, g)
}

func TestLinkTwiceIsLinkOnce(t *testing.T) {
	g := linked(t, named("a"), named("b", to("a"), blockingTo("a"), blockingTo("a")))
	a, b := find(t, g, "a"), find(t, g, "b")
	g.Link(b, a)
	want(t, "dependents", g.DependentCount(a), 1)
	want(t, "blocking references, each counted", g.BlockingCount(a), 2)
	want(t, "blocking dependents, each once", names(g, g.BlockingDependents(a)), []string{"b"})
	g.Unlink(b, a)
	g.Unlink(b, a)
	want(t, "dependents", g.DependentCount(a), 0)
	want(t, "blocking references", g.BlockingCount(a), 0)
	check(t, g)
}

func TestUpdateCountsBlockingAfresh(t *testing.T) {
	g := linked(t, named("a"), named("b", to("a")), named("c", blockingTo("a")))
	a := find(t, g, "a")
	want(t, "before", names(g, g.BlockingDependents(a)), []string{"c"})
	g.Update(find(t, g, "b"), named("b", blockingTo("a")))
	want(t, "after blocking", names(g, g.BlockingDependents(a)), []string{"b", "c"})
	g.Update(find(t, g, "c"), named("c", to("a")))
	want(t, "after unblocking", names(g, g.BlockingDependents(a)), []string{"b"})
	check(t, g)
}

// Lists are sorted for people, iteration keeps the order of linking.
func TestDependentsOrder(t *testing.T) {
	g := linked(t, named("x"), named("c", blockingTo("x")), named("a", blockingTo("x")), named("b", blockingTo("x")))
	x := find(t, g, "x")
	var met, blocking []ID
	g.EachDependent(x, func(id ID) bool { met = append(met, id); return len(met) < 2 })
	g.EachBlocking(x, func(id ID) bool { blocking = append(blocking, id); return true })
	want(t, "EachDependent stops", names(g, met), []string{"c", "a"})
	want(t, "EachBlocking", names(g, blocking), []string{"c", "a", "b"})
	want(t, "Dependents", names(g, g.Dependents(x)), []string{"a", "b", "c"})
	g.Unlink(find(t, g, "a"), x)
	g.Update(find(t, g, "a"), named("a"))
	want(t, "Dependents without the middle one", names(g, g.Dependents(x)), []string{"b", "c"})
	check(t, g)
}

func TestRemove(t *testing.T) {
	g := linked(t, named("a"), named("b", blockingTo("a"), to("b")), named("c", to("b")))
	b := find(t, g, "b")
	g.Remove(b)
	check(t, g)
	want(t, "present", g.Present(b), false)
	want(t, "identity of what has gone", g.Identity(b), identity("b"))
	want(t, "dependents of its owner", g.DependentCount(find(t, g, "a")), 0)
	want(t, "blocking its owner", g.BlockingCount(find(t, g, "a")), 0)
	want(t, "its dependent's references stay", g.Owners(find(t, g, "c")), []object.OwnerReference{to("b")})
	if _, ok := g.Find("b"); ok {
		t.Error("b can still be found")
	}
	want(t, "nodes", g.Len(), 2)
	// A new node for the UID has only the links that are added from now on.
	again := g.AddVirtual(identity("b"))
	want(t, "dependents of the new node", g.DependentCount(again), 0)
}

func TestReplace(t *testing.T) {
	g := New()
	guess := identity("a")
	guess.Kind = "Secret"
	old := g.AddVirtual(guess)
	b := g.Add(named("b", blockingTo("a")))
	c := g.Add(named("c", to("a")))
	g.Link(b, old)
	g.Link(c, old)
	fresh := g.Replace(old, identity("a"))
	check(t, g)
	want(t, "the stale ID's identity", g.Identity(old), guess)
	want(t, "the stale ID is present", g.Present(old), false)
	want(t, "the stale ID's dependents", g.DependentCount(old), 0)
	want(t, "identity", g.Identity(fresh), identity("a"))
	want(t, "found", find(t, g, "a"), fresh)
	want(t, "still virtual", g.Virtual(fresh), true)
	want(t, "dependents", names(g, g.Dependents(fresh)), []string{"b", "c"})
	want(t, "blocking", g.BlockingCount(fresh), 1)
	g.MarkObserved(fresh)
	g.Update(fresh, named("a", to("a")))
	g.Link(fresh, fresh)
	check(t, g)
	replaced := g.Replace(fresh, identity("a"))
	check(t, g)
	want(t, "an object that owns itself still does", names(g, g.Dependents(replaced)), []string{"a", "b", "c"})
}

// Freed slots are reused, so that a long-lived graph doesn't grow with the number of past objects.
func TestSlabReuse(t *testing.T) {
	g := linked(t, named("a"), named("b", to("a")))
	nodes, links := g.nodes.next, g.links.next
	for i := range 10_000 {
		b := find(t, g, "b")
		g.Remove(b)
		g.Free(b)
		want(t, "reused ID", g.Add(named("b", to("a"))), b)
		g.Link(b, find(t, g, "a"))
		if i%1000 == 0 {
			check(t, g)
		}
		if t.Failed() {
			return
		}
	}
	want(t, "node slots", g.nodes.next, nodes)
	want(t, "link slots", g.links.next, links)
}

func TestAllInOrder(t *testing.T) {
	g := linked(t, named("b"), named("a"), named("c"))
	g.Remove(find(t, g, "a"))
	var ids []ID
	for id := range g.All {
		ids = append(ids, id)
	}
	want(t, "All", names(g, ids), []string{"b", "c"})
	for id := range g.All {
		want(t, "the first", g.Identity(id).Name, "b")
		break
	}
}

func TestCapacityHoldsMore(t *testing.T) {
	g := WithCapacity(1)
	for i := range 3 * chunkSize {
		g.Add(named(fmt.Sprint(i)))
	}
	want(t, "nodes", g.Len(), 3*chunkSize)
	check(t, g)
}

// The last slot of a chunk is its last one.
func TestAllOfAFullChunk(t *testing.T) {
	g := New()
	for i := range chunkSize - 1 {
		g.Add(named(fmt.Sprint(i)))
	}
	n := 0
	for range g.All {
		n++
	}
	want(t, "nodes", n, chunkSize-1)
}
