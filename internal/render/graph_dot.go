package render

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/emicklei/dot"

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
				clusters[ns] = root.Subgraph(key, dot.ClusterOption{}).Label(plainDOT(s.text(ns)))
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
		lines = append(lines, "finalizers "+s.texts(n.Finalizers))
	}
	node.Label(plainDOT(strings.Join(lines, "\n")))
	node.Attr("tooltip", plainDOT("uid "+s.text(string(n.Ref.UID))))
	return node
}

// plainDOT keeps Graphviz from decoding entities: it would turn `&#8238;` into the character that
// was escaped.
func plainDOT(text string) string { return strings.ReplaceAll(text, "&", "&amp;") }

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
		label = append(label, plainDOT(s.text(lower(string(x.Class)))))
	}
	if !x.Controller {
		e.Attr("arrowhead", "empty")
	}
	if len(label) > 0 {
		e.Label(strings.Join(label, ", "))
	}
}
