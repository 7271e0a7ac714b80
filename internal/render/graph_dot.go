package render

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/emicklei/dot"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// GraphDOT prints the graph for Graphviz: a cluster for each namespace, and an edge from each
// dependent to its owner, bold if it blocks a foreground deletion.
//
// Names are escaped before they are quoted, since Graphviz does not know Go's escape sequences.
// There are no HTML labels and no links. (spec X04)
func GraphDOT(out io.Writer, s Style, g *report.Graph) error {
	v := newView(g)
	root := dot.NewGraph(dot.Directed)
	root.ID("owners")
	root.Attr("rankdir", "BT")
	// The library writes vertices ordered by key; numeric keys keep our order. A lookup by key
	// would create a second vertex if the first is in a cluster, so vertices are accessed only by
	// these handles.
	vertices := make([]dot.Node, len(v.nodes))
	clusters := map[string]*dot.Graph{}
	for i := range v.nodes {
		n := &v.nodes[i]
		in := root
		if ns := n.Ref.Namespace; ns != "" {
			if clusters[ns] == nil {
				key := fmt.Sprintf("%09d", len(clusters))
				clusters[ns] = root.Subgraph(key, dot.ClusterOption{}).Label(escapeDOT(s.text(ns)))
			}
			in = clusters[ns]
		}
		vertices[i] = vertexDOT(s, v, in, i)
	}
	for i, owners := range v.owners {
		for _, l := range owners {
			edgeDOT(s, root.Edge(vertices[i], vertices[l.to]), l.edge)
		}
	}
	w := bufio.NewWriter(out)
	root.Write(w)
	return w.Flush()
}

func vertexDOT(s Style, v *view, in *dot.Graph, i int) dot.Node {
	n := &v.nodes[i]
	lines := []string{s.name(n.Ref)}
	node := in.Node(fmt.Sprintf("%09d", i)).Box()
	if a := v.absence(i); a != "" {
		lines = append(lines, "("+a+")")
		node.Attr("style", "dashed")
	}
	switch {
	case n.WaitingForDependents:
		lines = append(lines, "waits for dependents")
	case n.BeingDeleted:
		lines = append(lines, "being deleted")
	}
	if n.BeingDeleted || n.WaitingForDependents {
		node.Attr("color", "orange")
	}
	if len(n.Finalizers) > 0 {
		lines = append(lines, "finalizers "+s.commaSeparated(n.Finalizers))
	}
	node.Label(escapeDOT(strings.Join(lines, "\n")))
	node.Attr("tooltip", escapeDOT("uid "+s.text(string(n.Ref.UID))))
	return node
}

// escapeDOT keeps Graphviz from decoding entities: it would turn `&#8238;` into the character that
// was escaped.
func escapeDOT(text string) string { return strings.ReplaceAll(text, "&", "&amp;") }

func edgeDOT(s Style, e dot.Edge, x *report.Edge) {
	var label []string
	if x.BlockOwnerDeletion {
		label = append(label, "blocks")
		e.Bold()
	}
	switch x.Class {
	case report.Existing, "":
	case report.Dangling:
		label = append(label, "dangling")
		e.Attr("color", "red")
	default:
		label = append(label, escapeDOT(s.text(lower(string(x.Class)))))
	}
	if x.Use != "" {
		label = append(label, escapeDOT(s.text(x.Use)))
		e.Attr("style", "dashed")
	}
	if !x.Controller {
		e.Attr("arrowhead", "empty")
	}
	if len(label) > 0 {
		e.Label(strings.Join(label, ", "))
	}
}

// UpstreamDOT prints the graph in exactly the format of kube-controller-manager's debug endpoint,
// so that both can be compared. The roots of the document select vertices like the endpoint's uid
// parameters.
//
// There is one difference: upstream registers a missing owner under the UID of its dependent, so
// edges point to the wrong vertex. Here it has its own UID.
//
// Upstream: pkg/controller/garbagecollector/dump.go toDOTNodesAndEdges, toDOTNodesAndEdgesForObj,
// marshalDOT, MarshalDOT, NewDOTVertex, NewMissingdotVertex.
// Rule: spec §4, S257–S262.
func UpstreamDOT(out io.Writer, _ Style, g *report.Graph) error {
	nodes, edges := SelectUpstream(g, uidsOf(g.Roots))
	w := bufio.NewWriter(out)
	w.WriteString("strict digraph full {\n")
	if len(nodes) > 0 {
		w.WriteString("  // Node definitions.\n")
		for i := range nodes {
			writeUpstreamVertex(w, &nodes[i])
		}
	}
	if len(edges) > 0 {
		w.WriteString("  // Edge definitions.\n")
		for _, e := range edges {
			w.WriteString("  " + strconv.Quote(string(e.Dependent)) + " -> " + strconv.Quote(string(e.Owner)) + ";\n")
		}
	}
	w.WriteString("}\n")
	return w.Flush()
}

func uidsOf(refs []object.Ref) []types.UID {
	return object.Mapped(refs, func(r object.Ref) types.UID { return r.UID })
}

// SelectUpstream returns what the debug endpoint shows: all vertices, or those reachable from uids
// over owners and dependents, and only those with an owner or a dependent. Unknown uids are
// skipped. Owners without a vertex become missing ones.
//
// Vertices are sorted by UID, and edges by dependent and owner.
func SelectUpstream(g *report.Graph, uids []types.UID) ([]report.Node, []report.Edge) {
	vertices := make(map[types.UID]*report.Node, len(g.Nodes))
	missing := map[types.UID]*report.Node{}
	for i := range g.Nodes {
		n := &g.Nodes[i]
		if n.Missing {
			missing[n.Ref.UID] = n
		} else if have := vertices[n.Ref.UID]; have == nil || !have.Observed && n.Observed {
			vertices[n.Ref.UID] = n
		}
	}
	linked := map[types.UID][]types.UID{}
	for _, e := range g.Edges {
		// Upstream has no edges from missing vertices, since references are fields of a vertex.
		if vertices[e.Dependent] == nil {
			continue
		}
		linked[e.Dependent] = append(linked[e.Dependent], e.Owner)
		if vertices[e.Owner] != nil {
			linked[e.Owner] = append(linked[e.Owner], e.Dependent)
		}
	}
	if len(uids) == 0 {
		uids = slices.Collect(maps.Keys(linked))
	}
	chosen := map[types.UID]bool{}
	for _, uid := range object.Reached(uids, func(uid types.UID) []types.UID { return linked[uid] }) {
		if len(linked[uid]) > 0 {
			chosen[uid] = true
		}
	}

	edges := object.Filtered(g.Edges, func(e report.Edge) bool { return chosen[e.Dependent] })
	slices.SortStableFunc(edges, func(a, b report.Edge) int {
		return cmp.Or(strings.Compare(string(a.Dependent), string(b.Dependent)), strings.Compare(string(a.Owner), string(b.Owner)))
	})
	var nodes []report.Node
	for uid := range chosen {
		nodes = append(nodes, *vertices[uid])
	}
	added := map[types.UID]bool{}
	for _, e := range edges {
		if !chosen[e.Owner] && !added[e.Owner] {
			added[e.Owner] = true
			n := report.Node{Ref: object.Ref{UID: e.Owner}, Missing: true}
			if known := missing[e.Owner]; known != nil {
				n.Ref = known.Ref
				n.Ref.Namespace = "" // references do not contain it
			}
			nodes = append(nodes, n)
		}
	}
	slices.SortFunc(nodes, func(a, b report.Node) int { return strings.Compare(string(a.Ref.UID), string(b.Ref.UID)) })
	return nodes, edges
}

func writeUpstreamVertex(w *bufio.Writer, n *report.Node) {
	group, version := object.SplitAPIVersion(n.Ref.APIVersion)
	w.WriteString("  " + strconv.Quote(string(n.Ref.UID)) + " [\n")
	for _, a := range [...]struct{ key, value string }{
		{"label", upstreamLabel(n, group, version)},
		{"group", group},
		{"version", version},
		{"kind", n.Ref.Kind},
		{"namespace", n.Ref.Namespace},
		{"name", n.Ref.Name},
		{"uid", string(n.Ref.UID)},
		{"missing", strconv.FormatBool(n.Missing)},
		{"beingDeleted", strconv.FormatBool(n.BeingDeleted)},
		{"deletingDependents", strconv.FormatBool(n.WaitingForDependents)},
		{"virtual", strconv.FormatBool(n.Virtual)},
	} {
		w.WriteString("    " + a.key + "=" + strconv.Quote(a.value) + "\n")
	}
	w.WriteString("  ];\n")
}

func upstreamLabel(n *report.Node, group, version string) string {
	kind := n.Ref.Kind + "." + version
	if group != "" {
		kind += "." + group
	}
	label := "uid=" + string(n.Ref.UID) + "\nnamespace=" + n.Ref.Namespace + "\n" + kind + "/" + n.Ref.Name + "\n"
	var flags []string
	for _, f := range [...]struct {
		set  bool
		name string
	}{
		{n.BeingDeleted, "beingDeleted"},
		{n.WaitingForDependents, "deletingDependents"},
		{n.Virtual, "virtual"},
		{n.Missing, "missingFromGraph"},
	} {
		if f.set {
			flags = append(flags, f.name)
		}
	}
	if len(flags) > 0 {
		label += strings.Join(flags, ",") + "\n"
	}
	return label
}
