package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/internal/cli/exit"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/progress"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/source"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/usage"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/writing"
	"github.com/kubectl-gc/kubectl-gc/internal/finalizer"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// check reads the arguments: what is meant, and which finalizers.
func (r *removal) check(c *cobra.Command, args []string) (names []string, err error) {
	many := r.targets.Selector != "" || r.targets.All
	switch {
	case len(args) == 0:
		return nil, usage.Errorf(c, "which object? Give TYPE/NAME, or TYPE with -l or --all-of-kind")
	case many && strings.Contains(args[0], "/"):
		return nil, usage.Errorf(c, "%s is one object: no -l or --all-of-kind beside it", args[0])
	case r.targets.Selector != "" && r.targets.All:
		return nil, usage.Errorf(c, "-l and --all-of-kind exclude each other")
	case !many && !strings.Contains(args[0], "/"):
		return nil, usage.Errorf(c, "which %s? Give %s/NAME, -l or --all-of-kind", args[0], args[0])
	case !many && r.targets.Namespaces.All:
		return nil, usage.Errorf(c, "an object cannot be named across all namespaces: give -n, or -A with -l or --all-of-kind")
	case len(args) == 1:
		return nil, usage.Errorf(c, "which finalizers? Each is named in full; kubectl gc explain shows them")
	case !r.source.Live() && (r.writing.Digest != "" || r.wait):
		return nil, usage.Errorf(c, "--confirm and --wait are about a cluster: of a dump the plan is shown, and no more")
	}
	for _, name := range args[1:] {
		if name == "" || strings.ContainsAny(name, "*?[]{}, ") {
			return nil, usage.Errorf(c, "%q: finalizers are named one by one, without patterns", name)
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if err := r.output.CheckWrites(c, r.source.Live() && !r.writing.OnlyShows()); err != nil {
		return nil, err
	}
	return names, r.writing.Check(c)
}

// choose finds the objects. Of a selection those are meant that are stuck on one of
// the finalizers; how many others there are is said.
func (r *removal) choose(w source.World, refs []object.Ref, names []string) ([]*object.Object, error) {
	var objects []*object.Object
	alive, without := 0, 0
	for _, ref := range refs {
		o := w.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name)
		switch {
		case r.targets.Selector == "" && !r.targets.All:
		case len(present(o, names)) == 0:
			without++
			continue
		case !o.BeingDeleted():
			alive++
			continue
		}
		objects = append(objects, o)
	}
	if alive+without > 0 {
		fmt.Fprintf(r.streams.ErrOut, "Left alone: %d that are not being deleted, %d without the finalizer.\n", alive, without)
	}
	if len(objects) == 0 {
		return nil, fmt.Errorf("no such object is being deleted and has finalizer %s", strings.Join(names, ", "))
	}
	return objects, nil
}

// present are the finalizers that an object has.
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
func (r *removal) plan(c *cobra.Command, w source.World, objects []*object.Object, names []string) (*plan.Result, error) {
	refs := make([]object.Ref, len(objects))
	var refusals []finalizer.Refusal
	for i, o := range objects {
		refs[i] = o.Ref
		asked := names
		if len(objects) > 1 || r.targets.All || r.targets.Selector != "" {
			asked = present(o, names)
		}
		refusals = append(refusals, finalizer.Judge(w.Snapshot, o, asked, r.allow)...)
	}
	defer progress.Begin(c, r.streams.ErrOut, "simulating the removal").End()
	result, err := w.Plan(c.Context(), plan.RemoveFinalizerSeed(names, refs...), plan.Options{
		Explore: plan.Usual, Seed: usualSeed, NoSteps: r.output.ForPeople() && !r.steps, OnlyNear: r.source.Live(), Guards: append(r.writing.Guards(), r.allowed()...),
	}, nil)
	if err != nil {
		return nil, err
	}
	result.Plan.Finalizers = finalizer.Describe(names, objects, w.Resources)
	result.Plan.Refusals = finalizer.Document(refusals)
	return result, nil
}

// manyTargets is the number of objects above which the narrow table does not list
// every one of them. Nobody says yes to what is not listed.
const manyTargets = 100

// sure shows the plan and returns nil if it may be carried out, or if it was only to
// be shown.
func (r *removal) sure(c *cobra.Command, args []string, w source.World, result *plan.Result) error {
	p := result.Plan
	if r.output.Format == "" && len(p.Seed.Targets) > manyTargets {
		r.output.Format = "wide"
	}
	refused := refusalOfFinalizers(p)
	if w.Client != nil && refused == nil {
		return r.writing.Sure(c, args, r.streams, writing.Proposal{
			Verb: "remove finalizers", World: w, Result: result, Output: &r.output, Steps: r.steps, RequireComplete: r.requireComplete,
			Refused: r.protects(w, p), Notes: warnings(p),
		})
	}
	if refused != nil {
		p.Digest = "" // nobody can confirm it
	}
	if err := r.output.ShowPlan(c, r.streams.Out, w.Snapshot, p, r.steps); err != nil {
		return err
	}
	if refused != nil {
		return refused
	}
	return exit.UnlessComplete(r.requireComplete, p.Complete)
}

// refusalOfFinalizers is the error of a plan that takes off what must stay.
func refusalOfFinalizers(p *report.Plan) error {
	if len(p.Refusals) == 0 {
		return nil
	}
	first, more := p.Refusals[0], ""
	if n := len(p.Refusals); n > 1 {
		more = fmt.Sprintf(", and %d more like that", n-1)
	}
	return exit.Refusedf("finalizer %s of %s: %s%s", first.Finalizer, first.Object.ShortName(), first.Message, more)
}

// warnings are what is lost without the finalizers.
func warnings(p *report.Plan) []string {
	var notes []string
	for _, f := range p.Finalizers {
		if f.Without != "" {
			notes = append(notes, fmt.Sprintf("Without finalizer %s: %s.", f.Name, f.Without))
		}
	}
	return notes
}

// allowed are the flags that lift a refusal, for the digest.
func (r *removal) allowed() []string {
	var list []string
	for name, is := range map[string]bool{
		"force-gc": r.allow.Collector, "force-protection": r.allow.Protection, "force-cleanup": r.allow.Cleanup,
		"force-namespace": r.allow.Namespace, "accept-leak": r.allow.Leak,
	} {
		if is {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// protects refuses a plan whose targets are protected. They are being deleted already, so
// that their kind does not protect them; what their owner or Helm has written on them,
// does.
func (r *removal) protects(w source.World, p *report.Plan) error {
	for _, t := range p.Seed.Targets {
		o := w.Find(t.APIVersion, t.Kind, t.Namespace, t.Name)
		if o == nil {
			continue
		}
		if why, protected := r.writing.Policy.Check(o); protected && why != reason.ProtectedKind {
			return exit.Refusedf("%s is protected: %s", o.Ref, why)
		}
	}
	return nil
}
