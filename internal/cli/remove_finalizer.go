package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-gc/kubectl-gc/internal/apply"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/command"
	"github.com/kubectl-gc/kubectl-gc/internal/finalizer"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// removal is the command remove-finalizer.
type removal struct {
	streams               genericiooptions.IOStreams
	source                command.Source
	targets               targets
	output                command.Output
	writing               writing
	allow                 finalizer.Allow
	steps                 bool
	wait                  bool
	timeout, stallTimeout time.Duration
}

func newRemoveFinalizer(streams genericiooptions.IOStreams, config *genericclioptions.ConfigFlags) *cobra.Command {
	r := &removal{streams: streams, source: command.NewSource(config), targets: targets{Deletes: true}, output: command.Output{Own: command.PlanFormats}}
	c := &cobra.Command{
		Use:   "remove-finalizer (TYPE/NAME… | TYPE NAME… | TYPE -l SELECTOR | TYPE --all-of-kind) FINALIZER… [--from DUMP]",
		Short: "Free what is stuck, knowing what that releases",
		Long: text(`
			Remove finalizers from objects that are being deleted, knowing what that releases.

			The plan comes first: what becomes of the object, what goes with it, the controller
			that should have removed the finalizer, and what is lost if it does not. You confirm
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
	f.DurationVar(&r.stallTimeout, "patience", 15*time.Second, "With --wait: check for a running garbage collector when nothing has changed for this long.")
	command.Unlist(f, "steps", "patience")
	r.output.AddCompleteFlag(f, "Refuse with exit code 4 when the plan depends on something that could not be read.")
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
	case errors.Is(err, errNothingThere):
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
	if err := r.confirm(c, args, w, result); err != nil {
		return err
	}
	return r.writing.Execute(c, &r.output, r.streams, func(o apply.Options) (*report.Run, error) {
		o.Wait, o.Timeout, o.StallTimeout = r.wait, r.timeout, r.stallTimeout
		return apply.RemoveFinalizers(c.Context(), w.Client, w.Snapshot, result, r.allow, o)
	})
}

// check validates flags and arguments.
func (r *removal) check(c *cobra.Command, args []string) error {
	many := r.many()
	slashed := len(args) > 0 && strings.Contains(args[0], "/")
	fewest := 2 // TYPE/NAME FINALIZER, or TYPE FINALIZER
	if !many && !slashed {
		fewest = 3
	}
	switch {
	case len(args) == 0:
		return command.Errorf(c, "which object? Give TYPE/NAME, or TYPE with -l or --all-of-kind")
	case many && slashed:
		return command.Errorf(c, "%s is one object: leave out -l and --all-of-kind", args[0])
	case r.targets.Selector != "" && r.targets.All:
		return command.Errorf(c, "-l and --all-of-kind exclude each other")
	case !many && !slashed && (len(args) == 1 || len(args) == 2 && strings.Contains(args[1], "/")):
		return command.Errorf(c, "which %s? Give %s/NAME, -l or --all-of-kind", args[0], args[0])
	case !many && r.targets.Namespaces.All:
		return command.Errorf(c, "an object cannot be named across all namespaces: give -n, or -A with -l or --all-of-kind")
	case len(args) < fewest:
		in := ""
		if r.targets.Namespaces.One != "" {
			in = " -n " + r.targets.Namespaces.One
		}
		return command.Errorf(c, "which finalizer? Give its full name; %s shows it", command.Connection(c).Command("kubectl gc explain "+strings.Join(args, " ")+in))
	case !r.source.Live() && (r.writing.Digest != "" || r.wait):
		return command.Errorf(c, "--confirm and --wait are about a cluster: of a dump the plan is shown, and no more")
	case !r.source.Live() && r.writing.IsServerDryRun():
		return command.Errorf(c, "--dry-run=server asks an API server, and a dump has none: leave it out")
	}
	if err := r.output.CheckWrites(c, r.source.Live() && !r.writing.IsDryRun()); err != nil {
		return err
	}
	return r.writing.Check(c)
}

// many reports whether the arguments select objects instead of naming them.
func (r *removal) many() bool { return r.targets.Selector != "" || r.targets.All }

// find splits the arguments into objects and finalizers, and finds the objects. The first argument
// belongs to an object and the last is a finalizer. In between, finalizers start at the first
// argument that one of the objects has as a finalizer, or that can't name an object.
func (r *removal) find(c *cobra.Command, w command.World, args []string) (objects []object.Ref, names []string, err error) {
	first := 1
	if !r.many() && !strings.Contains(args[0], "/") {
		first = 2
	}
	if objects, err = r.targets.Find(c, w, args[:first]); err != nil {
		return nil, nil, err
	}
	for !r.many() && first < len(args)-1 && !r.isFinalizer(w, objects, args, args[first]) {
		first++
		if objects, err = r.targets.Find(c, w, args[:first]); err != nil {
			return nil, nil, err
		}
	}
	for _, name := range args[first:] {
		if name == "" || strings.ContainsAny(name, "*?[]{}, ") {
			return nil, nil, command.Errorf(c, "%q: finalizers are named one by one, without patterns", name)
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return objects, names, nil
}

// isFinalizer reports whether an argument after objects is a finalizer instead of another object.
func (r *removal) isFinalizer(w command.World, objects []object.Ref, args []string, arg string) bool {
	for _, ref := range objects {
		if has, _ := finalizer.Has(w.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name), arg); has {
			return true
		}
	}
	kind, _, slashed := strings.Cut(arg, "/")
	if !strings.Contains(args[0], "/") {
		return slashed // TYPE NAME NAME…
	}
	_, err := findResource(w.Snapshot, kind)
	return !slashed || err != nil
}

// choose returns the objects to change. A selection includes only objects that are being deleted
// and have one of the finalizers; the others are counted in a note.
func (r *removal) choose(w command.World, refs []object.Ref, names []string) ([]*object.Object, error) {
	var objects []*object.Object
	alive, without := 0, 0
	for _, ref := range refs {
		o := w.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name)
		switch {
		case !r.many():
		case len(present(o, names)) == 0:
			without++
			continue
		case !o.BeingDeleted():
			alive++
			continue
		}
		objects = append(objects, o)
	}
	var left []string
	if alive > 0 {
		left = append(left, fmt.Sprintf("%d not being deleted", alive))
	}
	if without > 0 {
		left = append(left, fmt.Sprintf("%d without the finalizer", without))
	}
	if len(left) > 0 {
		fmt.Fprintf(r.streams.ErrOut, "Left alone: %s.\n", strings.Join(left, ", "))
	}
	if len(objects) == 0 {
		return nil, fmt.Errorf("no such object is being deleted and has finalizer %s", strings.Join(names, ", "))
	}
	return objects, nil
}

// present returns the finalizers that an object has.
func present(o *object.Object, names []string) []string {
	var list []string
	for _, name := range names {
		if has, _ := finalizer.Has(o, name); has {
			list = append(list, name)
		}
	}
	return list
}

// plan simulates the removal and judges it.
func (r *removal) plan(c *cobra.Command, w command.World, objects []*object.Object, names []string) (*plan.Result, error) {
	refs := make([]object.Ref, len(objects))
	var refusals []finalizer.Refusal
	in := finalizer.In(w.Snapshot)
	for i, o := range objects {
		refs[i] = o.Ref
		asked := names
		if r.many() {
			asked = present(o, names)
		}
		refusals = append(refusals, in.Judge(o, asked, r.allow)...)
	}
	defer command.BeginStage(c, r.streams.ErrOut, "simulating the removal").End()
	result, err := w.Plan(c.Context(), plan.RemoveFinalizerSeed(names, refs...), plan.Options{
		Explore: plan.Usual, Seed: usualSeed, Record: plan.RecordOf(r.steps || r.output.PlaysSteps(), false), OnlyNear: w.IsCluster(), Guards: r.writing.Guards(),
	}, nil)
	if err != nil {
		return nil, err
	}
	result.Plan.Finalizers = finalizer.Describe(names, objects, w.Resources)
	result.Plan.Refusals = finalizer.Document(refusals)
	return result, nil
}

// manyTargets is the number of objects above which the narrow table omits some. Then the wide table
// is shown, since users can't confirm what is not listed.
const manyTargets = 100

// confirm shows the plan and returns nil if it may be executed.
func (r *removal) confirm(c *cobra.Command, args []string, w command.World, result *plan.Result) error {
	p := result.Plan
	if r.output.Format == "" && len(p.Seed.Targets) > manyTargets {
		r.output.Format = "wide"
	}
	removes := 0
	var notes []string // what is lost without the finalizers
	for _, f := range p.Finalizers {
		removes += f.Objects
		if f.Without != "" {
			notes = append(notes, fmt.Sprintf("Without finalizer %s: %s.", f.Name, f.Without))
		}
	}
	return r.writing.Approve(c, args, r.streams, proposal{
		Verb: "remove finalizers", World: w, Result: result, Output: &r.output, Steps: r.steps,
		Obstacles: append(unremovableFinalizers(p), r.protects(w, p)...), Removes: removes, Notes: notes,
		DryRun: func() ([]report.Answer, error) { return apply.TryRemoving(c.Context(), w.Client, result) },
	})
}

// unremovableFinalizers returns the finalizers that must not be removed.
func unremovableFinalizers(p *report.Plan) []report.Obstacle {
	var list []report.Obstacle
	for _, r := range p.Refusals {
		list = gather(list, report.Obstacle{
			Reason: r.Reason, Finalizer: r.Finalizer, Message: r.Message, Unlock: strings.TrimPrefix(r.LiftedBy, "--unlock="),
		}, r.Object)
	}
	return list
}

// protects returns the targets that must be left alone. They are being deleted already, so their
// kind does not protect them. Annotations of their owner or of Helm do.
func (r *removal) protects(w command.World, p *report.Plan) []report.Obstacle {
	gone := slices.Collect(apply.DeletedObjects(p))
	var list []report.Obstacle
	for _, t := range p.Seed.Targets {
		o := w.Find(t.APIVersion, t.Kind, t.Namespace, t.Name)
		if o == nil || slices.Contains(gone, t) {
			continue // checked with all other deletions
		}
		if why, protected := r.writing.Policy.Check(o); protected && why != reason.ProtectedKind {
			list = gather(list, protectedObstacle(o.Ref, why), t)
		}
	}
	return list
}
