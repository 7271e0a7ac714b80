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
	case len(r.source.from) > 0 && (r.writing.digest != "" || r.wait):
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
	if err := r.output.showsPlan(c, len(r.source.from) == 0 && !r.writing.onlyShows()); err != nil {
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
	result, err := planned(c.Context(), w, plan.RemoveFinalizerSeed(names, refs...), plan.Options{
		Explore: plan.Usual, Seed: usualSeed, NoSteps: r.output.forPeople() && !r.steps, OnlyNear: len(r.source.from) == 0, Guards: append(r.writing.guards(), r.allowed()...),
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
	var refused error
	if w.client != nil && len(p.Refusals) == 0 {
		refused = r.refuse(w, p)
	}
	if len(p.Refusals) > 0 {
		p.Digest = ""
	}
	if r.output.format == "" && len(p.Seed.Targets) > manyTargets {
		r.output.format = "wide"
	}
	if w.client == nil || len(p.Refusals) > 0 || r.output.forPeople() || r.writing.onlyShows() {
		if err := showPlan(c, &r.output, r.streams, w, p, r.steps); err != nil {
			return err
		}
	}
	if n := len(p.Refusals); n > 0 {
		first := p.Refusals[0]
		message := fmt.Sprintf("refused, nothing was written: finalizer %s of %s: %s", first.Finalizer, first.Object.KubectlName(), first.Message)
		if n > 1 {
			message += fmt.Sprintf(", and %d more like that", n-1)
		}
		return &exit{code: exitRefused, message: message}
	}
	if err := incomplete(r.requireComplete, p.Complete); err != nil || w.client == nil {
		return err
	}
	if refused != nil {
		return refused
	}
	id, err := w.client.Identity(c.Context())
	if err != nil {
		return err
	}
	q := question("remove finalizers", id, p)
	q.Notes = append(r.writing.notes(p), r.warnings(p)...)
	return r.writing.ask(c, args, r.streams, q)
}

// warnings are what is lost without the finalizers.
func (r *removal) warnings(p *report.Plan) []string {
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

// refuse refuses a plan that takes protected objects. The targets are being deleted
// already, so that their kind does not protect them; what their owner or Helm has
// written on them, does.
func (r *removal) refuse(w world, p *report.Plan) error {
	for _, t := range p.Seed.Targets {
		o := w.Find(t.APIVersion, t.Kind, t.Namespace, t.Name)
		if o == nil {
			continue
		}
		if why, protected := r.writing.policy.Check(o); protected && why != policy.Kind {
			p.Digest = ""
			return &exit{code: exitRefused, message: fmt.Sprintf("refused, nothing was written: %s is protected: %s", o.Ref, why)}
		}
	}
	return r.writing.refuse(w, p)
}
