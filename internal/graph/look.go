package graph

import "github.com/kubectl-gc/kubectl-gc/internal/object"

// LookedAt is how many nodes can be looked at together.
const LookedAt = 16

// Look reads what an attempt reads of nodes, of which there may be LookedAt, and returns a number
// that depends on all of it. Each step is made for all nodes before the next one, so that they are
// fetched from memory together.
func (g *Graph) Look(ids []ID) int {
	var objects [LookedAt]*object.Object
	var links [LookedAt]uint32
	for i, id := range ids {
		n := g.node(id)
		objects[i], links[i] = n.object, n.firstOwner
	}
	sum := 0
	for i, o := range objects[:len(ids)] {
		sum += len(o.Owners) + len(o.Name)
		if l := links[i]; l != 0 {
			sum += int(g.links.at(l).next)
		}
	}
	for _, o := range objects[:len(ids)] {
		if len(o.Owners) > 0 {
			sum += len(o.Owners[0].UID)
		}
		sum += g.byUID.Look(string(o.UID))
	}
	return sum
}
