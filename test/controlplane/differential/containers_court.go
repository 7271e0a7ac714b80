package differential

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

const (
	// round is how long a world in which something is being deleted has to stay as it
	// is: longer than the namespace controller waits for content that finalizers hold,
	// eight seconds, and than the API server for instances, five.
	round = 9 * time.Second
	// endurance is how long a world may be another one than was foretold: longer than
	// the minute for which a worker of the API server waits for instances.
	endurance = 100 * time.Second
)

// deletion is a story on its way through a real control plane.
type deletion struct {
	story
	place
	slot  int
	phase int
	acts  [][]scenario.Act
	// states in which the phases before ended.
	states []map[string]string
	before []*object.Object
	// resources are the kinds that were served before this phase.
	on       platform
	foretold forecast
	now      seen
	text     string // of now
	since    time.Time
	explored bool
	wrong    []string
	verdict  verdict
	// announced: a dry run says that this may happen, without being asked to explore.
	announced bool
}

// batch runs stories through the stage, all at once, and tells done of every phase of
// every story. First is the number of the first world: no two of a stage have one.
func (s *stage) batch(ctx context.Context, first int, stories []story, done func(*deletion)) error {
	var all []*deletion
	var places []place
	for i, w := range stories {
		d := &deletion{story: w, place: placeOf(first + i), slot: i}
		all, places = append(all, d), append(places, d.place)
	}
	if err := s.set(ctx, places, stories); err != nil {
		return err
	}
	for phase := 0; len(all) > 0; phase++ {
		under, err := s.phase(ctx, all, phase)
		if err != nil {
			return err
		}
		var more []*deletion
		for _, d := range under {
			done(d)
		}
		for _, d := range all {
			if d.phase < len(d.phases) && d.verdict != wrong {
				more = append(more, d)
			}
		}
		all = more
	}
	return s.strike(ctx)
}

// phase carries out one phase of all stories and judges those in which something is
// left to do.
func (s *stage) phase(ctx context.Context, all []*deletion, phase int) ([]*deletion, error) {
	worlds, err := s.look(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.discover(ctx); err != nil {
		return nil, err
	}
	var under []*deletion
	for _, d := range all {
		ok, err := d.begin(ctx, worlds[d.slot].objects, platform{Resources: s.resourcesOf(d.place), release: s.Release()}, phase)
		if err != nil {
			return nil, err
		}
		if ok {
			under = append(under, d)
		}
	}
	if phase == 0 {
		if err := s.Controllers(deleters...); err != nil {
			return nil, err
		}
	}
	if err := s.fence(ctx); err != nil {
		return nil, err
	}
	err = each(len(under), func(i int) error {
		for _, a := range under[i].acts[phase] {
			if err := s.carryOut(ctx, under[i].place, a); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return under, s.settle(ctx, under)
}

// begin notes the world before a phase and what a dry run says of it. It tells
// whether there is anything to do in this phase.
func (d *deletion) begin(ctx context.Context, world []*object.Object, on platform, phase int) (bool, error) {
	var acts []scenario.Act
	if phase > 0 {
		acts = possibleActs(world, d.phases[phase-1])
	}
	d.phase, d.before, d.verdict, d.acts = phase, world, undecided, append(d.acts, acts)
	d.text, d.since, d.explored, d.wrong, d.announced = "", time.Time{}, false, nil, false
	if phase > 0 && len(acts) == 0 {
		d.states, d.verdict = append(d.states, stateOf(world)), predicted
		return false, nil
	}
	if phase == 0 {
		drawn, held := stateOf(d.objects), stateOf(world)
		if !maps.Equal(drawn, held) {
			return false, fmt.Errorf("seed %d: the server does not hold the world that was drawn\n%v\n%v", d.seed, drawn, held)
		}
	}
	var err error
	if d.foretold, err = foretell(ctx, world, on, acts, 0); err != nil {
		return false, fmt.Errorf("seed %d, phase %d: %w", d.seed, phase, err)
	}
	d.on = on
	return true, nil
}

// possibleActs leaves out the acts on objects that have gone, or that have lost what
// was to be taken off.
func possibleActs(world []*object.Object, acts []scenario.Act) []scenario.Act {
	var list []scenario.Act
	for _, a := range acts {
		i := slices.IndexFunc(world, func(o *object.Object) bool { return o.Ref == a.Ref })
		if i < 0 {
			continue
		}
		facts := world[i].NamespaceFacts()
		if a.Drop == "" || world[i].HasFinalizer(a.Drop) || facts != nil && slices.Contains(facts.Finalizers, a.Drop) {
			list = append(list, a)
		}
	}
	return list
}

// settle watches the worlds until each has a verdict and nothing moves any more: all
// have stayed as they are for a round, and the collector and the namespace controller
// have been through with everything that came before a fence, which came after the
// last change.
func (s *stage) settle(ctx context.Context, under []*deletion) error {
	var fenced time.Time
	for {
		if err := s.fence(ctx); err != nil {
			return err
		}
		worlds, err := s.look(ctx)
		if err != nil {
			return err
		}
		now, last := time.Now(), time.Time{}
		busy := false
		for _, d := range under {
			if err := s.kubelet(ctx, d, worlds[d.slot].objects); err != nil {
				return err
			}
			d.see(worlds[d.slot], now)
			if d.since.After(last) {
				last = d.since
			}
			if now.Sub(d.since) < d.calm() {
				busy = true
				continue
			}
			if err := d.judge(ctx, now.Sub(d.since) > endurance); err != nil {
				return err
			}
			busy = busy || d.verdict == undecided
		}
		emptied, err := s.hasEmptied(ctx)
		if err != nil {
			return err
		}
		if emptied && fenced.Before(last) {
			fenced, emptied = time.Now(), false
			if err := s.empty(ctx); err != nil {
				return err
			}
		}
		if emptied && !busy {
			for _, d := range under {
				d.states = append(d.states, stateOf(d.now.objects))
			}
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		pause(ctx, 500*time.Millisecond)
	}
}

// kubelet finishes the pods of a world whose grace period runs.
func (s *stage) kubelet(ctx context.Context, d *deletion, world []*object.Object) error {
	for _, pod := range graceful(world) {
		path, err := d.address(pod)
		if err != nil {
			return err
		}
		if err := s.remove(ctx, path, finished(d.refIn(pod).UID)); err != nil {
			return err
		}
	}
	return nil
}

// see takes up what the world looks like now.
func (d *deletion) see(w seen, now time.Time) {
	text := fmt.Sprint(stateOf(w.objects), w.conditions)
	if text != d.text || d.since.IsZero() {
		d.now, d.text, d.since, d.explored, d.verdict = w, text, now, false, undecided
	}
}

// calm is how long the world has to stay as it is.
func (d *deletion) calm() time.Duration {
	if slices.ContainsFunc(d.now.objects, func(o *object.Object) bool {
		return o.BeingDeleted() && (o.NamespaceFacts() != nil || o.Definition() != nil)
	}) {
		return round
	}
	return dwell
}

// judge compares how a world rests with what was foretold. Over tells that nothing can
// be waited for any more.
func (d *deletion) judge(ctx context.Context, over bool) error {
	d.wrong = d.foretold.misses(d.now)
	if len(d.wrong) == 0 {
		d.verdict = predicted
		return nil
	}
	if !d.explored {
		d.explored = true
		for _, schedules := range []int{plan.Usual, 200} {
			f, err := foretell(ctx, d.before, d.on, d.acts[d.phase], schedules)
			if err != nil {
				return err
			}
			if !slices.ContainsFunc(d.wrong, func(name string) bool { return !f.contested[name] }) {
				d.verdict, d.announced = contested, schedules == plan.Usual
				break
			}
		}
	}
	if d.verdict == undecided && over {
		d.verdict = wrong
	}
	return nil
}

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
	result, err := plan.Simulate(ctx, snap, seedFor(acts), plan.Options{Record: plan.RecordRequests, Explore: schedules, Seed: 1})
	if err != nil {
		return forecast{}, err
	}
	f := forecast{state: stateOf(listed(result.After())), unknown: map[string]bool{}, contested: map[string]bool{}, conditions: map[string][]string{}}
	for _, e := range result.Plan.Effects {
		name := e.Object.String()
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
