package cli

import (
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-gc/kubectl-gc/internal/diagnose/explain"
	"github.com/kubectl-gc/kubectl-gc/internal/graph"
	"github.com/kubectl-gc/kubectl-gc/internal/impact"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/render"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// graphCommand is `graph`.
type graphCommand struct {
	streams                  genericiooptions.IOStreams
	source                   source
	targets                  targets
	output                   output
	owners, dependents, both bool
	depth                    int
	upstream                 bool
	requireComplete          bool
}

func newGraph(streams genericiooptions.IOStreams, config *genericclioptions.ConfigFlags) *cobra.Command {
	g := &graphCommand{streams: streams, source: newSource(config), output: output{own: append([]string{"tree", "dot"}, drawnFormats...)}}
	c := &cobra.Command{
		Use:   "graph [TYPE NAME | TYPE/NAME] [--from DUMP]",
		Short: "Show owners and dependents as a tree, as a picture or as JSON",
		Long: text(`
			Show owners and dependents as a tree, as a picture or as JSON. Without an object the
			whole graph is shown, without the objects that have neither.

			Pictures are SVG, which any browser shows, Mermaid, which code hosts show in place,
			and DOT for Graphviz. Objects that differ in nothing but their names are one box.

			With -o dot --upstream the output has the format of the debug endpoint of
			kube-controller-manager, so that the two can be compared.`),
		Example: templates.Examples(`
			# Who goes with this Deployment?
			kubectl gc graph deployment/web -n shop --from examples/shop.yaml

			# A picture for a pull request
			kubectl gc graph deployment/web -n shop -o mermaid --from examples/shop.yaml

			# Everything, for Graphviz
			kubectl gc graph -o dot --from examples/cluster.yaml`),
		RunE: func(c *cobra.Command, args []string) error { return g.run(c, args) },
	}
	f := c.Flags()
	g.source.addFlags(f)
	g.targets.addFlags(f)
	g.output.addFlags(f)
	f.BoolVar(&g.owners, "owners", false, "Follow owner references upwards.")
	f.BoolVar(&g.dependents, "dependents", false, "Follow dependents downwards; the default.")
	f.BoolVar(&g.both, "both", false, "Follow both.")
	f.IntVar(&g.depth, "depth", 0, "Go no further than this from the object; 0 for no bound.")
	f.BoolVar(&g.upstream, "upstream", false, "With -o dot: the format of kube-controller-manager's debug endpoint.")
	f.BoolVar(&g.requireComplete, "require-complete", false, "Exit with 4 when the graph rests on something that was not seen.")
	return c
}

func (g *graphCommand) run(c *cobra.Command, args []string) error {
	options := explain.GraphOptions{Direction: graph.ToDependents, Depth: g.depth}
	switch {
	case g.both || g.owners && g.dependents:
		options.Direction = graph.Both
	case g.owners:
		options.Direction = graph.ToOwners
	}
	if g.upstream && g.output.format != "dot" {
		return usageErrorf(c, "--upstream goes with -o dot")
	}
	if g.depth < 0 {
		return usageErrorf(c, "--depth=%d: must not be negative", g.depth)
	}
	if len(args) > 0 || g.targets.given() {
		if err := g.targets.check(c, args); err != nil {
			return err
		}
	}
	if g.upstream {
		options.Direction, options.Depth = graph.Both, 0
	}
	doc, err := g.draw(c, args, options)
	if err != nil {
		return err
	}
	if err := g.show(c, doc); err != nil {
		return err
	}
	return incomplete(g.requireComplete, doc.Complete)
}

// draw reads the world and makes the graph. Owners are in the namespace of their
// dependents or in none; a dependent, even one that names its owner in vain, may be
// anywhere.
func (g *graphCommand) draw(c *cobra.Command, args []string, options explain.GraphOptions) (*report.Graph, error) {
	if len(args) == 0 && g.targets.files.empty() {
		w, err := g.source.read(c, g.streams, &g.targets.namespaces)
		if err != nil {
			return nil, err
		}
		defer begin(c, g.streams.ErrOut, "drawing the graph").end()
		return explain.Graph(c.Context(), w.Snapshot, options)
	}
	var doc *report.Graph
	owners := options.Direction == graph.ToOwners
	err := g.targets.answer(c, g.streams, &g.source, args, owners, func(w world, refs []object.Ref, part *impact.OneNamespace) (string, error) {
		defer begin(c, g.streams.ErrOut, "drawing the graph").end()
		var err error
		options.Roots = refs
		if doc, err = explain.Graph(c.Context(), w.Snapshot, options); err != nil || part == nil {
			return "", err
		}
		return part.Owners(doc), nil
	})
	return doc, err
}

func (g *graphCommand) show(c *cobra.Command, doc *report.Graph) error {
	dot := as(render.GraphDOT, doc)
	if g.upstream {
		dot = as(render.UpstreamDOT, doc)
	}
	return g.output.show(c, g.streams.Out, doc, as(render.GraphTree, doc), formats{"dot": dot}, drawn(graphDrawing(doc)))
}
