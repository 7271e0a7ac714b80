package cli

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-gc/kubectl-gc/internal/cli/exit"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/output"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/progress"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/source"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/targets"
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
	c.AddCommand(newDryRunDelete(streams, config), newDryRunUnserve(streams, config))
	return c
}

// dryRunDelete is `dry-run delete`.
type dryRunDelete struct {
	streams         genericiooptions.IOStreams
	source          source.Source
	targets         targets.Targets
	output          output.Output
	cascade         string
	steps, reads    bool
	explore         int
	exploreSeed     uint64
	failOn          failOn
	requireComplete bool
}

func newDryRunDelete(streams genericiooptions.IOStreams, config *genericclioptions.ConfigFlags) *cobra.Command {
	d := &dryRunDelete{streams: streams, source: source.New(config), targets: targets.Targets{Takes: true}, output: output.Output{Own: output.PlanFormats}}
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

			-o svg and -o mermaid draw it, -o markdown is for a pull request.`),
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
	d.targets.AddFlags(f)
	d.output.AddFlags(f)
	d.output.AddSortFlag(f)
	addCascadeFlag(f, &d.cascade)
	f.BoolVar(&d.steps, "steps", false, "Show the requests in their order.")
	f.BoolVar(&d.reads, "reads", false, "Count reads among the steps.")
	f.IntVar(&d.explore, "explore", plan.Usual, "Try this many other schedules and mark what depends on timing; 0 for none. By default a few, unless the delete can reach more than 2,000 objects.")
	f.Uint64Var(&d.exploreSeed, "seed", usualSeed, "Where the schedules of --explore start.")
	f.StringSliceVar(&d.failOn.conditions, "fail-on", nil, failOnUsage)
	f.BoolVar(&d.requireComplete, "require-complete", false, "Exit with 4 when the answer depends on something that could not be read.")
	return c
}

func (d *dryRunDelete) run(c *cobra.Command, args []string) error {
	if err := d.failOn.parse(); err != nil {
		return usage.Errorf(c, "%w", err)
	}
	if d.explore < 0 && c.Flags().Changed("explore") {
		return usage.Errorf(c, "--explore=%d: must not be negative", d.explore)
	}
	if d.source.UsesStdin() && d.targets.Files.UsesStdin() {
		return usage.Errorf(c, "--from - and -f - cannot both read standard input")
	}
	if err := d.targets.Check(c, args); err != nil {
		return err
	}
	w, result, err := foretell(c, &d.source, d.streams, &d.targets, args, cascades[d.cascade], plan.Options{
		Explore: d.explore, Seed: d.exploreSeed, Reads: d.reads, NoSteps: d.output.ForPeople() && !d.steps,
	})
	if err != nil {
		return err
	}
	if err := d.output.ShowPlan(c, d.streams.Out, w.Snapshot, result.Plan, d.steps); err != nil {
		return err
	}
	if err := d.failOn.verdict(result.Plan); err != nil {
		return err
	}
	return exit.UnlessComplete(d.requireComplete, result.Plan.Complete)
}

// foretell plans a delete, and returns the world that the plan is of. Of a delete in the
// background one namespace may say everything.
func foretell(c *cobra.Command, from *source.Source, streams genericiooptions.IOStreams, t *targets.Targets, args []string, policy engine.Policy, o plan.Options) (of source.World, result *plan.Result, err error) {
	from.Evidence = true
	mayBeEnough := policy == engine.Background && o.Explore <= 0
	err = t.Answer(c, streams, from, args, mayBeEnough, func(w source.World, refs []object.Ref, part *impact.OneNamespace) (string, error) {
		simulating := progress.Begin(c, streams.ErrOut, simulated(o.Explore))
		defer simulating.End()
		of = w
		rest := ""
		var err error
		result, err = w.Plan(c.Context(), plan.DeleteSeed(policy, refs...), o, func(p *report.Plan) bool {
			if part != nil {
				rest = part.Plan(p)
			}
			return rest != ""
		})
		return rest, err
	})
	return of, result, err
}

// usualSeed is where the schedules start that are tried without being asked to: a run and
// its dry run try the same.
const usualSeed = 1

// simulated is the text of a stage that simulates.
func simulated(schedules int) string {
	if schedules <= 0 {
		return "simulating the delete"
	}
	return fmt.Sprintf("simulating the delete, and %d other schedules", schedules)
}

// cascades are the policies by the values of --cascade.
var cascades = map[string]engine.Policy{
	"background": engine.Background, "foreground": engine.ForegroundPolicy, "orphan": engine.OrphanPolicy,
}

func addCascadeFlag(f *pflag.FlagSet, cascade *string) {
	usage.AddChoice(f, cascade, "cascade", "background", "The propagation policy: background, foreground or orphan.", "background", "foreground", "orphan")
}
