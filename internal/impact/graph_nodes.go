package impact

import (
	"github.com/kubectl-gc/kubectl-gc/internal/graph"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// graphNodes caches the graph nodes of the objects in the snapshot, by index. Without it, each lookup
// is one by uid.
type graphNodes struct {
	asked int
	of    []graph.ID
}

// node returns the graph node with the uid of an object.
func (m *Map) node(o *object.Object) (graph.ID, bool) {
	const few = 16 // the cache is filled after lookups of more than 1/few of all objects
	if m.inGraph.asked++; m.inGraph.of == nil && m.inGraph.asked > len(m.snap.Objects)/few {
		m.noteNodes()
	}
	switch i := m.snap.Place(o); {
	case i >= 0 && m.inGraph.of != nil && m.inGraph.of[i] != 0:
		return m.inGraph.of[i], true
	default:
		return m.graph.Find(o.UID)
	}
}

func (m *Map) noteNodes() {
	m.inGraph.of = make([]graph.ID, len(m.snap.Objects))
	for id := range m.graph.All {
		if m.graph.Virtual(id) {
			continue
		}
		if i := m.snap.Place(m.graph.Object(id)); i >= 0 {
			m.inGraph.of[i] = id
		}
	}
}
