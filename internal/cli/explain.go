package cli

import (
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-gc/kubectl-gc/internal/explain"
	"github.com/kubectl-gc/kubectl-gc/internal/narrow"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/render"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

func newExplain(streams genericiooptions.IOStreams, config *genericclioptions.ConfigFlags) *cobra.Command {
	var (
		from            = newSource(config)
		which           targets
		out             output
		requireComplete bool
	)
	c := &cobra.Command{
		Use:   "explain (TYPE NAME | TYPE/NAME) [--from DUMP]",
		Short: "Say why an object stays, why it goes, or on whom it waits",
		Long: text(`
			Say why an object stays, why it goes, or on whom it waits: the rule that decides,
			what each owner reference counts as and on what evidence, the dependents and
			finalizers, the chain to the owner that keeps it or to what is absent, which
			single deletes would take it, and what would change the verdict.`),
		Example: templates.Examples(`
			# Why is this pod here?
			kubectl gc explain pod/web-66db7fc774-bt7b5 -n shop --from examples/shop.yaml

			# Why does this database not go away?
			kubectl gc explain database/orders -n payments --from examples/payments-stuck.yaml`),
		RunE: func(c *cobra.Command, args []string) error {
			var e *report.Explanation
			err := from.answer(c, streams, &which, args, true, func(w world, refs []object.Ref, part *narrow.Part) (string, error) {
				if len(refs) > 1 {
					return "", usageErrorf(c, "explain is about one object, %d were named", len(refs))
				}
				var err error
				if e, err = explain.Object(c.Context(), w.Snapshot, refs[0]); err != nil || part == nil {
					return "", err
				}
				return part.Explanation(e), nil
			})
			if err != nil {
				return err
			}
			if done, err := out.print(c, streams.Out, e); done || err != nil {
				return err
			}
			style, err := out.style(c, streams.Out)
			if err != nil {
				return err
			}
			if err := render.ExplanationText(streams.Out, style, e); err != nil {
				return err
			}
			return incomplete(requireComplete, e.Complete)
		},
	}
	from.addFlags(c.Flags())
	which.addFlags(c.Flags())
	out.addFlags(c.Flags())
	c.Flags().BoolVar(&requireComplete, "require-complete", false, "Exit with 4 when the answer rests on something that was not seen.")
	return c
}
