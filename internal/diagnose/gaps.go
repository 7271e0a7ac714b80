package diagnose

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// gaps are what was not seen of what the question is about. Of one namespace that is its
// content, and its object; what else the answer misses, a finding says.
func (c *checker) gaps() []report.Gap {
	all := plan.RelevantGaps(c.snap, func(string) bool { return true })
	if c.namespace == "" {
		return all
	}
	seen := map[[2]string]bool{} // the resources of which the namespace was read
	for _, r := range c.snap.Resources.All() {
		seen[[2]string{r.APIVersion(), r.Name}] = !r.Namespaced && !isNamespaces(r) || r.Namespaced && c.snap.Covers(r, c.namespace) ||
			isNamespaces(r) && c.snap.Find(r.APIVersion(), r.Kind, "", c.namespace) != nil
	}
	return slices.DeleteFunc(all, func(g report.Gap) bool {
		return g.Namespace != "" && g.Namespace != c.namespace || seen[[2]string{g.APIVersion, g.Resource}]
	})
}

func isNamespaces(r object.Resource) bool { return r.Kind == "Namespace" && r.Group == "" }
