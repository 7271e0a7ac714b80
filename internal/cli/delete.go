package cli

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-gc/kubectl-gc/internal/apply"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/command"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/reach"
	"github.com/kubectl-gc/kubectl-gc/internal/render"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// deletion is the command delete, and dry-run delete, which ends before the confirmation.
type deletion struct {
	streams      genericiooptions.IOStreams
	source       command.Source
	targets      targets
	output       command.Output
	writing      writing
	asked        deleteRequest
	steps, reads bool
	explore      int
	exploreSeed  uint64
	collector    string // of dry-run delete; empty for delete
	failOn       failOn
	// keepHistory is --keep-history of helm uninstall.
	keepHistory bool

	wait                  bool
	timeout, stallTimeout time.Duration
}

func newDelete(streams genericiooptions.IOStreams, config *genericclioptions.ConfigFlags) *cobra.Command {
	d := newDeletion(streams, config)
	c := &cobra.Command{
		Use:   "delete (TYPE NAME… | TYPE/NAME… | -f MANIFEST | TYPE -l SELECTOR | TYPE --all)",
		Short: "Delete, knowing what goes with it, and see that it does",
		Long: text(`
			Delete objects of a cluster, knowing what goes with them, and see that it does.

			The plan comes first: what dry-run delete shows. You confirm it, a copy of all that
			goes or changes is kept, and one DELETE is sent for each object that you named, for
			exactly the version that the plan rests on. The cluster does the rest. It is
			followed to its end and compared with the plan, object by object.

			Refused as a whole, before anything is written: a plan above --max-deletes, and one
			that takes something protected, be it with what you named, unless --unlock names it.

			Exit codes: 0 as planned; 3 gone, and something is not as predicted; 5 refused,
			nothing was written; 6 deletes were sent and not all has finished.`),
		Example: templates.Examples(`
			# Delete a Deployment and follow what goes with it
			kubectl gc delete deployment/web -n shop

			# The plan, and the command that executes exactly this plan
			kubectl gc delete deployment/web -n shop --dry-run

			# A namespace, with the PVCs in it and their volumes: all of these are protected
			kubectl gc delete namespace/shop --unlock=namespace,pvc,pv

			# In the foreground, for no longer than a minute
			kubectl gc delete statefulset db -n shop --cascade=foreground --timeout=1m`),
		Annotations: map[string]string{Live: "yes"},
		RunE:        func(c *cobra.Command, args []string) error { return d.run(c, args) },
	}
	f := c.Flags()
	d.source.Cluster.AddFlags(f)
	d.addFlags(f)
	d.writing.AddFlags(f)
	f.BoolVar(&d.wait, "wait", true, "Follow what was deleted until it is gone.")
	f.DurationVar(&d.timeout, "timeout", 5*time.Minute, "How long to follow it; 0 for as long as it takes.")
	f.DurationVar(&d.stallTimeout, "patience", 15*time.Second, "Check for a running garbage collector when nothing has changed for this long.")
	command.Unlist(f, "patience", "steps", "fail-on", "require-complete")
	return c
}

func newDeletion(streams genericiooptions.IOStreams, config *genericclioptions.ConfigFlags) *deletion {
	return &deletion{
		streams: streams, source: command.NewSource(config), targets: targets{Deletes: true}, output: command.Output{Own: command.PlanFormats},
	}
}

// addFlags adds the flags that select what is deleted, how, and how it is shown.
func (d *deletion) addFlags(f *pflag.FlagSet) {
	d.targets.AddFlags(f)
	f.BoolVar(&d.targets.IgnoreMissing, "ignore-not-found", false, "Pass over objects that are not there; when none is, there is nothing to do.")
	d.output.AddFlags(f)
	d.output.AddSortFlag(f)
	d.asked.addFlags(f)
	f.BoolVar(&d.steps, "steps", false, "Show the requests in their order; -o json and its like have them as well then.")
	f.BoolVar(&d.reads, "reads", false, "Count reads among the steps.")
	f.IntVar(&d.explore, "explore", plan.Usual, "Try this many other schedules and mark what depends on timing; 0 for none. By default a few, unless the delete can reach more than 2,000 objects.")
	f.Uint64Var(&d.exploreSeed, "seed", usualSeed, "Where the schedules of --explore start.")
	f.StringSliceVar(&d.failOn.conditions, "fail-on", nil, failOnUsage+" Nothing is deleted then.")
	d.output.AddCompleteFlag(f, "Exit with 4 when the answer depends on something that could not be read; nothing is deleted.")
	command.Unlist(f, "reads", "explore", "seed")
}

func (d *deletion) run(c *cobra.Command, args []string) error {
	if err := d.check(c, args); err != nil {
		return err
	}
	w, result, err := d.plan(c, args)
	switch {
	case errors.Is(err, errNothingThere):
		d.targets.NoteNothing(d.streams.ErrOut, "delete")
		return nil
	case err != nil:
		return err
	}
	d.noteDeleted(c, w, result.Plan)
	err = d.writing.Approve(c, args, d.streams, proposal{
		Verb: "delete", World: w, Result: result, Output: &d.output, Steps: d.steps,
		FailOn: d.failOn.verdict,
		DryRun: func() ([]report.Answer, error) {
			return apply.TryDelete(c.Context(), w.Client, w.Snapshot, result, d.asked.policy)
		},
	})
	if err != nil {
		return err
	}
	return d.writing.Execute(c, &d.output, d.streams, func(o apply.Options) (*report.Run, error) {
		o.Wait, o.Timeout, o.StallTimeout = d.wait, d.timeout, d.stallTimeout
		return apply.Delete(c.Context(), w.Client, w.Snapshot, result, d.asked.policy, o)
	})
}

// noteDeleted prints a note if a target is being deleted already: another delete would not help.
func (d *deletion) noteDeleted(c *cobra.Command, w command.World, p *report.Plan) {
	for _, t := range p.Seed.Targets {
		if o := w.Find(t.APIVersion, t.Kind, t.Namespace, t.Name); o != nil && o.BeingDeleted() {
			holds := report.Act{Action: report.Explain, Target: t}
			fmt.Fprintln(d.streams.ErrOut, render.Escape("note: "+t.ShortName()+" is being deleted already; what holds it: "+command.Connection(c).Command(holds.CommandLine())))
			return
		}
	}
}

// check validates the flags.
func (d *deletion) check(c *cobra.Command, args []string) error {
	if err := d.failOn.parse(); err != nil {
		return command.Errorf(c, "%w", err)
	}
	if d.explore < 0 && c.Flags().Changed("explore") {
		return command.Errorf(c, "--explore=%d: must not be negative", d.explore)
	}
	if d.keepHistory && !namesRelease(args) {
		return command.Errorf(c, "--keep-history is about a release: give helm/NAME")
	}
	if d.source.UsesStdin() && d.targets.Files.UsesStdin() {
		return command.Errorf(c, "--from - and -f - cannot both read standard input")
	}
	if err := d.asked.check(c, d.streams.ErrOut); err != nil {
		return err
	}
	if err := d.writing.Check(c); err != nil {
		return err
	}
	if err := d.output.CheckWrites(c, !d.writing.IsDryRun()); err != nil {
		return err
	}
	return d.targets.Check(c, args)
}

// deleteRequest are the options of a DELETE, from the flags of kubectl delete.
type deleteRequest struct {
	cascade string
	grace   int64
	now     bool
	force   bool
	// policy and period are the results of check. A nil period keeps the grace period of each pod.
	policy engine.Policy
	period *int64
}

// cascades maps the values of --cascade to propagation policies.
var cascades = map[string]engine.Policy{
	"background": engine.Background, "foreground": engine.ForegroundPolicy, "orphan": engine.OrphanPolicy,
}

func (r *deleteRequest) addFlags(f *pflag.FlagSet) {
	cascade := command.AddChoice(f, &r.cascade, "cascade", "background", "The propagation policy: background, foreground or orphan.", "background", "foreground", "orphan")
	cascade.NoOptDefVal = "background"
	cascade.Value.(*command.Choice).Old = []string{"true", "false"} // as kubectl, with its warning
	f.Int64Var(&r.grace, "grace-period", -1, "Seconds that pods get to end; negative for their own. Without --force 0 is 1.")
	f.BoolVar(&r.now, "now", false, "The same as --grace-period=1.")
	f.BoolVar(&r.force, "force", false, "A grace period of 0: pods vanish from the API while their containers may still run.")
}

// check validates the flags as kubectl does, with its warnings.
//
// Upstream: kubectl/pkg/cmd/delete/delete_flags.go parseCascadingFlag.
// Upstream: kubectl/pkg/cmd/delete/delete.go DeleteOptions.Complete, DeleteOptions.Validate.
func (r *deleteRequest) check(c *cobra.Command, errOut io.Writer) error {
	if instead, old := map[string]string{"true": "background", "false": "orphan"}[r.cascade]; old {
		fmt.Fprintf(errOut, "warning: --cascade=%s is deprecated (boolean value) and can be replaced with --cascade=%s.\n", r.cascade, instead)
		r.cascade = instead
	}
	r.policy = cascades[r.cascade]
	given := c.Flags().Changed("grace-period") && r.grace >= 0
	switch {
	case r.now && c.Flags().Changed("grace-period"):
		return command.Errorf(c, "--now and --grace-period cannot be given together")
	case r.force && (r.now || given && r.grace > 0):
		return command.Errorf(c, "--force and a grace period above 0 cannot be given together")
	case r.now || given && r.grace == 0 && !r.force:
		r.period = new(int64(1)) // 0 without --force is 1, as for kubectl
	case given:
		r.period = &r.grace
	case r.force:
		r.period = new(int64(0))
	}
	if r.force {
		fmt.Fprintln(errOut, "warning: --force does not wait until containers have stopped: a pod that is gone from the API may run on, and write to its volumes at the same time as the pod that replaces it.")
	}
	return nil
}

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
	d.writing.SetDryRun()
	d.targets.AcceptsUnreadNamespace = true
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

			# What would helm uninstall delete, and what would it leave?
			kubectl gc dry-run delete helm/web -n blog --treat-missing-as-absent --from examples/helm.yaml

			# Fail a pipeline when a Secret would go or something would get stuck
			kubectl gc dry-run delete statefulset --all -n shop --fail-on=blocked,kind=Secret --from examples/shop.yaml

			# What a reviewer should see
			kubectl gc dry-run delete deployment/web -n shop -o markdown --from examples/shop.yaml

			# What goes once the control plane of this dump has been started again?
			kubectl gc dry-run delete deployment/web -n shop --garbage-collector=restarted --from examples/shop.yaml

			# Does the end depend on timing? Try 20 schedules
			kubectl gc dry-run delete deployment/web -n shop --cascade=orphan --explore=20 --from examples/shop.yaml`),
		RunE: func(c *cobra.Command, args []string) error { return d.run(c, args) },
	}
	f := c.Flags()
	d.source.AddFlags(f)
	d.addFlags(f)
	// delete has no such flag: there the collector of the cluster does the work, in whatever state
	// it is, and a guard must not rest on an assumption about it.
	command.AddChoice(f, &d.collector, "garbage-collector", "auto",
		"The garbage collector to assume: running for long, restarted and so without memory, or stopped. auto: what the cluster or dump shows.",
		"auto", "running", "restarted", "stopped")
	f.BoolVar(&d.keepHistory, "keep-history", false, "Of helm/NAME: as helm uninstall --keep-history, which keeps the records of the release.")
	d.writing.AddGuardFlags(f)
	command.Unlist(f, "max-deletes", "keep-history")
	return c
}

// plan simulates a delete, and returns the data that the plan is based on. For a background delete,
// one namespace may be sufficient.
func (d *deletion) plan(c *cobra.Command, args []string) (of command.World, result *plan.Result, err error) {
	d.source.Evidence = true
	steps := d.steps || d.output.PlaysSteps()
	o := plan.Options{
		Explore: d.explore, Seed: d.exploreSeed, Record: plan.RecordOf(steps, d.reads), Collector: collectorStates[d.collector],
		Guards: d.writing.Guards(),
	}
	if !steps && d.writing.IsDryRun() && !d.writing.IsServerDryRun() {
		o.Record = plan.RecordNothing // nobody sees or sends the requests
	}
	mayBeEnough := d.asked.policy == engine.Background && o.Explore <= 0
	err = d.targets.Answer(c, d.streams, &d.source, args, mayBeEnough, func(w command.World, refs []object.Ref, part *reach.OneNamespace) (string, error) {
		stage := "simulating the delete"
		if o.Explore > 0 {
			stage += fmt.Sprintf(", and %d other schedules", o.Explore)
		}
		defer command.BeginStage(c, d.streams.ErrOut, stage).End()
		of = w
		o.OnlyNear = w.IsCluster()
		rest := ""
		seed, err := d.seed(w, refs)
		if err != nil {
			return "", err
		}
		result, err = w.Plan(c.Context(), seed, o, func(p *report.Plan) bool {
			if part != nil {
				rest = part.WhyPlanDiffers(p)
			}
			return rest != ""
		})
		return rest, err
	})
	return of, result, err
}

// seed returns the request: the deletes of the objects, or those of Helm for a release.
func (d *deletion) seed(w command.World, refs []object.Ref) (seed plan.Seed, err error) {
	if r := d.targets.Release; r != nil {
		seed, err = plan.UninstallSeed(w.Snapshot, d.asked.policy, r.Records, r.Facts, d.keepHistory)
	} else {
		seed = plan.DeleteSeed(d.asked.policy, refs...)
	}
	seed.Grace = d.asked.period
	return seed, err
}

// collectorStates maps the values of --garbage-collector to states. auto is none: the state follows
// from evidence.
var collectorStates = map[string]report.CollectorState{
	"running": report.CollectorRunning, "restarted": report.CollectorRestarted, "stopped": report.CollectorStopped,
}

// usualSeed is the seed of schedules that are tried by default, so that a run and its dry run try
// the same ones.
const usualSeed = 1
