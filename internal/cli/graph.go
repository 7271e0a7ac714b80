package cli

import (
	"io"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-gc/kubectl-gc/internal/cli/command"
	"github.com/kubectl-gc/kubectl-gc/internal/diagnose"
	"github.com/kubectl-gc/kubectl-gc/internal/graph"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/reach"
	"github.com/kubectl-gc/kubectl-gc/internal/render"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// graphCommand is the command graph.
type graphCommand struct {
	streams                   genericiooptions.IOStreams
	source                    command.Source
	targets                   targets
	output                    command.Output
	owners, dependents, whole bool
	depth                     int
	upstream, uses            bool
	// cluster is the client of the cluster that was read, seen its snapshot; cluster is nil for a
	// dump.
	cluster *kube.Client
	seen    *snapshot.Snapshot
}

func newGraph(streams genericiooptions.IOStreams, config *genericclioptions.ConfigFlags) *cobra.Command {
	g := &graphCommand{streams: streams, source: command.NewSource(config), output: command.Output{Own: append([]string{"tree", "dot"}, command.DrawnFormats...)}}
	c := &cobra.Command{
		Use:     "graph [TYPE NAME | TYPE/NAME] [-n NAMESPACE | -A] [--from DUMP]",
		Aliases: []string{"tree"},
		Short:   "Show owners and dependents as a tree, as a picture or as JSON",
		Long: text(`
			Show owners and dependents as a tree, as a picture or as JSON: of an object its
			owners up to the top and its dependents down to the last.

			Without an object, or of a namespace, what is in the namespace is shown. -A shows
			everything that has an owner or a dependent; a dump is shown like that, too.

			Below an object of Argo CD or Flux is what they delete with it, and below a CRD are
			its instances. --uses adds what other fields refer to, such as the Secrets of a
			Deployment. All these are dashed arrows, and in the tree below the object that is used.

			Of a cluster, READY and STATUS are what kubectl get prints. Of many objects the first
			few of each kind are shown and the others counted: -o wide shows every one.

			Pictures are SVG, which any browser shows, Mermaid, which code hosts show in place,
			and DOT for Graphviz. Objects that differ in nothing but their names are one box.

			With -o dot --upstream the output has the format of the debug endpoint of
			kube-controller-manager, so that the two can be compared.`),
		Example: templates.Examples(`
			# What is below this Deployment?
			kubectl gc graph deployment/web -n shop --from examples/shop.yaml

			# What is in this namespace?
			kubectl gc graph ns/shop --from examples/shop.yaml

			# A picture for a pull request
			kubectl gc graph deployment/web -n shop -o mermaid --from examples/shop.yaml

			# Everything, for Graphviz
			kubectl gc graph -o dot --from examples/cluster.yaml`),
		RunE: func(c *cobra.Command, args []string) error { return g.run(c, args) },
	}
	f := c.Flags()
	g.source.AddFlags(f)
	g.targets.AddFlags(f)
	g.output.AddFlags(f)
	f.BoolVar(&g.owners, "owners", false, "Go upwards only, to the owners.")
	f.BoolVar(&g.dependents, "dependents", false, "Go downwards only, to the dependents.")
	f.BoolVar(&g.whole, "whole", false, "Show the whole trees that the object is in, with the other dependents of its owners.")
	f.IntVar(&g.depth, "depth", 0, "Go no further than this from the object; 0 for no bound.")
	f.BoolVar(&g.upstream, "upstream", false, "With -o dot: the format of kube-controller-manager's debug endpoint.")
	f.BoolVar(&g.uses, "uses", false, "Add the references of other fields: Secrets, ConfigMaps, volumes, backends, roles, and all inventories of deployers.")
	g.source.AddAtFlag(f)
	g.output.AddCompleteFlag(f, "Exit with 4 when the graph depends on something that could not be read.")
	command.Unlist(f, "all", "at", "upstream", "require-complete")
	return c
}

func (g *graphCommand) run(c *cobra.Command, args []string) error {
	if err := g.source.CheckAt(c); err != nil {
		return err
	}
	options := diagnose.GraphOptions{Directions: g.directions(), Depth: g.depth, Deployed: !g.upstream}
	if g.upstream && g.output.Format != "dot" {
		return command.Errorf(c, "--upstream requires -o dot")
	}
	if g.upstream && g.uses {
		return command.Errorf(c, "--upstream has owner references only: omit --uses")
	}
	if g.depth < 0 {
		return command.Errorf(c, "--depth=%d: must not be negative", g.depth)
	}
	check := g.targets.Check
	if !g.targets.Given(args) {
		check = func(c *cobra.Command, _ []string) error { return g.targets.Namespaces.Check(c) }
	}
	if err := check(c, args); err != nil {
		return err
	}
	if g.upstream {
		options.Depth = 0
	}
	doc, err := g.draw(c, args, options)
	if err != nil {
		return err
	}
	if err := g.show(c, doc); err != nil {
		return err
	}
	return g.output.UnlessComplete(doc.Complete)
}

// directions returns the directions to follow from an object. With --upstream, it is both.
func (g *graphCommand) directions() []graph.Direction {
	switch {
	case g.whole || g.upstream:
		return []graph.Direction{graph.Both}
	case g.owners && !g.dependents:
		return []graph.Direction{graph.ToOwners}
	case g.dependents && !g.owners:
		return []graph.Direction{graph.ToDependents}
	}
	return []graph.Direction{graph.ToOwners, graph.ToDependents}
}

// draw reads the input and builds the graph: of objects, of a namespace or of everything. The
// upstream endpoint does not filter by namespace, and includes whatever has the UID of an owner.
func (g *graphCommand) draw(c *cobra.Command, args []string, options diagnose.GraphOptions) (*report.Graph, error) {
	var doc *report.Graph
	of := func(w command.World, part *reach.OneNamespace) (rest string, err error) {
		defer command.BeginStage(c, g.streams.ErrOut, "drawing the graph").End()
		g.cluster, g.seen = w.Client, w.Snapshot
		if g.uses {
			around, err := w.Assess(c.Context(), kube.Reach{Referrers: plan.AllReferrerParts(w.Snapshot, "")})
			if err != nil {
				return "", err
			}
			options.Uses = append(plan.Uses(w.Snapshot, around), plan.Deployed(w.Snapshot)...)
		}
		if doc, err = diagnose.Graph(c.Context(), w.Snapshot, options); err != nil || part == nil {
			return "", err
		}
		if rest = part.WhyGraphDiffers(doc, options.Directions); rest == "" {
			part.AdjustGaps(doc, options.Directions)
		}
		return rest, nil
	}
	narrow := !g.upstream && !g.uses
	in, read := &g.targets.Namespaces, &g.source.Cluster.Scope
	read.References, read.Inventories, read.Monitored, g.source.Evidence = !g.uses, true, true, g.uses
	if !g.targets.Given(args) {
		in.All = in.All || g.upstream && in.One == ""
		err := g.targets.AnswerIn(c, g.streams, &g.source, narrow, func(w command.World, namespace string, part *reach.OneNamespace) (string, error) {
			options.Namespace = namespace
			rest, err := of(w, part)
			if rest == "" {
				noteNamespace(g.streams.ErrOut, w.Snapshot, namespace)
			}
			return rest, err
		})
		return doc, err
	}
	g.targets.Content, g.targets.AcceptsUnreadNamespace = true, true
	err := g.targets.Answer(c, g.streams, &g.source, args, narrow, func(w command.World, refs []object.Ref, part *reach.OneNamespace) (string, error) {
		options.Roots = refs
		if len(refs) == 1 && refs[0].Is(object.Namespace) {
			options.Namespace, options.Roots = refs[0].Name, nil
		}
		return of(w, part)
	})
	return doc, err
}

func (g *graphCommand) show(c *cobra.Command, doc *report.Graph) error {
	dot := command.As(render.GraphDOT, doc)
	if g.upstream {
		dot = command.As(render.UpstreamDOT, doc)
	}
	tree := func(out io.Writer, s render.Style) error {
		printed, err := g.printed(c, doc)
		if err != nil {
			return err
		}
		return render.GraphTree(out, s, render.Tree{Graph: doc, Printed: printed})
	}
	return g.output.Show(c, g.streams.Out, doc, tree, command.Formats{"dot": dot}, command.Drawn(command.GraphDrawing(doc)))
}

// printed returns the columns that the cluster prints for the objects of a tree, for text output.
// An interrupt is the only error.
func (g *graphCommand) printed(c *cobra.Command, doc *report.Graph) (map[types.UID]object.Printed, error) {
	if g.cluster == nil {
		return nil, nil
	}
	defer command.BeginStage(c, g.streams.ErrOut, "asking what is ready").End()
	var refs []object.Ref
	for i := range doc.Nodes {
		if ref := doc.Nodes[i].Ref; doc.Nodes[i].Observed && !ref.IsEvent() && !ref.Generated() {
			refs = append(refs, ref)
		}
	}
	printed := g.cluster.Printed(c.Context(), refs, g.seen)
	return printed, c.Context().Err()
}
