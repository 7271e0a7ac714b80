package cli

import (
	"errors"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-gc/kubectl-gc/internal/apply"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/output"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/source"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/targets"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/usage"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/writing"
	"github.com/kubectl-gc/kubectl-gc/internal/finalizer"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// removal is the command remove-finalizer.
type removal struct {
	streams         genericiooptions.IOStreams
	source          source.Source
	targets         targets.Targets
	output          output.Output
	writing         writing.Writing
	allow           finalizer.Allow
	steps           bool
	wait            bool
	timeout, stall  time.Duration
	requireComplete bool
}

func newRemoveFinalizer(streams genericiooptions.IOStreams, config *genericclioptions.ConfigFlags) *cobra.Command {
	r := &removal{streams: streams, source: source.New(config), targets: targets.Targets{Takes: true}, output: output.Output{Own: output.PlanFormats}}
	c := &cobra.Command{
		Use:   "remove-finalizer (TYPE/NAME… | TYPE NAME… | TYPE -l SELECTOR | TYPE --all-of-kind) FINALIZER… [--from DUMP]",
		Short: "Free what is stuck, knowing what that releases",
		Long: text(`
			Remove finalizers from objects that are being deleted, knowing what that releases.

			The plan comes first: what becomes of the object, what goes with it, who should
			have removed the finalizer, and what is lost when somebody else does. You confirm
			it, and a copy of everything that is deleted or changed is kept. Each object gets one request,
			which names its uid, its version and the finalizer in its place: nothing else goes.
			If the object has changed meanwhile, it is judged once more.

			Finalizers are named one by one; there is no way to name all. Refused as a whole,
			before anything is written, unless it is unlocked: the garbage collector's own
			finalizers (--unlock=gc), what protects an object that is in use or may be
			(in-use), the clean-up of a CRD that has instances or may have (instances), the
			spec of a namespace that is not proven to be empty (content), and the last pointer
			to something outside of the cluster (leak). Objects that are not being deleted are
			always refused.

			Of a dump the plan is shown, and nothing else happens.`),
		Example: templates.Examples(`
			# What would it release?
			kubectl gc remove-finalizer configmap/orders-archive example.com/keep-archive -n payments --from examples/payments-stuck.yaml

			# Free a stuck object, and see what the cluster's own garbage collector then does
			kubectl gc remove-finalizer database/orders databases.example.com/cleanup -n payments --wait

			# All of a kind that are stuck: the list, and the command that executes it
			kubectl gc remove-finalizer databases databases.example.com/cleanup --all-of-kind -n payments --dry-run`),
		RunE: func(c *cobra.Command, args []string) error { return r.run(c, args) },
	}
	f := c.Flags()
	r.source.AddFlags(f)
	r.output.AddFlags(f)
	r.output.AddSortFlag(f)
	r.writing.Unlock, r.writing.Unlocks = r.allow.Unlock, finalizer.Unlocks()
	r.writing.AddFlags(f)
	r.targets.AddNamespaceFlags(f)
	r.targets.AddSelectorFlag(f, "Of the type, the objects with these labels that are being deleted and have the finalizer.")
	f.BoolVar(&r.targets.All, "all-of-kind", false, "Of the type, all objects that are being deleted and have the finalizer.")
	f.BoolVar(&r.steps, "steps", false, "Show the requests in their order; -o json and its like have them as well then.")
	f.BoolVar(&r.wait, "wait", false, "Follow what the cluster's own garbage collector then does, and compare it with the plan.")
	f.DurationVar(&r.timeout, "timeout", time.Minute, "With --wait: how long.")
	f.DurationVar(&r.stall, "patience", 15*time.Second, "With --wait: check for a running garbage collector when nothing has changed for this long.")
	usage.Unlist(f, "steps", "patience")
	f.BoolVar(&r.requireComplete, "require-complete", false, "Refuse with exit code 4 when the plan depends on something that could not be read.")
	return c
}

func (r *removal) run(c *cobra.Command, args []string) error {
	if err := r.check(c, args); err != nil {
		return err
	}
	r.source.Evidence = true
	r.source.Single = true
	w, err := r.source.Read(c, r.streams, &r.targets.Namespaces)
	if err != nil {
		return err
	}
	refs, names, err := r.find(c, w, args)
	switch {
	case errors.Is(err, targets.ErrNothingThere):
		r.targets.NoteNothing(r.streams.ErrOut, "remove")
		return nil
	case err != nil:
		return err
	}
	objects, err := r.choose(w, refs, names)
	if err != nil {
		return err
	}
	result, err := r.plan(c, w, objects, names)
	if err != nil {
		return err
	}
	if err := r.sure(c, args, w, result); err != nil {
		return err
	}
	return r.writing.CarryOut(c, &r.output, r.streams, func(o apply.Options) (*report.Run, error) {
		o.Wait, o.Timeout, o.Patience = r.wait, r.timeout, r.stall
		return apply.RemoveFinalizers(c.Context(), w.Client, w.Snapshot, result, r.allow, o)
	})
}
