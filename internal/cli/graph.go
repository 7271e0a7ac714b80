package cli

import (
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-gc/kubectl-gc/internal/explain"
	"github.com/kubectl-gc/kubectl-gc/internal/graph"
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
}

func newGraph(streams genericiooptions.IOStreams) *cobra.Command {
	g := &graphCommand{streams: streams, output: output{own: []string{"tree", "dot"}}}
	c := &cobra.Command{
		Use:   "graph [TYPE NAME | TYPE/NAME] --from DUMP",
		Short: "Show owners and dependents as a tree, as DOT or as JSON",
		Long: text(`
			Show owners and dependents as a tree, as DOT (for Graphviz) or as JSON. Without an
			object the whole graph is shown, without the objects that have neither.

			With -o dot --upstream the output has the format of the debug endpoint of
			kube-controller-manager, so that the two can be compared.`),
		Example: templates.Examples(`
			# Who goes with this Deployment?
			kubectl gc graph deployment/web -n shop --from examples/shop.yaml

			# A picture of everything
			kubectl gc graph -o dot --from examples/cluster.yaml`),
		RunE: func(c *cobra.Command, args []string) error { return g.run(c, args) },
	}
	f := c.Flags()
	g.source.addFlags(f)
	g.targets.addFlags(f, true)
	g.output.addFlags(f)
	f.BoolVar(&g.owners, "owners", false, "Follow owner references upwards.")
	f.BoolVar(&g.dependents, "dependents", false, "Follow dependents downwards; the default.")
	f.BoolVar(&g.both, "both", false, "Follow both.")
	f.IntVar(&g.depth, "depth", 0, "Go no further than this from the object; 0 for no bound.")
	f.BoolVar(&g.upstream, "upstream", false, "With -o dot: the format of kube-controller-manager's debug endpoint.")
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
	snap, err := g.source.read(c, g.streams.In, g.streams.ErrOut)
	if err != nil {
		return err
	}
	if len(args) > 0 || !g.targets.files.empty() {
		if options.Roots, err = g.targets.find(c, snap, args); err != nil {
			return err
		}
	}
	if g.upstream {
		options.Direction, options.Depth = graph.Both, 0
	}
	doc, err := explain.Graph(c.Context(), snap, options)
	if err != nil {
		return err
	}
	return g.show(c, doc)
}

func (g *graphCommand) show(c *cobra.Command, doc *report.Graph) error {
	if done, err := g.output.print(c, g.streams.Out, doc); done || err != nil {
		return err
	}
	style, err := g.output.style(c, g.streams.Out)
	if err != nil {
		return err
	}
	switch {
	case g.upstream:
		return render.UpstreamDOT(g.streams.Out, style, doc)
	case g.output.format == "dot":
		return render.GraphDOT(g.streams.Out, style, doc)
	default:
		return render.GraphTree(g.streams.Out, style, doc)
	}
}
