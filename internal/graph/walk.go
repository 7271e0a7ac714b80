package graph

// Direction says which links a walk follows.
type Direction uint8

// The directions of a walk.
const (
	ToOwners Direction = iota
	ToDependents
	Both
)

// Visit is one node met on a walk.
type Visit struct {
	ID ID
	// Depth is the number of links from the nearest start.
	Depth int
}

// Walk returns the nodes reachable from starts, breadth first, each once, including starts, up to a
// depth (0: any depth). Neighbours are visited in object.Compare order.
func (g *Graph) Walk(starts []ID, direction Direction, depth int) []Visit {
	seen := make(map[ID]bool, len(starts))
	var visits []Visit
	for _, id := range starts {
		if !seen[id] {
			seen[id] = true
			visits = append(visits, Visit{ID: id})
		}
	}
	for i := 0; i < len(visits); i++ {
		v := visits[i]
		if depth > 0 && v.Depth == depth {
			continue
		}
		for _, id := range g.neighbours(v.ID, direction) {
			if !seen[id] {
				seen[id] = true
				visits = append(visits, Visit{ID: id, Depth: v.Depth + 1})
			}
		}
	}
	return visits
}

func (g *Graph) neighbours(id ID, direction Direction) []ID {
	var ids []ID
	if direction != ToDependents {
		ids = append(ids, g.OwnersOf(id)...)
	}
	if direction != ToOwners {
		ids = append(ids, g.Dependents(id)...)
	}
	return ids
}

// OwnersOf returns the owners that are in the graph, in the order of the references.
func (g *Graph) OwnersOf(id ID) []ID {
	var ids []ID
	for i, ref := range g.node(id).object.Owners {
		if hasUID(g.node(id).object.Owners[:i], ref.UID) {
			continue
		}
		if owner, ok := g.Find(ref.UID); ok {
			ids = append(ids, owner)
		}
	}
	return ids
}
