package cli

import (
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-gc/kubectl-gc/internal/cli/progress"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/source"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/usage"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/impact"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

func newDryRun(streams genericiooptions.IOStreams, config *genericclioptions.ConfigFlags) *cobra.Command {
	c := group(&cobra.Command{
		Use:   "dry-run",
		Short: "Show what a command would do, without sending anything",
	})
	c.AddCommand(newDryRunDelete(streams, config))
	return c
}

func newDryRunDelete(streams genericiooptions.IOStreams, config *genericclioptions.ConfigFlags) *cobra.Command {
	d := newDeletion(streams, config)
	d.writing.OnlyShow()
	d.targets.Supposes = true
	c := &cobra.Command{
		Use:   "delete (TYPE NAME… | TYPE/NAME… | -f MANIFEST | TYPE -l SELECTOR | TYPE --all) [--from DUMP]",
		Short: "Show what a delete would take, orphan, keep, or get stuck on",
		Long: text(`
			Show what a delete would take, orphan, keep, or get stuck on.

			The API server and the garbage collector of Kubernetes are run over a copy of the
			cluster or the dump, request by request. No write is sent anywhere, not even a dry
			one.

			The delete of a namespace, of a CustomResourceDefinition, or of much starts with counts
			by kind and namespace, and with the data that goes: PVCs with the reclaim policy of
			their volumes, Secrets, custom resources.

			What was garbage before the delete is listed apart. An object whose outcome depends on
			something that was not seen is Unknown, never Deleted.

			-o svg and -o mermaid draw it, -o markdown is for a pull request. -o json has the requests
			with --steps alone; -o jsonl has a line for each object.`),
		Example: templates.Examples(`
			# What goes with the Deployment web?
			kubectl gc dry-run delete deployment/web -n shop --from examples/shop.yaml

			# Request by request, deleted in the foreground
			kubectl gc dry-run delete deployment/web -n shop --cascade=foreground --steps --from examples/shop.yaml

			# Fail a pipeline when PVCs would go or something would get stuck
			kubectl gc dry-run delete statefulset --all -n shop --fail-on=blocked,kind=Secret --from examples/shop.yaml

			# What a reviewer should see
			kubectl gc dry-run delete deployment/web -n shop -o markdown --from examples/shop.yaml

			# Does the end depend on timing? Try 20 schedules
			kubectl gc dry-run delete deployment/web -n shop --cascade=orphan --explore=20 --from examples/shop.yaml`),
		RunE: func(c *cobra.Command, args []string) error { return d.run(c, args) },
	}
	f := c.Flags()
	d.source.AddFlags(f)
	d.addFlags(f)
	d.writing.AddGuardFlags(f)
	usage.Unlist(f, "max-deletes")
	return c
}

// foretell plans a delete, and returns the data that the plan is based on. For a background delete,
// one namespace may be sufficient.
func (d *deletion) foretell(c *cobra.Command, args []string) (of source.World, result *plan.Result, err error) {
	d.source.Evidence = true
	steps := d.steps || d.output.PlaysSteps()
	o := plan.Options{
		Explore: d.explore, Seed: d.exploreSeed, Reads: d.reads, NoSteps: !steps,
		Unrecorded: !steps && d.writing.OnlyShows() && !d.writing.Rehearses(), Guards: d.writing.Guards(),
	}
	mayBeEnough := d.asked.policy == engine.Background && o.Explore <= 0
	err = d.targets.Answer(c, d.streams, &d.source, args, mayBeEnough, func(w source.World, refs []object.Ref, part *impact.OneNamespace) (string, error) {
		simulating := progress.Begin(c, d.streams.ErrOut, simulated(o.Explore))
		defer simulating.End()
		of = w
		o.OnlyNear = w.IsCluster()
		rest := ""
		seed := plan.DeleteSeed(d.asked.policy, refs...)
		seed.Grace = d.asked.period
		var err error
		result, err = w.Plan(c.Context(), seed, o, func(p *report.Plan) bool {
			if part != nil {
				rest = part.Plan(p)
			}
			return rest != ""
		})
		return rest, err
	})
	return of, result, err
}

// usualSeed is the seed of schedules that are tried by default, so that a run and its dry run try
// the same ones.
const usualSeed = 1

// simulated returns the progress text of a simulation.
func simulated(schedules int) string {
	if schedules <= 0 {
		return "simulating the delete"
	}
	return fmt.Sprintf("simulating the delete, and %d other schedules", schedules)
}
