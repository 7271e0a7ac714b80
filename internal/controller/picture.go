package controller

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// picture returns the graph of a collector as a document. The scope of its kind decides whether an
// object that is only referenced has a namespace.
func picture(c *engine.Collector, uids []types.UID, resource func(apiVersion, kind string) (object.Resource, error)) *report.Graph {
	g := c.Graph()
	doc := &report.Graph{APIVersion: report.APIVersion, Kind: "Graph", Complete: true}
	for _, uid := range uids {
		doc.Roots = append(doc.Roots, report.Ref{UID: uid})
	}
	for id := range g.All {
		owners := g.Owners(id)
		if len(owners) == 0 && g.DependentCount(id) == 0 {
			continue
		}
		ref := g.Identity(id)
		if g.Virtual(id) {
			if r, err := resource(ref.APIVersion, ref.Kind); err == nil && !r.Namespaced {
				ref.Namespace = ""
			}
		}
		doc.Nodes = append(doc.Nodes, report.Node{
			Ref: report.RefOf(ref), Virtual: g.Virtual(id), Observed: !g.Virtual(id),
			BeingDeleted: g.BeingDeleted(id), WaitingForDependents: g.WaitingForDependents(id),
		})
		for _, o := range owners {
			if _, ok := g.Find(o.UID); !ok {
				doc.Nodes = append(doc.Nodes, report.Node{Ref: report.RefOf(o.In("")), Missing: true})
			}
			doc.Edges = append(doc.Edges, report.Edge{Dependent: ref.UID, Owner: o.UID, Class: report.UnknownClass})
		}
	}
	return doc
}
