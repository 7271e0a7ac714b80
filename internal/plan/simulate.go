package plan

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/evidence"
	"github.com/kubectl-gc/kubectl-gc/internal/graph"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan/outcome"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
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
	// Unrecorded has the requests of a delete not written down at all, for those who neither
	// show them nor act by them: Guard and Writes know of none then.
	Unrecorded bool
	// Controller says who takes a finalizer off an object, and whether he runs; nil asks
	// the surroundings. Where there are none either, nothing is known of anybody.
	Controller ControllerOf
	// Guards are what the digest names beside the plan: each flag that changes what is
	// done, or that weakens a guard, and of a cluster the content of each target.
	Guards []string
	// memory is what the collector knows from before; nil for one that has just started.
	memory *memory
	// late is who was found to be late in the whole of which this run tries a part; looked
	// tells that it was looked for.
	late   *outcome.Late
	looked bool
	// seen is what was found out about the snapshot before; nil for nothing.
	seen *seen
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
	after := r.run.futures.end
	if after == nil {
		after = r.run.after()
	}
	after = slices.Concat(after, r.run.beside())
	slices.SortFunc(after, func(a, b *object.Object) int { return object.Compare(a.Ref, b.Ref) })
	return after
}

// Simulate puts a seed into a copy of the snapshot and runs it to quiescence. It
// returns an error when a target is not in the snapshot, when the context ends,
// or when the simulation does not end.
//
// Of a delete only what it may reach is simulated, where that is little.
func Simulate(ctx context.Context, snap *snapshot.Snapshot, seed Seed, o Options) (*Result, error) {
	if seed.Verb == Delete && o.Explore != 0 && !o.Reads { // what the collector reads elsewhere would be missing
		o.seen = look(snap, seed, o.Rules)
	}
	return simulate(ctx, snap, seed, o)
}

// simulate runs a seed in all of a snapshot.
func simulate(ctx context.Context, snap *snapshot.Snapshot, seed Seed, o Options) (*Result, error) {
	left := undecided{}
	for {
		s := newSimulation(snap, seed, o)
		all, err := s.settle(ctx, left)
		if err != nil {
			return nil, err
		}
		if all == nil {
			continue
		}
		p, err := s.report(ctx, all)
		if err != nil {
			return nil, err
		}
		return &Result{Plan: p, run: s}, nil
	}
}

// settle runs a seed under every schedule, and judges what becomes of everything. There
// are no outcomes if the run has written to something that has to be left alone: it is for
// another one then.
func (s *simulation) settle(ctx context.Context, left undecided) (*outcome.Outcomes, error) {
	s.leave(left)
	if err := s.run(ctx, nil); err != nil {
		return nil, err
	}
	all := s.judge.Outcomes()
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
	s := newSimulation(snap, seed, Options{Surroundings: around, NoSteps: true, Unrecorded: true})
	if err := s.run(ctx, nil); err != nil {
		return report.Effect{}, err
	}
	all := s.judge.Outcomes()
	var effects []report.Effect
	if out := s.judge.OfObject(all, o); out != nil {
		effects = s.effects(out)
	}
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
	snap        *snapshot.Snapshot
	seed        Seed
	options     Options
	recorder    *recorder
	collector   *engine.Collector
	tracks      *outcome.Tracks
	judge       *outcome.Judge
	controllers *controllerSet
	futures     futures
	cause       cause
	awaited     awaited
	// finalizers know who takes those of others off.
	finalizers finalizers
	// neighbours are those who act beside the collector, as far as they were seen.
	neighbours *outcome.Neighbours
	// left are the objects that are left alone because their outcomes are unknown.
	left undecided
	// requests are those of the user that are still to come.
	requests []func()
	// scope is what other runs are tried on, nil where none are; exploration is what came
	// of that.
	scope       *scope
	exploration *report.Exploration
}

// collectorOf is the collector of a run, which has seen nothing yet unless it was made before.
func (o Options) collectorOf(snap *snapshot.Snapshot) *engine.Collector {
	if o.seen != nil && o.seen.part == nil {
		return o.seen.collector
	}
	return engine.New(engine.WithRules(o.Rules), engine.WithRelease(snap.Version().Rules()), engine.WithCapacity(len(snap.Objects)), engine.WithAbsent(o.memory.absences()...))
}

func (o Options) strict() bool { return o.Rules == engine.Strict }

// notAskedFor reports whether the Keeper says so of an object.
func (s *simulation) notAskedFor(o *object.Object) bool {
	return s.options.Keep != nil && s.options.Keep(o, false) == reason.NotAskedFor
}

func newSimulation(snap *snapshot.Snapshot, seed Seed, o Options) *simulation {
	beside := outcome.NewNeighbours(snap, o.Surroundings)
	s := &simulation{
		snap: snap, seed: seed, options: o, neighbours: beside,
		recorder:  newRecorder(beside, o.world(snap), o.Reads),
		collector: o.collectorOf(snap),
	}
	s.recorder.keep, s.recorder.silent = o.Keep, o.Unrecorded && seed.Verb == Delete
	s.controllers = newControllerSet(s.recorder, beside)
	s.tracks = outcome.NewTracks(snap, s.recorder.words)
	s.judge = &outcome.Judge{
		Snap: snap, Collects: seed.Verb == Collect, Takes: seed.Verb == RemoveFinalizer, Rules: o.Rules,
		Partial:     o.strict() && len(RelevantGaps(snap, func(string) bool { return true })) > 0,
		NotAskedFor: s.notAskedFor,
		Tracks:      s.tracks, Words: s.recorder.words, Kept: s.recorder.kept, Refused: s.recorder.refused,
		Server: s.recorder.server, Lookups: unrecorded{s.recorder}, Collector: s.collector,
		Controllers: s.controllers.controllers, WaitsOf: s.controllers.waitsOf, Neighbours: beside, Causes: &s.cause,
	}
	if o.Controller == nil && o.Surroundings != nil {
		s.options.Controller = leaving{o.Surroundings, snap, s.judge}.controllerOf
	}
	s.cause = cause{snap: snap, seed: seed, rules: o.Rules, tracks: s.tracks, writes: s.writes}
	s.finalizers = finalizers{ask: s.options.Controller, simulated: s.controllers, answers: map[report.Release]report.Release{}}
	if o.seen != nil && o.seen.part != nil {
		s.cause.ways = o.seen.paths
	}
	s.awaited = awaited{snap: snap, tracks: s.tracks, judge: s.judge, cause: &s.cause, finalizers: &s.finalizers}
	s.recorder.observed = func(e object.Event, _ int) { s.tracks.Event(e, s.recorder.words.Number(s.recorder.actor)) }
	return s
}

// run starts the collector as after a restart, lets it settle, applies the seed, and
// then removes the finalizers whose controllers run. With random, everything after the seed
// runs under another schedule.
func (s *simulation) run(ctx context.Context, random *rand.Rand) error {
	if err := s.atOnce(ctx, random); err != nil {
		return err
	}
	return s.expect(ctx, random)
}

// atOnce is what happens while nobody takes a finalizer of others off.
func (s *simulation) atOnce(ctx context.Context, random *rand.Rand) error {
	s.controllers.look()
	if err := s.findLate(ctx); err != nil {
		return err
	}
	if s.seed.Verb == RemoveFinalizer {
		return s.runRemoval(ctx, random)
	}
	if seen := s.options.seen; seen == nil || seen.part != nil {
		s.watch(s.options.world(s.snap), random)
	}
	s.look(s.collector.Graph())
	if s.seed.Verb == Collect {
		s.tracks.Phase = outcome.AfterSeed
		return s.drain(ctx, random)
	}
	if err := s.drain(ctx, nil); err != nil {
		return err
	}
	s.tracks.Phase = outcome.AfterSeed
	if err := s.applySeed(ctx); err != nil {
		return err
	}
	return s.drain(ctx, random)
}

// findLate looks who is late, unless a run that this one is a part of has done so.
func (s *simulation) findLate(ctx context.Context) (err error) {
	if s.neighbours.Late = s.options.late; !s.options.looked {
		search := lateSearch{snap: s.snap, neighbours: s.neighbours, recorder: s.recorder, rules: s.options.Rules, ours: s.ourCollector()}
		s.neighbours.Late, err = search.find(ctx)
	}
	return err
}

// runRemoval takes the finalizers off before the collector starts, unless it is one that
// was running.
func (s *simulation) runRemoval(ctx context.Context, random *rand.Rand) error {
	s.tracks.Phase = outcome.AfterSeed
	if s.options.Explore != 0 {
		c := Start(s.snap, s.options.Rules)
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

// running reports whether the collector has seen everything before finalizers are removed.
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
	follow.Idle = func() bool { return s.request() || s.controllers.act(ctx) }
	if random != nil {
		s.controllers.interleaver = newInterleaver(random)
		pace := 1 << random.IntN(8) // requests of a user follow one another, or the collector is through with one first
		world := interleaved{s.recorder, func() {
			for pace < 1<<7 && len(s.requests) > 0 && random.IntN(pace) == 0 {
				s.request()
			}
			s.controllers.interleaver.meanwhile(ctx, s.controllers)
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
			s.tracks.Decided(d)
			if d.Attempt.Work == engine.OrphanWork {
				s.tracks.Orphaning(d)
			}
		},
		Settled: func(engine.Outcome) { s.recorder.reason, s.recorder.attempt = "", nil },
	}
}

// applySeed sends the first of the user's requests and prepares the others.
func (s *simulation) applySeed(ctx context.Context) error {
	policy := metav1.DeletionPropagation(s.seed.Policy.String())
	for _, ref := range s.seed.Targets {
		target := s.snap.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name)
		if target == nil {
			return fmt.Errorf("%s is not in the snapshot", ref)
		}
		s.requests = append(s.requests, func() {
			tr := s.tracks.Of(target)
			tr.Target = true
			s.recorder.as(outcome.ActorUser, string(reason.Requested), func() {
				tr.Refused = s.recorder.Delete(ctx, target.Ref, metav1.DeleteOptions{PropagationPolicy: &policy, GracePeriodSeconds: s.seed.Grace})
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
