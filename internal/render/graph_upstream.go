package render

import (
	"bufio"
	"cmp"
	"io"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

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

func uidsOf(refs []report.Ref) []types.UID {
	uids := make([]types.UID, len(refs))
	for i, r := range refs {
		uids[i] = r.UID
	}
	return uids
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
	chosen := chooseUpstream(vertices, linked, uids)

	var edges []report.Edge
	for _, e := range g.Edges {
		if chosen[e.Dependent] {
			edges = append(edges, e)
		}
	}
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
			nodes = append(nodes, missingVertex(e.Owner, missing[e.Owner]))
		}
	}
	slices.SortFunc(nodes, func(a, b report.Node) int { return strings.Compare(string(a.Ref.UID), string(b.Ref.UID)) })
	return nodes, edges
}

// chooseUpstream returns the vertices reachable from uids, or all without uids. Vertices without
// edges are left out.
func chooseUpstream(vertices map[types.UID]*report.Node, linked map[types.UID][]types.UID, uids []types.UID) map[types.UID]bool {
	chosen := map[types.UID]bool{}
	if len(uids) == 0 {
		for uid := range vertices {
			if len(linked[uid]) > 0 {
				chosen[uid] = true
			}
		}
		return chosen
	}
	todo := slices.Clone(uids)
	for len(todo) > 0 {
		uid := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if chosen[uid] || vertices[uid] == nil || len(linked[uid]) == 0 {
			continue
		}
		chosen[uid] = true
		todo = append(todo, linked[uid]...)
	}
	return chosen
}

// missingVertex returns a vertex for an owner that is known only from references. These do not
// contain its namespace.
func missingVertex(uid types.UID, known *report.Node) report.Node {
	n := report.Node{Ref: report.Ref{UID: uid}, Missing: true}
	if known != nil {
		n.Ref = known.Ref
		n.Ref.Namespace = ""
	}
	return n
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
