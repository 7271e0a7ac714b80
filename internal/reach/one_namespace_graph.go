package reach

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/finalizer"
	"github.com/kubectl-gc/kubectl-gc/internal/graph"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// WhyGraphDiffers returns why a graph of the part, in these directions from its roots, may differ
// from that of the whole cluster; empty if it does not. An owner that was not seen may be an object
// in another namespace with that uid. References from other namespaces do not count: the graph
// lacks them, and AdjustGaps reports that.
func (p *OneNamespace) WhyGraphDiffers(g *report.Graph, directions []graph.Direction) string {
	if why := p.whyAmbiguous(); why != "" {
		return why
	}
	for i := range g.Nodes {
		if p.watched[g.Nodes[i].Ref.UID] == nil {
			return fmt.Sprintf("%s was not seen", g.Nodes[i].Ref)
		}
	}
	for _, uid := range withDependents(g, directions) {
		switch o := p.watched[uid]; {
		case o.Namespace == "":
			return fmt.Sprintf("%s may have dependents in every namespace", o.Ref)
		case finalizer.DeployerOfObject(o) != nil:
			return fmt.Sprintf("what is deleted with %s may be in every namespace", o.Ref)
		}
	}
	return p.whyUnreadable(g.Gaps)
}

// AdjustGaps adjusts the gaps of a graph after WhyGraphDiffers has accepted it. It removes the gaps
// that were left by choice. If dependents were asked for, it adds the gap that references from
// other namespaces were not looked for.
func (p *OneNamespace) AdjustGaps(g *report.Graph, directions []graph.Direction) {
	g.Gaps = slices.DeleteFunc(g.Gaps, isLeftOut)
	g.Complete = len(g.Gaps) == 0
	if len(withDependents(g, directions)) > 0 {
		g.Gaps = slices.Insert(g.Gaps, 0, report.Gap{
			Resource: snapshot.EveryResource,
			Why:      fmt.Sprintf("%s: references from other namespaces to objects of namespace %s are wrong, and were not looked for", reason.LeftOut, p.namespace),
		})
	}
}

// withDependents returns the nodes of a graph that were asked for their dependents.
func withDependents(g *report.Graph, directions []graph.Direction) []types.UID {
	var asked []types.UID
	if slices.Contains(directions, graph.ToDependents) {
		asked = object.Mapped(g.Roots, func(r object.Ref) types.UID { return r.UID })
	}
	if slices.Contains(directions, graph.Both) && len(g.Roots) > 0 {
		asked = append(asked, object.Mapped(g.Nodes, func(n report.Node) types.UID { return n.Ref.UID })...)
	}
	dependents := map[types.UID][]types.UID{}
	for i := range g.Edges {
		dependents[g.Edges[i].Owner] = append(dependents[g.Edges[i].Owner], g.Edges[i].Dependent)
	}
	return object.Reached(asked, func(uid types.UID) []types.UID { return dependents[uid] })
}

// whyUnreadable returns why namespaced objects of some kind could not be read. A read of the whole
// cluster may be refused for other kinds. Cluster-scoped objects are read the same way in both.
func (p *OneNamespace) whyUnreadable(gaps []report.Gap) string {
	for _, gap := range gaps {
		if gap.Namespace == p.namespace {
			return fmt.Sprintf("%s of namespace %s could not be read", gap.Resource, gap.Namespace)
		}
	}
	return ""
}

// isLeftOut reports whether a gap was left by choice.
func isLeftOut(g report.Gap) bool { return strings.HasPrefix(g.Why, string(reason.LeftOut)) }
