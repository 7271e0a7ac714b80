package graph

import "github.com/kubectl-gc/kubectl-gc/internal/object"

// LookedAt is the maximum number of nodes for Look.
const LookedAt = 16

// Look prefetches the memory that an attempt reads of up to LookedAt nodes, and returns a number
// that depends on all of it. It performs each step for all nodes before the next step, so that the
// cache misses overlap.
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
