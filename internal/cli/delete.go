package cli

import (
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-gc/kubectl-gc/internal/apply"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/output"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/source"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/targets"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/writing"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// deletion is `delete`.
type deletion struct {
	streams         genericiooptions.IOStreams
	cluster         source.Source
	targets         targets.Targets
	output          output.Output
	writing         writing.Writing
	cascade         string
	wait            bool
	timeout, stall  time.Duration
	requireComplete bool
}

func newDelete(streams genericiooptions.IOStreams, config *genericclioptions.ConfigFlags) *cobra.Command {
	d := &deletion{streams: streams, cluster: source.New(config), targets: targets.Targets{Takes: true}}
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
			that takes something protected, be it with what you named.

			Exit codes: 0 as planned; 3 gone, and something is not as predicted; 5 refused,
			nothing was written; 6 deletes were sent and not all has finished.`),
		Example: templates.Examples(`
			# Delete a Deployment and follow what goes with it
			kubectl gc delete deployment/web -n shop

			# The plan, and the command that executes exactly this plan
			kubectl gc delete deployment/web -n shop --dry-run

			# A namespace: it and the PVCs in it are protected kinds, each is named
			kubectl gc delete namespace/shop --allow-protected=Namespace,PersistentVolumeClaim,PersistentVolume

			# In the foreground, for no longer than a minute
			kubectl gc delete statefulset db -n shop --cascade=foreground --timeout=1m`),
		Annotations: map[string]string{Live: "yes"},
		RunE:        func(c *cobra.Command, args []string) error { return d.run(c, args) },
	}
	f := c.Flags()
	d.cluster.Cluster.AddFlags(f)
	d.targets.AddFlags(f)
	d.output.AddFlags(f)
	d.output.AddSortFlag(f)
	d.writing.AddFlags(f)
	addCascadeFlag(f, &d.cascade)
	f.BoolVar(&d.wait, "wait", true, "Follow what was deleted until it is gone.")
	f.DurationVar(&d.timeout, "timeout", 5*time.Minute, "How long to follow it; 0 for as long as it takes.")
	f.DurationVar(&d.stall, "patience", 15*time.Second, "Ask whether anybody collects in the cluster when nothing has moved for so long.")
	f.BoolVar(&d.requireComplete, "require-complete", false, "Refuse with exit code 4 when the plan depends on something that could not be read.")
	return c
}

func (d *deletion) run(c *cobra.Command, args []string) error {
	policy := cascades[d.cascade]
	if err := d.writing.Check(c); err != nil {
		return err
	}
	if err := d.targets.Check(c, args); err != nil {
		return err
	}
	w, result, err := foretell(c, &d.cluster, d.streams, &d.targets, args, policy, plan.Options{Explore: plan.Usual, Seed: usualSeed, NoSteps: true, OnlyNear: true, Guards: d.writing.Guards()})
	if err != nil {
		return err
	}
	err = d.writing.Sure(c, args, d.streams, writing.Proposal{Verb: "delete", World: w, Result: result, Output: &d.output, RequireComplete: d.requireComplete})
	if err != nil {
		return err
	}
	return d.writing.CarryOut(c, &d.output, d.streams, func(o apply.Options) (*report.Run, error) {
		o.Wait, o.Timeout, o.Patience = d.wait, d.timeout, d.stall
		run, err := apply.Delete(c.Context(), w.Client, w.Snapshot, result, policy, o)
		if run != nil && run.State == report.NotCollected {
			run.Message += ": kubectl gc collect does it"
		}
		return run, err
	})
}
