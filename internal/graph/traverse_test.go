package graph

import (
	"fmt"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

func cycleNames(g *Graph) [][]string {
	var list [][]string
	for _, c := range g.Cycles() {
		list = append(list, names(g, c))
	}
	return list
}

func TestCycles(t *testing.T) {
	for _, c := range []struct {
		name    string
		objects []*object.Object
		want    [][]string
	}{
		{"empty", nil, nil},
		{"a tree", []*object.Object{named("a"), named("b", to("a")), named("c", to("a"), to("b"))}, nil},
		{"self", []*object.Object{named("a", to("a"))}, [][]string{{"a"}}},
		{"self, and reached from elsewhere first", []*object.Object{named("b", to("a")), named("a", to("a"))}, [][]string{{"a"}}},
		{"two", []*object.Object{named("b", to("a")), named("a", to("b"))}, [][]string{{"a", "b"}}},
		{
			"a cycle with a tail on both sides",
			[]*object.Object{named("top"), named("a", to("c"), to("top")), named("b", to("a")), named("c", to("b")), named("tail", to("c"))},
			[][]string{{"a", "b", "c"}},
		},
		{
			"two that share a member are one",
			[]*object.Object{named("a", to("b"), to("c")), named("b", to("a")), named("c", to("a"))},
			[][]string{{"a", "b", "c"}},
		},
		{
			"two that are joined one way are two, sorted",
			[]*object.Object{named("y", to("z"), to("b")), named("z", to("y")), named("b", to("a")), named("a", to("b"))},
			[][]string{{"a", "b"}, {"y", "z"}},
		},
		{"an owner that nobody has seen", []*object.Object{named("a", to("ghost"))}, nil},
	} {
		t.Run(c.name, func(t *testing.T) { want(t, "cycles", cycleNames(linked(t, c.objects...)), c.want) })
	}
}

func manyCycles(n int) []*object.Object {
	objects := make([]*object.Object, 0, 3*n)
	for i := range n {
		at := func(j int) string { return fmt.Sprintf("%05d-%d", i, j%3) }
		for j := range 3 {
			objects = append(objects, named(at(j), blockingTo(at(j+1))))
		}
	}
	return objects
}

func TestManyCycles(t *testing.T) {
	g := linked(t, manyCycles(10_000)...)
	cycles := g.Cycles()
	want(t, "cycles", len(cycles), 10_000)
	for i, c := range cycles {
		if len(c) != 3 || g.Identity(c[0]).Name != fmt.Sprintf("%05d-0", i) {
			t.Fatalf("cycle %d is %v", i, names(g, c))
		}
	}
}

func chain(n int) []*object.Object {
	objects := make([]*object.Object, n)
	for i := range objects {
		objects[i] = named(fmt.Sprintf("%06d", i))
		if i > 0 {
			objects[i].Owners = []object.OwnerReference{blockingTo(objects[i-1].Name)}
		}
	}
	return objects
}

// No code recurses over references: neither a deep chain nor a long cycle overflows the stack.
func TestDeepChain(t *testing.T) {
	const depth = 100_000
	objects := chain(depth)
	g := linked(t, objects...)
	want(t, "cycles of a chain", len(g.Cycles()), 0)
	down := g.Walk([]ID{find(t, g, objects[0].Name)}, ToDependents, 0)
	want(t, "reached", len(down), depth)
	want(t, "depth of the last", down[depth-1].Depth, depth-1)

	first, last := find(t, g, objects[0].Name), find(t, g, objects[depth-1].Name)
	g.Update(first, named(objects[0].Name, to(objects[depth-1].Name)))
	g.Link(first, last)
	check(t, g)
	cycles := g.Cycles()
	want(t, "cycles of a ring", len(cycles), 1)
	want(t, "length of the ring", len(cycles[0]), depth)
}

func TestWalk(t *testing.T) {
	g := linked(t,
		named("top"), named("a", to("top"), to("top")), named("b", to("top")), named("c", to("b"), to("a")),
		named("d", to("c")), named("e", to("d")), named("lonely"), named("self", to("self")))
	for _, c := range []struct {
		name      string
		starts    []string
		direction Direction
		depth     int
		want      []string
	}{
		{"dependents", []string{"top"}, ToDependents, 0, []string{"top 0", "a 1", "b 1", "c 2", "d 3", "e 4"}},
		{"not deeper", []string{"top"}, ToDependents, 2, []string{"top 0", "a 1", "b 1", "c 2"}},
		{"owners in the order of the references", []string{"c"}, ToOwners, 0, []string{"c 0", "b 1", "a 1", "top 2"}},
		{"both ways", []string{"c"}, Both, 1, []string{"c 0", "b 1", "a 1", "d 1"}},
		{"two starts, one within the reach of the other", []string{"d", "c", "d"}, ToDependents, 0, []string{"d 0", "c 0", "e 1"}},
		{"alone", []string{"lonely"}, Both, 0, []string{"lonely 0"}},
		{"itself", []string{"self"}, Both, 0, []string{"self 0"}},
		{"from nowhere", nil, Both, 0, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var starts []ID
			for _, s := range c.starts {
				starts = append(starts, find(t, g, s))
			}
			var got []string
			for _, v := range g.Walk(starts, c.direction, c.depth) {
				got = append(got, fmt.Sprint(g.Identity(v.ID).Name, " ", v.Depth))
			}
			want(t, "visits", got, c.want)
		})
	}
}

func TestOwnersOf(t *testing.T) {
	g := linked(t, named("a"), named("b"), named("c", to("b"), to("ghost"), blockingTo("a"), blockingTo("b")))
	want(t, "owners in the graph, each once", names(g, g.OwnersOf(find(t, g, "c"))), []string{"b", "a"})
}
