package risk

import (
	"github.com/kubectl-gc/kubectl-gc/internal/impact"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// paths caches those of an impact.Map between settled objects, by position in the snapshot. The
// ceilings walk along them many times.
type paths struct {
	settled []bool
	// owners and below are the results of impact.Map.Owners and Below for a settled object.
	owners, below [][]int32
	// leads marks the objects that take another one along although its own owners stay.
	leads []bool
}

func pathsOf(m *impact.Map, snap *snapshot.Snapshot) *paths {
	n := len(snap.Objects)
	p := &paths{settled: make([]bool, n), owners: make([][]int32, n), below: make([][]int32, n), leads: make([]bool, n)}
	positions := func(objects []*object.Object) []int32 {
		if len(objects) == 0 {
			return nil
		}
		list := make([]int32, len(objects))
		for i, o := range objects {
			list[i] = int32(snap.Place(o))
		}
		return list
	}
	for i, o := range snap.Objects {
		if p.settled[i] = m.Settled(o); p.settled[i] {
			p.owners[i], p.below[i] = positions(m.Owners(o)), positions(m.Below(o))
		}
		if len(o.Owners) > 0 {
			for _, leader := range m.Leaders(o) {
				p.leads[snap.Place(leader)] = true
			}
		}
	}
	return p
}

// leaf reports whether an object takes nothing along and is no namespace, definition or node.
func (c *ceilings) leaf(i int) bool {
	return len(c.below[i]) == 0 && !contains(c.snap.Objects[i])
}

// contains reports whether an object takes along more than its dependents.
func contains(o *object.Object) bool { return impact.Container(o) || o.Is(object.Node) }
