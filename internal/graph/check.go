package graph

import "fmt"

// Check returns an error when the graph is not what it should be: links without
// a reference, lists and counters that disagree, virtual nodes with owners. It is
// for tests, which run it after every step.
func (g *Graph) Check() error {
	for uid, id := range g.byUID {
		n := g.node(id)
		switch {
		case n.object.UID != uid:
			return fmt.Errorf("%s is filed under uid %q", n.object.Ref, uid)
		case n.flags&present == 0:
			return fmt.Errorf("%s is in the graph and not marked so", n.object.Ref)
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

func (g *Graph) checkOwners(id ID) error {
	n := g.node(id)
	seen := map[ID]bool{}
	for l := n.firstOwner; l != 0; l = g.links.at(l).nextOwner {
		e := g.links.at(l)
		if e.dependent != id || seen[e.owner] {
			return fmt.Errorf("%s: a broken list of owners", n.object.Ref)
		}
		seen[e.owner] = true
	}
	return nil
}
