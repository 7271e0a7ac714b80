package diagnose

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/finalizer"
	"github.com/kubectl-gc/kubectl-gc/internal/graph"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// addDeployed returns the nodes with those that are deleted with the roots although no owner reference
// says so, and with their dependents: what deployers have applied, and the instances of CRDs. It returns
// these relations, and the deployers with inventories that are not known. For ks/apps, which has applied
// deploy/web:
//
//	ks/apps → deploy/web (inventory) → rs/web-1 → pod/web-1-a
func (b *graphBuilder) addDeployed(ids []graph.ID, o GraphOptions) (all []graph.ID, members []report.Breakage, unlisted []report.Unlisted) {
	if !o.Deployed || len(o.Roots) == 0 || !slices.ContainsFunc(o.Directions, func(d graph.Direction) bool { return d != graph.ToOwners }) {
		return ids, nil, nil
	}
	g, inventories := b.collector.Graph(), finalizer.NewInventories(b.snap)
	seen := map[graph.ID]bool{}
	var visits []graph.Visit
	visit := func(id graph.ID, depth int) {
		if !seen[id] {
			seen[id] = true
			visits = append(visits, graph.Visit{ID: id, Depth: depth})
		}
	}
	for _, ref := range o.Roots {
		if id, ok := g.Find(ref.UID); ok {
			visit(id, 0)
		}
	}
	for i := 0; i < len(visits); i++ { //nolint:intrange // the list grows
		v := visits[i]
		from := b.snap.ObjectAt(g.Identity(v.ID).Coordinates())
		if o.Depth > 0 && v.Depth == o.Depth || from == nil {
			continue
		}
		for _, id := range g.Dependents(v.ID) {
			visit(id, v.Depth+1)
		}
		label, list := "inventory", inventories.DeletedWith(from)
		if d := from.Definition(); d != nil {
			label, list = "instance", b.snap.All(schema.GroupResource{Group: d.Group, Resource: d.Plural})
		}
		for _, to := range list {
			if id, ok := g.Find(to.UID); ok {
				members = append(members, report.Breakage{Object: to.Ref, Label: label, Reference: from.Ref})
				visit(id, v.Depth+1)
			}
		}
		if u, unknown := unknownInventory(inventories, from); unknown {
			unlisted = append(unlisted, u)
		}
	}
	for _, v := range visits {
		if !b.in[v.ID] {
			b.in[v.ID] = true
			ids = append(ids, v.ID)
		}
	}
	g.Sort(ids)
	return ids, members, unlisted
}

// unknownInventory reports whether what a deployer deletes with an object is not known, and why.
func unknownInventory(inventories *finalizer.Inventories, o *object.Object) (report.Unlisted, bool) {
	d := finalizer.DeployerOfObject(o)
	if d == nil {
		return report.Unlisted{}, false
	}
	inventory := inventories.Of(o, d)
	code, why := plan.InventoryGap(inventory)
	if code == "" {
		return report.Unlisted{}, false
	}
	u := report.Unlisted{Object: o.Ref, Reason: string(code), Message: why}
	for _, name := range o.Finalizers() {
		if finalizer.DeployerOf(o.Ref, name) == d {
			u.Finalizer = cmp.Or(u.Finalizer, name)
		}
	}
	u.Controller, _ = plan.RemovedBy(u.Finalizer, o.Kind)
	return u, true
}
