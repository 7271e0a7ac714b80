package cli

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-gc/kubectl-gc/internal/apply"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/output"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/source"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/targets"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/usage"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/writing"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/render"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// deletion is the command delete, and dry-run delete, which ends before the confirmation.
type deletion struct {
	streams         genericiooptions.IOStreams
	source          source.Source
	targets         targets.Targets
	output          output.Output
	writing         writing.Writing
	asked           deleteRequest
	steps, reads    bool
	explore         int
	exploreSeed     uint64
	failOn          failOn
	requireComplete bool

	wait           bool
	timeout, stall time.Duration
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
	f.DurationVar(&d.stall, "patience", 15*time.Second, "Check for a running garbage collector when nothing has changed for this long.")
	usage.Unlist(f, "patience", "steps", "fail-on", "require-complete")
	return c
}

func newDeletion(streams genericiooptions.IOStreams, config *genericclioptions.ConfigFlags) *deletion {
	return &deletion{
		streams: streams, source: source.New(config), targets: targets.Targets{Takes: true}, output: output.Output{Own: output.PlanFormats},
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
	f.BoolVar(&d.requireComplete, "require-complete", false, "Exit with 4 when the answer depends on something that could not be read; nothing is deleted.")
	usage.Unlist(f, "reads", "explore", "seed")
}

func (d *deletion) run(c *cobra.Command, args []string) error {
	if err := d.check(c, args); err != nil {
		return err
	}
	w, result, err := d.foretell(c, args)
	switch {
	case errors.Is(err, targets.ErrNothingThere):
		d.targets.NoteNothing(d.streams.ErrOut, "delete")
		return nil
	case err != nil:
		return err
	}
	d.noteDeleted(w, result.Plan)
	err = d.writing.Sure(c, args, d.streams, writing.Proposal{
		Verb: "delete", World: w, Result: result, Output: &d.output, Steps: d.steps, RequireComplete: d.requireComplete,
		FailOn: d.failOn.verdict,
		Rehearse: func() ([]report.Answer, error) {
			return apply.TryDelete(c.Context(), w.Client, w.Snapshot, result, d.asked.policy)
		},
	})
	if err != nil {
		return err
	}
	return d.writing.CarryOut(c, &d.output, d.streams, func(o apply.Options) (*report.Run, error) {
		o.Wait, o.Timeout, o.Patience = d.wait, d.timeout, d.stall
		run, err := apply.Delete(c.Context(), w.Client, w.Snapshot, result, d.asked.policy, o)
		if run != nil && run.State == report.NotCollected {
			run.Message += ": kubectl gc collect does it"
		}
		return run, err
	})
}

// noteDeleted prints a note if a target is being deleted already: another delete would not help.
func (d *deletion) noteDeleted(w source.World, p *report.Plan) {
	for _, t := range p.Seed.Targets {
		if o := w.Find(t.APIVersion, t.Kind, t.Namespace, t.Name); o != nil && o.BeingDeleted() {
			holds := report.Act{Action: report.Explain, Target: t}
			fmt.Fprintln(d.streams.ErrOut, render.Escape("note: "+t.ShortName()+" is being deleted already; what holds it: "+holds.CommandLine()))
			return
		}
	}
}

// check validates the flags.
func (d *deletion) check(c *cobra.Command, args []string) error {
	if err := d.failOn.parse(); err != nil {
		return usage.Errorf(c, "%w", err)
	}
	if d.explore < 0 && c.Flags().Changed("explore") {
		return usage.Errorf(c, "--explore=%d: must not be negative", d.explore)
	}
	if d.source.UsesStdin() && d.targets.Files.UsesStdin() {
		return usage.Errorf(c, "--from - and -f - cannot both read standard input")
	}
	if err := d.asked.check(c, d.streams.ErrOut); err != nil {
		return err
	}
	if err := d.writing.Check(c); err != nil {
		return err
	}
	if err := d.output.CheckWrites(c, !d.writing.OnlyShows()); err != nil {
		return err
	}
	return d.targets.Check(c, args)
}
