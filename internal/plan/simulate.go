package plan

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/evidence"
	"github.com/kubectl-gc/kubectl-gc/internal/graph"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// Options say how to simulate.
type Options struct {
	Rules engine.Rules
	// Explore is the number of seeded schedules tried beside the reference one, to find
	// what depends on timing, or on what the garbage collector remembers; Usual tries as
	// many as are worth it.
	Explore int
	// Seed is where the seeds of explored schedules start.
	Seed uint64
	// Reads puts GETs among the steps.
	Reads bool
	// Keep withholds the writes of our own collector from objects; nil withholds
	// none. See Keeper.
	Keep Keeper
	// Surroundings are what is known of those who act beside the collector; nil for
	// nothing, so that they are assumed to do their part.
	Surroundings *evidence.Surroundings
	// OnlyNear leaves out what happens anyway in namespaces that the request has nothing
	// to do with. Of a collection the Keeper says which namespaces it is about.
	OnlyNear bool
	// NoSteps leaves the steps out of the plan. A plan of a million objects has
	// millions of them.
	NoSteps bool
	// Controller says who takes a finalizer off an object, and whether he runs; nil asks
	// the surroundings. Where there are none either, nothing is known of anybody.
	Controller ControllerOf
	// Guards are what the digest names beside the plan: each flag that changes what is
	// done, or that weakens a guard.
	Guards []string
	// memory is what the collector knows from before; nil for one that has just started.
	memory *memory
	// late is who was found to be late in the whole of which this run tries a part; looked
	// tells that it was looked for.
	late   *late
	looked bool
}

// ControllerOf says who takes a finalizer off an object, and whether he runs.
type ControllerOf func(o *object.Object, finalizer string) (name string, state report.ControllerState)

// Result is a plan and the world in which it ends.
type Result struct {
	Plan *report.Plan
	run  *simulation
}

// After lists the objects at quiescence, in object.Compare order. Finalizers of which
// the plan does not expect that they come off are still there.
func (r *Result) After() []*object.Object {
	if r.run.futures.expected != nil {
		return r.run.futures.expected
	}
	return r.run.after()
}

// Simulate puts a seed into a copy of the snapshot and runs it to quiescence. It
// returns an error when a target is not in the snapshot, when the context ends,
// or when the simulation does not end.
func Simulate(ctx context.Context, snap *snapshot.Snapshot, seed Seed, o Options) (*Result, error) {
	left := unsure{}
	for {
		s := newSimulation(snap, seed, o)
		fates, err := s.settle(ctx, left)
		if err != nil {
			return nil, err
		}
		if fates == nil {
			continue
		}
		p, err := s.report(ctx, fates)
		if err != nil {
			return nil, err
		}
		return &Result{Plan: p, run: s}, nil
	}
}

// settle runs a seed under every schedule, and judges what becomes of everything. There
// are no fates if the run has written to something that has to be left alone: it is for
// another one then.
func (s *simulation) settle(ctx context.Context, left unsure) (fates, error) {
	s.leave(left)
	if err := s.run(ctx, nil); err != nil {
		return nil, err
	}
	all := s.fates()
	if s.ourCollector() && left.add(s, all) {
		return nil, nil
	}
	if err := s.explore(ctx, all, left); err != nil {
		return nil, err
	}
	if s.ourCollector() && left.add(s, all) { // what is not known under another schedule only
		return nil, nil
	}
	if s.seed.Verb == RemoveFinalizer {
		if err := s.compare(ctx, all); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// EffectOn simulates a seed for the sake of one object and returns what becomes
// of it: Kept if nothing touches it. Of a delete it has both futures. The surroundings
// may be nil.
func EffectOn(ctx context.Context, snap *snapshot.Snapshot, seed Seed, o *object.Object, around *evidence.Surroundings) (report.Effect, error) {
	s := newSimulation(snap, seed, Options{Surroundings: around, NoSteps: true})
	if err := s.run(ctx, nil); err != nil {
		return report.Effect{}, err
	}
	all, one := s.fates(), fates{}
	if f := s.fateIn(all, o.Ref); f != nil {
		one[s.tracks.key(o.Ref)] = f
	}
	effects := s.effects(one)
	if seed.Verb == Delete {
		if err := s.goOn(ctx, all); err != nil {
			return report.Effect{}, err
		}
		effects = s.withFutures(effects, all)
	}
	for i := range effects {
		if object.Ref(effects[i].Object) == o.Ref {
			return effects[i], nil
		}
	}
	return report.Effect{Object: report.RefOf(o.Ref), Outcome: report.Kept}, nil
}

// simulation is one run of a seed.
type simulation struct {
	snap      *snapshot.Snapshot
	seed      Seed
	options   Options
	recorder  *recorder
	collector *engine.Collector
	tracks    tracks
	rest      *restOfWorld
	futures   futures
	cause     cause
	// neighbours are those who act beside the collector, as far as they were seen.
	neighbours *neighbours
	adoption   adoption
	// left are the objects that are left alone because their fates are unknown.
	left unsure
	// partial: the rules look for owners everywhere, and something was not seen.
	partial bool
	// requests are those of the user that are still to come.
	requests []func()
	// scope is what other runs are tried on, nil where none are; exploration is what came
	// of that.
	scope       *scope
	exploration *report.Exploration
}

func (o Options) strict() bool { return o.Rules == engine.Strict }

func newSimulation(snap *snapshot.Snapshot, seed Seed, o Options) *simulation {
	beside := newNeighbours(snap, o.Surroundings)
	s := &simulation{
		snap: snap, seed: seed, options: o, neighbours: beside,
		recorder:  newRecorder(beside.server(), snap, o.Reads),
		collector: engine.New(engine.WithRules(o.Rules), engine.WithCapacity(len(snap.Objects)), engine.WithAbsent(o.memory.absences()...)),
		tracks:    tracks{byUID: map[types.UID]*track{}, phase: inBaseline, shared: sharedUIDs(snap), find: snap.Find},
	}
	if o.Controller == nil && o.Surroundings != nil {
		s.options.Controller = s.controllerOf
	}
	s.partial = o.Rules == engine.Strict && len(RelevantGaps(snap, func(string) bool { return true })) > 0
	beside.watch(s.recorder)
	s.recorder.withhold(o.Keep)
	s.rest = newRestOfWorld(s.recorder, beside)
	s.tracks.collector, s.tracks.reclaim = s.recorder.word(actorCollector), s.recorder.word(controllers.ReclaimName)
	s.recorder.observed = func(e object.Event, _ int) { s.tracks.event(e, s.recorder.word(s.recorder.actor)) }
	return s
}

// run starts the collector as after a restart, lets it settle, applies the seed, and
// then has those finalizers come off whose controllers run. With random, what follows
// the seed runs under another schedule.
func (s *simulation) run(ctx context.Context, random *rand.Rand) error {
	if err := s.atOnce(ctx, random); err != nil {
		return err
	}
	return s.expect(ctx, random)
}

// atOnce is what happens while nobody takes a finalizer of others off.
func (s *simulation) atOnce(ctx context.Context, random *rand.Rand) error {
	s.rest.look()
	if err := s.findLate(ctx); err != nil {
		return err
	}
	if s.seed.Verb == RemoveFinalizer {
		return s.runRemoval(ctx, random)
	}
	s.watch(s.snap.Objects, random)
	s.look(s.collector.Graph())
	if s.seed.Verb == Collect {
		s.tracks.phase = afterSeed
		return s.drain(ctx, random)
	}
	if err := s.drain(ctx, nil); err != nil {
		return err
	}
	s.tracks.phase = afterSeed
	if err := s.plant(ctx); err != nil {
		return err
	}
	return s.drain(ctx, random)
}

// runRemoval takes the finalizers off before the collector starts, unless it is one that
// was running.
func (s *simulation) runRemoval(ctx context.Context, random *rand.Rand) error {
	s.tracks.phase = afterSeed
	if s.options.Explore != 0 {
		c, _ := Open(s.snap, s.options.Rules)
		s.look(c.Graph())
	}
	if s.running() {
		s.watch(s.snap.Objects, random)
	}
	if err := s.takeFinalizers(ctx); err != nil {
		return err
	}
	if !s.running() {
		s.recorder.Events() // the collector starts when these have passed
		s.watch(s.after(), random)
	}
	return s.drain(ctx, random)
}

// running tells whether the collector has seen everything before finalizers come off.
func (s *simulation) running() bool { return s.options.memory != nil && s.options.memory.running }

// look surveys what the request can reach, if other runs are to be tried.
func (s *simulation) look(g *graph.Graph) {
	if s.options.Explore != 0 {
		s.scope = s.survey(g)
	}
}

// watch has the collector observe the objects, as after a restart. Lists arrive in any
// order, and the objects of one as well. Our own collector waits for all of them, and one
// that has been running has them.
//
// Upstream: client-go/tools/cache/reflector.go Reflector.watchList: hands over what a map held.
func (s *simulation) watch(objects []*object.Object, random *rand.Rand) {
	late := false
	if random != nil {
		objects = slices.Clone(objects)
		random.Shuffle(len(objects), func(i, j int) { objects[i], objects[j] = objects[j], objects[i] })
		late = random.IntN(2) == 0 && !s.ourCollector() && !s.running()
	}
	for _, o := range objects {
		if !s.recorder.watches(o) {
			continue
		}
		for _, e := range s.options.memory.seen(o) {
			if late { // workers may be faster than lists
				s.recorder.pending = append(s.recorder.pending, e)
			} else {
				s.collector.Observe(e)
			}
		}
	}
}

func (s *simulation) drain(ctx context.Context, random *rand.Rand) error {
	follow := s.follow()
	follow.Idle = func() bool { return s.request() || s.rest.act(ctx) }
	if random != nil {
		s.rest.haste = newHaste(random)
		pace := 1 << random.IntN(8) // requests of a user follow one another, or the collector is through with one first
		world := hasty{s.recorder, func() {
			for pace < 1<<7 && len(s.requests) > 0 && random.IntN(pace) == 0 {
				s.request()
			}
			s.rest.haste.meanwhile(ctx, s.rest)
		}}
		return engine.Explore(ctx, s.collector, world, follow, random)
	}
	for s.request() {
	}
	return engine.Drain(ctx, s.collector, s.recorder, follow)
}

// follow takes note of what the collector does.
func (s *simulation) follow() engine.Follow {
	return engine.Follow{
		Decided: func(d engine.Decision) {
			s.recorder.reason, s.recorder.attempt = d.Reason.String(), d.Attempt.Observed
			s.tracks.decided(d)
			if d.Attempt.Work == engine.OrphanWork {
				s.tracks.orphaning(d)
			}
		},
		Settled: func(engine.Outcome) { s.recorder.reason, s.recorder.attempt = "", nil },
	}
}

// plant sends the first of the user's requests and prepares the others.
func (s *simulation) plant(ctx context.Context) error {
	policy := metav1.DeletionPropagation(s.seed.Policy.String())
	for _, ref := range s.seed.Targets {
		target := s.snap.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name)
		if target == nil {
			return fmt.Errorf("%s is not in the snapshot", ref)
		}
		s.requests = append(s.requests, func() {
			tr := s.tracks.of(target)
			tr.target = true
			s.recorder.as(actorUser, string(Requested), func() {
				tr.refused = s.recorder.Delete(ctx, target.Ref, metav1.DeleteOptions{PropagationPolicy: &policy})
			})
		})
	}
	s.request()
	return nil
}

// request sends the next request of the user, if there is one.
func (s *simulation) request() bool {
	if len(s.requests) == 0 {
		return false
	}
	send := s.requests[0]
	s.requests = s.requests[1:]
	send()
	return true
}

// after lists the world as it is now.
func (s *simulation) after() []*object.Object { return s.recorder.server.Objects() }
