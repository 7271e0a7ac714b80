package differential

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// forecast is what a dry run says of a world, object by object.
type forecast struct {
	// state is a line for every object that is left.
	state map[string]string
	// unknown are the objects of which it says that nobody can tell, and contested
	// those whose outcome it says depends on timing.
	unknown, contested map[string]bool
	// conditions are the types of the conditions that hold, of each namespace that it
	// says is blocked.
	conditions map[string][]string
}

// foretell asks a dry run about acts, which have to be the same thing done to several
// objects. Without acts it is asked what the deleters do that start over the world.
func foretell(ctx context.Context, world []*object.Object, on platform, acts []scenario.Act, schedules int) (forecast, error) {
	snap, err := on.snapshot(world)
	if err != nil {
		return forecast{}, err
	}
	result, err := plan.Simulate(ctx, snap, seedFor(acts), plan.Options{NoSteps: true, Explore: schedules, Seed: 1})
	if err != nil {
		return forecast{}, err
	}
	f := forecast{state: stateOf(listed(result.After())), unknown: map[string]bool{}, contested: map[string]bool{}, conditions: map[string][]string{}}
	for _, e := range result.Plan.Effects {
		name := object.Ref(e.Object).String()
		f.unknown[name] = e.Outcome == report.Unknown
		f.contested[name] = e.DependsOnTiming
		if e.Object.Kind == "Namespace" && e.Outcome == report.Blocked {
			f.conditions[e.Object.Name] = e.BlockedBy.Conditions
		}
	}
	return f, nil
}

// seedFor is what a dry run is asked.
func seedFor(acts []scenario.Act) plan.Seed {
	if len(acts) == 0 {
		return plan.CollectSeed()
	}
	targets := make([]object.Ref, len(acts))
	for i, a := range acts {
		targets[i] = a.Ref
	}
	if drop := acts[0].Drop; drop != "" {
		return plan.RemoveFinalizerSeed([]string{drop}, targets...)
	}
	policies := map[metav1.DeletionPropagation]engine.Policy{
		metav1.DeletePropagationBackground: engine.Background,
		metav1.DeletePropagationForeground: engine.ForegroundPolicy,
		metav1.DeletePropagationOrphan:     engine.OrphanPolicy,
	}
	return plan.DeleteSeed(policies[acts[0].Policy], targets...)
}

// stateOf is a line for every object: with what it is being deleted or stays.
func stateOf(objects []*object.Object) map[string]string {
	state := map[string]string{}
	for _, o := range objects {
		c := o.Clone()
		c.Generation, c.Labels = 0, ""
		c.Lifecycle = &object.Lifecycle{Finalizers: o.Finalizers()}
		if o.Kind == "Pod" { // the only one that waits for it to be over
			c.Lifecycle.GracePeriod = o.GracePeriod()
		}
		if o.BeingDeleted() {
			c.Lifecycle.DeletionTimestamp = scenario.Start
		}
		if facts := o.NamespaceFacts(); facts != nil {
			c.Lifecycle.Facts = facts
			// The server keeps them in a map while it sets its own.
			c.Lifecycle.Finalizers = slices.Sorted(slices.Values(o.Finalizers()))
		}
		if d := o.Definition(); d != nil {
			c.Lifecycle.Facts = &object.CRDFacts{Namespaced: true, Terminating: d.Terminating}
		}
		line, _, _ := strings.Cut(scenario.Format(c, scenario.Names{}), " rv=")
		state[o.Ref.String()] = line
	}
	return state
}

// misses names the objects that are not as the forecast says, and the namespaces whose
// conditions are not.
func (f forecast) misses(now seen) []string {
	state := stateOf(now.objects)
	var wrong []string
	for _, name := range slices.Sorted(maps.Keys(state)) {
		if f.state[name] != state[name] && !f.unknown[name] {
			wrong = append(wrong, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(f.state)) {
		if _, there := state[name]; !there && !f.unknown[name] {
			wrong = append(wrong, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(f.conditions)) {
		if hold, deleted := now.conditions[name]; deleted && !slices.Equal(hold, f.conditions[name]) {
			wrong = append(wrong, fmt.Sprintf("conditions of %s: %v, not %v", name, hold, f.conditions[name]))
		}
	}
	return wrong
}
