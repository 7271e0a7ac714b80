package graph

import (
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Every error of Check is provoked: without that, a check that accepts everything would make all
// other tests worthless.
func TestCheckFindsDamage(t *testing.T) {
	for _, c := range []struct {
		name   string
		damage func(g *Graph, a, b, c ID)
		want   string
	}{
		{"none", func(*Graph, ID, ID, ID) {}, ""},
		{"filed under another uid", func(g *Graph, a, _, _ ID) {
			delete(g.byUID, "a")
			g.byUID["x"] = a
		}, "is not filed under its uid"},
		{"filed as another node", func(g *Graph, _, b, _ ID) { g.byUID["a"] = b }, "is not filed under its uid"},
		{"filed twice", func(g *Graph, a, _, _ ID) { g.byUID["x"] = a }, "3 nodes, and 4 of them are filed"},
		{"virtual with owners", func(g *Graph, _, b, _ ID) { g.node(b).flags |= virtual }, "is virtual and has owners or is being deleted"},
		{"virtual and being deleted", func(g *Graph, a, _, _ ID) { g.node(a).flags |= virtual | beingDeleted }, "is virtual and has owners or is being deleted"},
		{"a link of another owner", func(g *Graph, a, _, c ID) { g.links.at(g.node(a).firstDependent).owner = c }, "a broken list of dependents"},
		{"a broken chain", func(g *Graph, a, _, _ ID) { g.links.at(g.node(a).lastDependent).previous = 0 }, "a broken list of dependents"},
		{"a dependent that is gone", func(g *Graph, _, b, _ ID) {
			g.node(b).flags &^= present
			delete(g.byUID, "b")
		}, "which is not in the graph"},
		{"no reference", func(g *Graph, _, b, _ ID) { g.node(b).object = named("b") }, "which does not refer to it"},
		{"a wrong count on the link", func(g *Graph, _, b, _ ID) { g.node(b).object = named("b", blockingTo("a")) }, "wrong count of blocking references"},
		{"a wrong count of dependents", func(g *Graph, a, _, _ ID) { g.node(a).dependents++ }, "counted as 3 and 1"},
		{"a wrong count of references", func(g *Graph, a, _, _ ID) { g.node(a).blocking-- }, "counted as 2 and 0"},
		{"a wrong last one", func(g *Graph, a, _, _ ID) { g.node(a).lastDependent = g.node(a).firstDependent }, "counted as"},
		{"a link of another dependent among the owners", func(g *Graph, a, _, c ID) {
			g.node(a).firstOwner = g.node(c).firstOwner
		}, "a broken list of owners"},
		{"an owner twice", func(g *Graph, _, b, _ ID) {
			i := g.links.take()
			*g.links.at(i) = *g.links.at(g.node(b).firstOwner)
			g.links.at(i).nextOwner = g.node(b).firstOwner
			g.node(b).firstOwner = i
		}, "a broken list of owners"},
		{"a link that only the owner knows", func(g *Graph, _, b, _ ID) { g.node(b).firstOwner = 0 }, "which does not know of it"},
		{"a link to an owner that is gone", func(g *Graph, a, _, _ ID) {
			g.node(a).flags &^= present
			delete(g.byUID, "a")
		}, "a broken list of owners"},
		{"a link that only the dependent knows", func(g *Graph, a, b, _ ID) {
			i := g.links.take()
			*g.links.at(i) = link{dependent: a, owner: b}
			g.node(a).firstOwner = i
			g.node(a).object = named("a", to("b"))
		}, "a broken list of owners"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := linked(t, named("a"), named("b", to("a")), named("c", blockingTo("a")))
			c.damage(g, find(t, g, "a"), find(t, g, "b"), find(t, g, "c"))
			err := g.Check()
			switch {
			case c.want == "" && err != nil:
				t.Errorf("a sound graph: %v", err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("got %v, want something with %q", err, c.want)
			}
		})
	}
}

// A virtual node has only an identity.
func TestCheckVirtualWaiting(t *testing.T) {
	g := New()
	id := g.AddVirtual(object.Ref{UID: "v"})
	check(t, g)
	g.MarkWaiting(id)
	if g.Check() == nil {
		t.Error("a virtual node that waits for dependents is accepted")
	}
}
