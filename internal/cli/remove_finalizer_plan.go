package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/internal/finalizer"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/policy"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// check reads the arguments: what is meant, and which finalizers.
func (r *removal) check(c *cobra.Command, args []string) (names []string, err error) {
	many := r.targets.selector != "" || r.targets.all
	switch {
	case len(args) == 0:
		return nil, usageErrorf(c, "which object? Give TYPE/NAME, or TYPE with -l or --all-of-kind")
	case many && strings.Contains(args[0], "/"):
		return nil, usageErrorf(c, "%s is one object: no -l or --all-of-kind beside it", args[0])
	case r.targets.selector != "" && r.targets.all:
		return nil, usageErrorf(c, "-l and --all-of-kind exclude each other")
	case !many && !strings.Contains(args[0], "/"):
		return nil, usageErrorf(c, "which %s? Give %s/NAME, -l or --all-of-kind", args[0], args[0])
	case !many && r.targets.namespaces.all:
		return nil, usageErrorf(c, "an object cannot be named across all namespaces: give -n, or -A with -l or --all-of-kind")
	case len(args) == 1:
		return nil, usageErrorf(c, "which finalizers? Each is named in full; kubectl gc explain shows them")
	case !r.source.live() && (r.writing.digest != "" || r.wait):
		return nil, usageErrorf(c, "--confirm and --wait are about a cluster: of a dump the plan is shown, and no more")
	}
	for _, name := range args[1:] {
		if name == "" || strings.ContainsAny(name, "*?[]{}, ") {
			return nil, usageErrorf(c, "%q: finalizers are named one by one, without patterns", name)
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if err := r.output.showsPlan(c, r.source.live() && !r.writing.onlyShows()); err != nil {
		return nil, err
	}
	return names, r.writing.check(c)
}

// choose finds the objects. Of a selection those are meant that are stuck on one of
// the finalizers; how many others there are is said.
func (r *removal) choose(w world, refs []object.Ref, names []string) ([]*object.Object, error) {
	var objects []*object.Object
	alive, without := 0, 0
	for _, ref := range refs {
		o := w.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name)
		switch {
		case r.targets.selector == "" && !r.targets.all:
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
func (r *removal) plan(c *cobra.Command, w world, objects []*object.Object, names []string) (*plan.Result, error) {
	refs := make([]object.Ref, len(objects))
	var refusals []finalizer.Refusal
	for i, o := range objects {
		refs[i] = o.Ref
		asked := names
		if len(objects) > 1 || r.targets.all || r.targets.selector != "" {
			asked = present(o, names)
		}
		refusals = append(refusals, finalizer.Judge(w.Snapshot, o, asked, r.allow)...)
	}
	defer begin(c, r.streams.ErrOut, "simulating the removal").end()
	result, err := w.plan(c.Context(), plan.RemoveFinalizerSeed(names, refs...), plan.Options{
		Explore: plan.Usual, Seed: usualSeed, NoSteps: r.output.forPeople() && !r.steps, OnlyNear: r.source.live(), Guards: append(r.writing.guards(), r.allowed()...),
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
func (r *removal) sure(c *cobra.Command, args []string, w world, result *plan.Result) error {
	p := result.Plan
	if r.output.format == "" && len(p.Seed.Targets) > manyTargets {
		r.output.format = "wide"
	}
	refused := refusalOfFinalizers(p)
	if w.client != nil && refused == nil {
		return r.writing.sure(c, args, r.streams, proposal{
			verb: "remove finalizers", world: w, result: result, output: &r.output, steps: r.steps, requireComplete: r.requireComplete,
			refused: r.protects(w, p), notes: warnings(p),
		})
	}
	if refused != nil {
		p.Digest = "" // nobody can confirm it
	}
	if err := r.output.showPlan(c, r.streams.Out, w.Snapshot, p, r.steps); err != nil {
		return err
	}
	if refused != nil {
		return refused
	}
	return incomplete(r.requireComplete, p.Complete)
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
	return refusedf("finalizer %s of %s: %s%s", first.Finalizer, first.Object.KubectlName(), first.Message, more)
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
func (r *removal) protects(w world, p *report.Plan) error {
	for _, t := range p.Seed.Targets {
		o := w.Find(t.APIVersion, t.Kind, t.Namespace, t.Name)
		if o == nil {
			continue
		}
		if why, protected := r.writing.policy.Check(o); protected && why != policy.Kind {
			return refusedf("%s is protected: %s", o.Ref, why)
		}
	}
	return nil
}
