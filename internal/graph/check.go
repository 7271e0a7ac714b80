package graph

import "fmt"

// Check returns an error if the graph is inconsistent: links without a reference, lists and
// counters that disagree, virtual nodes with owners. It is for tests, which call it after every
// step.
func (g *Graph) Check() error {
	nodes := 0
	for id := range g.All {
		nodes++
		n := g.node(id)
		filed, ok := g.Find(n.object.UID)
		switch {
		case !ok || filed != id:
			return fmt.Errorf("%s is not filed under its uid", n.object.Ref)
		case n.flags&virtual != 0 && (len(n.object.Owners) > 0 || n.flags&(beingDeleted|waitingForDependents) != 0):
			return fmt.Errorf("%s is virtual and has owners or is being deleted", n.object.Ref)
		}
		if err := g.checkDependents(id); err != nil {
			return err
		}
		if err := g.checkOwners(id); err != nil {
			return err
		}
	}
	if nodes != g.Len() {
		return fmt.Errorf("%d nodes, and %d of them are filed", nodes, g.Len())
	}
	return nil
}

func (g *Graph) checkDependents(id ID) error {
	n := g.node(id)
	var count, blocking, previous uint32
	for l := n.firstDependent; l != 0; l = g.links.at(l).next {
		e := g.links.at(l)
		d := g.node(e.dependent)
		switch {
		case e.owner != id || e.previous != previous:
			return fmt.Errorf("%s: a broken list of dependents", n.object.Ref)
		case d.flags&present == 0:
			return fmt.Errorf("%s has the dependent %s, which is not in the graph", n.object.Ref, d.object.Ref)
		case !d.object.RefersTo(n.object.UID):
			return fmt.Errorf("%s has the dependent %s, which does not refer to it", n.object.Ref, d.object.Ref)
		case e.blocking != blockingReferences(d.object.Owners, n.object.UID):
			return fmt.Errorf("%s: wrong count of blocking references from %s", n.object.Ref, d.object.Ref)
		}
		count++
		blocking += e.blocking
		previous = l
	}
	if count != n.dependents || blocking != n.blocking || previous != n.lastDependent {
		return fmt.Errorf("%s: %d dependents and %d blocking references, counted as %d and %d",
			n.object.Ref, count, blocking, n.dependents, n.blocking)
	}
	return nil
}

// checkOwners checks the links from the other end: each must be in its owner's list of dependents,
// and no owner is linked twice.
func (g *Graph) checkOwners(id ID) error {
	n := g.node(id)
	seen := map[ID]bool{}
	for l := n.firstOwner; l != 0; l = g.links.at(l).nextOwner {
		e := g.links.at(l)
		if e.dependent != id || seen[e.owner] || !g.listed(l) {
			return fmt.Errorf("%s: a broken list of owners", n.object.Ref)
		}
		seen[e.owner] = true
	}
	for l := n.firstDependent; l != 0; l = g.links.at(l).next {
		if !g.owned(l) {
			return fmt.Errorf("%s has the dependent %s, which does not know of it", n.object.Ref, g.node(g.links.at(l).dependent).object.Ref)
		}
	}
	return nil
}

// listed reports whether a link is in its owner's list of dependents.
func (g *Graph) listed(l uint32) bool {
	e := g.links.at(l)
	o := g.node(e.owner)
	if o.flags&present == 0 {
		return false
	}
	if e.previous == 0 {
		return o.firstDependent == l
	}
	return g.links.at(e.previous).next == l
}

// owned reports whether a link is in its dependent's list of owners.
func (g *Graph) owned(l uint32) bool {
	for i := g.node(g.links.at(l).dependent).firstOwner; i != 0; i = g.links.at(i).nextOwner {
		if i == l {
			return true
		}
	}
	return false
}
