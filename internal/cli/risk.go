package cli

import (
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-gc/kubectl-gc/internal/cli/command"
	"github.com/kubectl-gc/kubectl-gc/internal/diagnose"
	"github.com/kubectl-gc/kubectl-gc/internal/render"
)

func newRisk(streams genericiooptions.IOStreams, config *genericclioptions.ConfigFlags) *cobra.Command {
	var (
		from    = command.NewSource(config)
		out     = command.Output{Own: command.MarkdownFormat}
		options diagnose.RiskOptions
		in      command.Namespaces
	)
	c := &cobra.Command{
		Use:   "risk [--top N] [-n NAMESPACE | -A] [--from DUMP]",
		Short: "Rank objects by what a delete of each alone would take",
		Long: text(`
			Rank objects by what a delete of each alone would take, in the background, as
			kubectl deletes: by the number of data objects (PVCs, PVs, Secrets, and custom resources
			that own or stand for storage), then of workloads, then of the rest. Namespaces
			and CRDs take their content.

			Each number is that of the plan that dry-run delete shows, with what goes later.
			Objects that take nothing but themselves are left out. What a PVC holds outside of the cluster is not seen.`),
		Example: templates.Examples(`
			# What should nobody delete by mistake?
			kubectl gc risk --top 5 --from examples/cluster.yaml

			# In one namespace, itself included
			kubectl gc risk -n shop --from examples/shop.yaml`),
		Args: command.NoArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if options.Top < 1 {
				return command.Errorf(c, "--top=%d: must be 1 or more", options.Top)
			}
			if err := in.Check(c); err != nil {
				return err
			}
			options.Namespace, from.About, from.Evidence = in.One, in.List(), true
			w, err := from.Read(c, streams, nil)
			if err != nil {
				return err
			}
			noteNamespace(streams.ErrOut, w.Snapshot, options.Namespace)
			if options.Health, err = w.AssessAll(c.Context()); err != nil {
				return err
			}
			ranking := command.BeginStage(c, streams.ErrOut, "simulating the delete of each object")
			r, err := diagnose.Rank(c.Context(), w.Snapshot, options)
			ranking.End()
			if err != nil {
				return err
			}
			if err := out.Show(c, streams.Out, r, command.As(render.RiskTable, r), command.Markdown(render.RiskMarkdown, r)); err != nil {
				return err
			}
			return out.UnlessComplete(r.Complete)
		},
	}
	f := c.Flags()
	from.AddFlags(f)
	out.AddFlags(f)
	out.AddSortFlag(f)
	f.IntVar(&options.Top, "top", 10, "List so many objects.")
	in.AddFlags(f, "Rank only the objects of this namespace, and itself.", "Rank all objects, which is the default.")
	out.AddCompleteFlag(f, "Exit with 4 when the answer depends on something that could not be read or not tried.")
	command.Unlist(f, "require-complete")
	return c
}
