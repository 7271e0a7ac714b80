package cli

import (
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-gc/kubectl-gc/internal/diagnose/check"
	"github.com/kubectl-gc/kubectl-gc/internal/render"
)

func newCheck(streams genericiooptions.IOStreams, config *genericclioptions.ConfigFlags) *cobra.Command {
	var (
		from            = newSource(config)
		out             = output{own: markdownFormat}
		in              namespaces
		requireComplete bool
	)
	c := &cobra.Command{
		Use:   "check [-n NAMESPACE | -A] [--from DUMP]",
		Short: "List owner references that are wrong or put their object at risk",
		Long: text(`
			List owner references that are wrong or put their object at risk: owners that do
			not exist, whose uid, kind, name, version or namespace does not match, that the
			API server will refuse, cycles, two controllers, and references exposed when a
			version stops being served.

			What was not seen is a warning, never an error. Exits with 3 when
			there is an error.`),
		Example: templates.Examples(`
			kubectl gc check --from examples/cluster.yaml`),
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := in.check(c); err != nil {
				return err
			}
			from.about = in.list()
			w, err := from.read(c, streams, nil)
			if err != nil {
				return err
			}
			noteNamespace(streams.ErrOut, w.Snapshot, in.one)
			judging := begin(c, streams.ErrOut, "judging owner references")
			d, err := check.References(c.Context(), w.Snapshot, in.one)
			judging.end()
			if err != nil {
				return err
			}
			if err := out.show(c, streams.Out, d, as(render.DiagnosisTable, d), markdown(render.DiagnosisMarkdown, d)); err != nil {
				return err
			}
			if d.Summary.Errors > 0 {
				return &exit{code: exitFindings}
			}
			return incomplete(requireComplete, d.Complete)
		},
	}
	from.addFlags(c.Flags())
	out.addFlags(c.Flags())
	out.addSortFlag(c.Flags())
	f := c.Flags()
	in.addFlags(f, "Check only the references of the objects of this namespace.", "Check all references, which is the default.")
	f.BoolVar(&requireComplete, "require-complete", false, "Exit with 4 when a reference could not be judged, or not everything could be read.")
	return c
}
