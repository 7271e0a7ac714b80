package diagnose

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// CollectorGraph is the graph of a cluster's collector, read once or several times.
type CollectorGraph struct {
	// Read has all readings, at least one. A difference counts only if all of them show it. With one
	// reading before the snapshot and one after it, a change in between is thus not reported.
	Read []*report.Graph
	// From is the file or URL that was read.
	From string
	// Live: it was read just now, from the running collector. A file may be old.
	Live bool
}

// settling is the maximum time, in seconds, until a change is in the graph of a running collector:
// its watches may lag, and a new kind waits for the next sync. (spec §3.1)
const settling = 60

// compare adds the differences between the collector's graph and the snapshot.
func (e *examiner) compare() {
	b := e.options.Graph
	last := b.Read[len(b.Read)-1]
	e.comparison = &report.GraphComparison{From: b.From, Nodes: len(last.Nodes), Edges: len(last.Edges)}
	settled := int64(settling)
	if !b.Live {
		settled = max(settled, e.options.Patience)
	}
	var common []difference
	for i, read := range b.Read {
		c := comparer{observed: e.now, theirs: indexed(read)}
		if e.options.At != 0 {
			c.newest = e.options.At - settled
		}
		found := c.all()
		if i > 0 {
			found = slices.DeleteFunc(found, func(d difference) bool {
				return !slices.ContainsFunc(common, func(x difference) bool { return x.code == d.code && x.about == d.about })
			})
		}
		common = found
		e.comparison.Compared = c.compared
	}
	e.comparison.Different = len(common)
	for _, d := range common {
		e.add(d.code, d.about, d.message, d.evidence)
	}
}

// difference is a finding of one reading. It counts only if all readings have it.
type difference struct {
	code              reason.Code
	about             object.Ref
	message, evidence string
}

// theirGraph is the graph of a collector with indexes.
type theirGraph struct {
	nodes      []report.Node
	at         map[types.UID]*report.Node
	owners     map[types.UID][]types.UID
	dependents map[types.UID]int
	// lost: some owner is missing, so that edges may point to the wrong node.
	lost bool
}

func indexed(g *report.Graph) *theirGraph {
	t := &theirGraph{
		nodes: g.Nodes, at: make(map[types.UID]*report.Node, len(g.Nodes)),
		owners: map[types.UID][]types.UID{}, dependents: map[types.UID]int{},
	}
	for i := range g.Nodes {
		n := &g.Nodes[i]
		t.at[n.Ref.UID] = n
		t.lost = t.lost || n.Missing
	}
	for _, e := range g.Edges {
		t.owners[e.Dependent] = append(t.owners[e.Dependent], e.Owner)
		t.dependents[e.Owner]++
	}
	return t
}

// missing reports whether the node is a missing owner.
func (t *theirGraph) missing(uid types.UID) bool {
	n := t.at[uid]
	return n != nil && n.Missing
}

// comparer compares one reading with the snapshot.
type comparer struct {
	*observed
	theirs *theirGraph
	// Changes after newest, in seconds since 1970, may not be in the graph yet. With 0, all are in it.
	newest   int64
	compared int
	found    []difference
}

func (c *comparer) all() []difference {
	g := c.collector.Graph()
	unseen := map[schema.GroupKind][]object.Ref{}
	seen := map[schema.GroupKind]bool{}
	ids := slices.DeleteFunc(slices.Collect(g.All), g.Virtual)
	g.Sort(ids)
	for _, id := range ids {
		o := g.Object(id)
		kind := schema.GroupKind{Group: o.Group(), Kind: o.Kind}
		n := c.theirs.at[o.UID]
		switch {
		case n != nil && n.Observed:
			seen[kind] = true
			c.compared++
			c.both(o, n)
		case (len(o.Owners) > 0 || g.DependentCount(id) > 0) && !c.young(o.Created):
			unseen[kind] = append(unseen[kind], o.Ref)
		}
	}
	c.unseen(unseen, seen)
	c.gone()
	return c.found
}

// young reports whether something happened so recently that it may not be in the graph. An unknown
// time is not young.
func (c *comparer) young(at int64) bool { return c.newest != 0 && at > c.newest }

// both compares an object that the collector knows.
func (c *comparer) both(o *object.Object, n *report.Node) {
	if !c.sameOwners(o) && !c.young(o.Created) {
		c.add(reason.GraphOwnersDiffer, o.Ref, "the garbage collector knows "+report.Plural(len(distinct(c.theirs.owners[o.UID])), "owner")+
			" of it, and it has "+report.Plural(len(distinct(ownersOf(o))), "owner"), "")
	}
	if c.young(o.DeletionTimestamp()) {
		return
	}
	switch {
	case o.BeingDeleted() && !n.BeingDeleted:
		c.add(reason.GraphStateDiffers, o.Ref, "the garbage collector does not know that it is being deleted", "")
	case o.WaitingForDependents() && !n.WaitingForDependents && !o.HasFinalizer(object.Orphan):
		c.add(reason.GraphStateDiffers, o.Ref, "the garbage collector does not know that it waits for its dependents", "")
	}
}

func (c *comparer) add(code reason.Code, about object.Ref, message, evidence string) {
	c.found = append(c.found, difference{code, about, message, evidence})
}

func ownersOf(o *object.Object) []types.UID {
	return object.Mapped(o.Owners, func(o object.OwnerReference) types.UID { return o.UID })
}

func distinct(uids []types.UID) []types.UID {
	return slices.Compact(slices.Sorted(slices.Values(uids)))
}

// sameOwners compares the owners of an object with those in the collector's graph. An edge that
// points to the missing owner of the owner is no difference: upstream writes such edges.
func (c *comparer) sameOwners(o *object.Object) bool {
	have, believed := distinct(ownersOf(o)), distinct(c.theirs.owners[o.UID])
	if slices.Equal(have, believed) {
		return true
	}
	if !c.theirs.lost {
		return false
	}
	for _, uid := range believed {
		if !slices.Contains(have, uid) && !c.theirs.missing(uid) {
			return false
		}
	}
	return !slices.ContainsFunc(have, func(uid types.UID) bool {
		return !slices.Contains(believed, uid) && !slices.ContainsFunc(c.theirs.owners[uid], c.theirs.missing)
	})
}

// unseen adds findings for objects that the collector does not know. If it knows no object of a
// kind, there is one finding for the kind.
func (c *comparer) unseen(unseen map[schema.GroupKind][]object.Ref, seen map[schema.GroupKind]bool) {
	for _, kind := range slices.SortedFunc(maps.Keys(unseen), func(a, b schema.GroupKind) int { return strings.Compare(a.String(), b.String()) }) {
		refs := unseen[kind]
		if !seen[kind] {
			about := object.Ref{APIVersion: refs[0].APIVersion, Kind: refs[0].Kind}
			c.add(reason.GraphKindUnknown, about, "the garbage collector knows none of "+report.Plural(len(refs), "object")+" with owners or dependents", "such as "+refs[0].FullName())
			continue
		}
		for _, ref := range refs {
			c.add(reason.GraphObjectUnknown, ref, "the garbage collector does not know it, or not with its owners and dependents", "")
		}
	}
}

// gone adds findings for nodes that the collector takes for existing objects, although the snapshot
// covers them and lacks them.
func (c *comparer) gone() {
	g := c.collector.Graph()
	for i := range c.theirs.nodes {
		n := &c.theirs.nodes[i]
		if !n.Observed {
			continue
		}
		if id, ok := g.Find(n.Ref.UID); ok && !g.Virtual(id) {
			continue
		}
		r, err := c.snap.Resources.For(n.Ref.APIVersion, n.Ref.Kind)
		if err != nil || !c.snap.Resources.Monitored(r) || !c.snap.Covers(r, n.Ref.Namespace) {
			continue // whether it exists is not known
		}
		c.add(reason.GraphNodeGone, n.Ref, "it does not exist, but the garbage collector treats it as existing", report.Plural(c.theirs.dependents[n.Ref.UID], "dependent")+" in its graph")
	}
}
