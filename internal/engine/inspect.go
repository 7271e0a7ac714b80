package engine

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/graph"
)

// Inspect returns the attempt that the collector would start for an object now. It changes nothing.
// It is for explanations.
func (c *Collector) Inspect(uid types.UID) (Attempt, bool) {
	id, ok := c.graph.Find(uid)
	if !ok {
		return Attempt{}, false
	}
	return c.InspectNode(id), true
}

// InspectNode is Inspect for a node of the graph.
func (c *Collector) InspectNode(id graph.ID) Attempt {
	a := c.about(DeleteWork, id)
	for i, ref := range a.Observed.Owners {
		if c.absent.find(ref.In("")) != nil || c.absent.find(ref.In(a.Ref.Namespace)) != nil {
			a.absent.Add(i)
		}
		c.noteObserved(&a, i, ref)
	}
	return a
}

// ObservedElsewhere reports whether the UID of the i-th reference of an inspected object belongs to
// an observed object with other coordinates.
func (a Attempt) ObservedElsewhere(i int) bool { return a.elsewhere.Has(i) }
