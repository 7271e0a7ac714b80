package diagnose

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/finalizer"
	"github.com/kubectl-gc/kubectl-gc/internal/graph"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// GraphOptions selects a part of the graph.
type GraphOptions struct {
	// Roots are the objects to start from. Without any, the whole graph is returned, except for
	// objects that have neither owners nor dependents.
	Roots []object.Ref
	// Directions are followed from the roots, each by itself.
	Directions []graph.Direction
	// Namespace selects all objects of a namespace, with their owners; empty for all namespaces.
	Namespace string
	// Depth limits the distance from the roots; 0 means no limit.
	Depth int
	// Deployed adds what is deleted with the roots although no owner reference says so, with its
	// dependents.
	Deployed bool
	// Uses are references of other fields. Those from and to what is selected are added, with the
	// objects at their other end.
	Uses []report.Breakage
	// Among selects these objects and their owners, unless it is nil.
	Among []object.Ref
}

// Graph returns a part of the graph of owners and dependents as a document.
func Graph(ctx context.Context, snap *snapshot.Snapshot, o GraphOptions) (*report.Graph, error) {
	b := &graphBuilder{ctx: ctx, snap: snap}
	b.collector, b.world = plan.Open(snap, engine.Upstream)
	ids, err := b.choose(o)
	if err != nil {
		return nil, err
	}
	ids, members, unlisted := b.addDeployed(ids, o)
	o.Uses = append(slices.Clip(o.Uses), members...)
	ids, uses := b.addUses(ids, o)
	doc := &report.Graph{
		Header: report.HeaderOf("Graph"), Source: plan.SourceOf(snap), Namespace: o.Namespace, Roots: append([]object.Ref{}, o.Roots...),
		Nodes: make([]report.Node, 0, len(ids)), Edges: []report.Edge{}, Complete: true, Gaps: []report.Gap{},
	}
	doc.Nodes = append(doc.Nodes, object.Mapped(ids, b.node)...)
	if doc.Edges, err = b.allEdges(ids); err != nil {
		return nil, err
	}
	if len(uses) > 0 {
		doc.Edges = append(doc.Edges, uses...)
		slices.SortStableFunc(doc.Edges, func(x, y report.Edge) int {
			return cmp.Or(strings.Compare(string(x.Dependent), string(y.Dependent)), strings.Compare(string(x.Owner), string(y.Owner)))
		})
	}
	namespaces := object.SetOf(doc.Nodes, func(n report.Node) string { return n.Ref.Namespace })
	if o.Namespace != "" {
		namespaces[o.Namespace] = true // even if none of its objects was seen
	}
	doc.Gaps = append(doc.Gaps, plan.RelevantGaps(snap, func(ns string) bool { return namespaces[ns] })...)
	doc.Unlisted, doc.Complete = unlisted, len(doc.Gaps) == 0 && len(unlisted) == 0
	return doc, nil
}

type graphBuilder struct {
	ctx       context.Context
	snap      *snapshot.Snapshot
	collector *engine.Collector
	world     engine.World
	in        map[graph.ID]bool
}

// choose returns the selected nodes in object.Compare order.
func (b *graphBuilder) choose(o GraphOptions) ([]graph.ID, error) {
	g := b.collector.Graph()
	var ids, roots []graph.ID
	directions, depth := []graph.Direction{graph.ToOwners}, o.Depth
	switch {
	case o.Among != nil:
		depth = 1
		for _, ref := range o.Among { // the collector does not watch all of them
			if id, ok := g.Find(ref.UID); ok && ref.UID != "" {
				roots = append(roots, id)
			}
		}
	case o.Namespace != "":
		depth = 0
		for id := range g.All {
			if g.Identity(id).Namespace == o.Namespace {
				roots = append(roots, id)
			}
		}
	case len(o.Roots) == 0:
		for id := range g.All {
			if g.DependentCount(id) > 0 || len(g.Owners(id)) > 0 {
				ids = append(ids, id)
			}
		}
	default:
		directions = o.Directions
		for _, ref := range o.Roots {
			id, ok := g.Find(ref.UID)
			if !ok {
				return nil, fmt.Errorf("%s is not in the graph: the garbage collector does not watch its kind", ref)
			}
			roots = append(roots, id)
		}
	}
	for _, direction := range directions {
		for _, v := range g.Walk(roots, direction, depth) {
			ids = append(ids, v.ID)
		}
	}
	g.Sort(ids)
	ids = slices.Compact(ids)
	b.in = object.SetOf(ids, func(id graph.ID) graph.ID { return id })
	return ids, nil
}

// addUses returns the nodes with those of uses that start or end at one of them, or of all if everything
// was selected, and these uses, one for each pair of objects.
func (b *graphBuilder) addUses(ids []graph.ID, o GraphOptions) ([]graph.ID, []report.Edge) {
	g := b.collector.Graph()
	everything := len(o.Roots) == 0 && o.Namespace == ""
	var edges []report.Edge
	var more []graph.ID
	made := map[[2]graph.ID]int{}
	for i := range o.Uses {
		u := &o.Uses[i]
		user, ok := g.Find(u.Object.UID)
		target, found := g.Find(u.Reference.UID)
		if !ok || !found || !everything && !b.in[user] && !b.in[target] {
			continue
		}
		pair := [2]graph.ID{user, target}
		if at, have := made[pair]; have {
			if !slices.Contains(strings.Split(edges[at].Use, ", "), u.Label) {
				edges[at].Use += ", " + u.Label
			}
			continue
		}
		made[pair] = len(edges)
		edges = append(edges, report.Edge{Dependent: u.Object.UID, Owner: u.Reference.UID, Class: report.Existing, Use: u.Label})
		more = append(more, user, target)
	}
	if len(more) == 0 {
		return ids, nil
	}
	for _, id := range more {
		b.in[id] = true
	}
	ids = append(ids, more...)
	g.Sort(ids)
	return slices.Compact(ids), edges
}

func (b *graphBuilder) node(id graph.ID) report.Node {
	g := b.collector.Graph()
	ref := g.Identity(id)
	if g.Virtual(id) {
		if r, err := b.world.Resource(ref.APIVersion, ref.Kind); err == nil && !r.Namespaced {
			ref.Namespace = ""
		}
	}
	n := report.Node{
		Ref: ref, Virtual: g.Virtual(id), Observed: !g.Virtual(id),
		BeingDeleted: g.BeingDeleted(id), WaitingForDependents: g.WaitingForDependents(id),
		Finalizers: g.Object(id).Finalizers(),
	}
	if created := g.Object(id).Created; created != 0 {
		n.Created = metav1.Unix(created, 0).UTC().Format("2006-01-02T15:04:05Z")
	}
	return n
}

// allEdges returns the references among the nodes, sorted by the uids of the dependents.
func (b *graphBuilder) allEdges(ids []graph.ID) ([]report.Edge, error) {
	g := b.collector.Graph()
	sorted := slices.Clone(ids)
	slices.SortFunc(sorted, func(x, y graph.ID) int { return strings.Compare(string(g.Identity(x).UID), string(g.Identity(y).UID)) })
	edges := []report.Edge{}
	for _, id := range sorted {
		if err := b.ctx.Err(); err != nil {
			return nil, err
		}
		edges = b.edges(edges, id)
	}
	return edges, nil
}

// edges appends the references of a node to owners that are in the document, sorted by the uids of
// the owners.
func (b *graphBuilder) edges(edges []report.Edge, id graph.ID) []report.Edge {
	g := b.collector.Graph()
	owners := g.Owners(id)
	if len(owners) == 0 {
		return edges
	}
	facts := engine.Examine(b.ctx, b.world, engine.Upstream, b.collector.InspectNode(id))
	first := len(edges)
	for i, ref := range owners {
		if owner, ok := g.Find(ref.UID); !ok || !b.in[owner] {
			continue
		}
		e := report.Edge{
			Dependent: g.Identity(id).UID, Owner: ref.UID, Controller: ref.Controller == object.True,
			BlockOwnerDeletion: ref.Blocks(), Class: report.UnknownClass,
		}
		if i < len(facts.Owners) {
			e.Class = classOf(facts.Owners[i].Class)
		}
		edges = append(edges, e)
	}
	slices.SortStableFunc(edges[first:], func(x, y report.Edge) int { return strings.Compare(string(x.Owner), string(y.Owner)) })
	return edges
}

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
