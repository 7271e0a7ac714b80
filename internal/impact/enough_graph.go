package impact

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/graph"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// Graph is why a graph of the part, in these directions from its roots, may not be the one
// of the whole; empty if it is. An owner that was asked for and not seen may be in another
// namespace, by its uid. A reference from there is none to an object of this one: what has
// only the uid is not shown, and Enough says so.
func (p *OneNamespace) Graph(g *report.Graph, directions []graph.Direction) string {
	if why := p.doubtful(); why != "" {
		return why
	}
	for i := range g.Nodes {
		if p.watched[g.Nodes[i].Ref.UID] == nil {
			return fmt.Sprintf("%s was not seen", object.Ref(g.Nodes[i].Ref))
		}
	}
	for uid := range below(g, directions) {
		if o := p.watched[uid]; o.Namespace == "" {
			return fmt.Sprintf("%s may have dependents in every namespace", o.Ref)
		}
	}
	return p.refused(g.Gaps)
}

// Enough says of a graph for which the part is enough what it depends on: on nothing that
// was left out by choice. Where dependents were asked for, references from other namespaces
// were not looked for, and that is the gap which remains.
func (p *OneNamespace) Enough(g *report.Graph, directions []graph.Direction) {
	g.Gaps = slices.DeleteFunc(g.Gaps, leftOut)
	g.Complete = len(g.Gaps) == 0
	if len(below(g, directions)) > 0 {
		g.Gaps = slices.Insert(g.Gaps, 0, report.Gap{
			Resource: snapshot.EveryResource,
			Why:      fmt.Sprintf("%s: references from other namespaces to objects of namespace %s are wrong, and were not looked for", reason.LeftOut, p.namespace),
		})
	}
}

// below are the nodes of a graph whose dependents were asked for.
func below(g *report.Graph, directions []graph.Direction) map[types.UID]bool {
	met := map[types.UID]bool{}
	var open []types.UID
	visit := func(uid types.UID) {
		if !met[uid] {
			met[uid] = true
			open = append(open, uid)
		}
	}
	if slices.Contains(directions, graph.ToDependents) {
		for _, root := range g.Roots {
			visit(root.UID)
		}
	}
	if slices.Contains(directions, graph.Both) && len(g.Roots) > 0 {
		for i := range g.Nodes {
			visit(g.Nodes[i].Ref.UID)
		}
	}
	dependents := map[types.UID][]types.UID{}
	for i := range g.Edges {
		dependents[g.Edges[i].Owner] = append(dependents[g.Edges[i].Owner], g.Edges[i].Dependent)
	}
	for i := 0; i < len(open); i++ { //nolint:intrange // the list grows
		for _, uid := range dependents[open[i]] {
			visit(uid)
		}
	}
	return met
}

// refused is why a kind of namespaced objects could not be read here: of the whole cluster
// something else may be refused. What has no namespace was asked for as it would be there.
func (p *OneNamespace) refused(gaps []report.Gap) string {
	for _, gap := range gaps {
		if gap.Namespace == p.namespace {
			return fmt.Sprintf("%s of namespace %s could not be read", gap.Resource, gap.Namespace)
		}
	}
	return ""
}

// leftOut reports whether a gap was left by choice.
func leftOut(g report.Gap) bool { return strings.HasPrefix(g.Why, string(reason.LeftOut)) }
