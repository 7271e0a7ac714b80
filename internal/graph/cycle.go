package graph

// Cycles returns the reference cycles: the strongly connected components over owner references,
// each in object.Compare order. A node that owns itself is a cycle of one. Cycles are sorted by
// their first member.
func (g *Graph) Cycles() [][]ID {
	var firsts []ID
	byFirst := map[ID][]ID{}
	Components(int(g.nodes.next), g.withOwners, g.OwnersOf, func(component []ID) {
		if len(component) == 1 && !g.ownsItself(component[0]) {
			return
		}
		g.Sort(component)
		firsts = append(firsts, component[0])
		byFirst[component[0]] = component
	})
	g.Sort(firsts)
	cycles := make([][]ID, 0, len(firsts))
	for _, id := range firsts {
		cycles = append(cycles, byFirst[id])
	}
	return cycles
}

// withOwners yields the nodes with owner references.
func (g *Graph) withOwners(yield func(ID) bool) {
	for id := range g.All {
		if len(g.node(id).object.Owners) > 0 && !yield(id) {
			return
		}
	}
}

func (g *Graph) ownsItself(id ID) bool {
	o := g.node(id).object
	return o.RefersTo(o.UID)
}
