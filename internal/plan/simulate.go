package plan

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/finalizer"
	"github.com/kubectl-gc/kubectl-gc/internal/graph"
	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan/outcome"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// Options configures a simulation.
type Options struct {
	Rules engine.Rules
	// Explore is the number of seeded schedules that are tried in addition to the reference one, to
	// find what depends on timing or on the collector's state from before. Usual picks the number
	// by cost.
	Explore int
	// Seed seeds the random source of the explored schedules.
	Seed uint64
	// Reads includes GETs in the steps.
	Reads bool
	// Keep withholds writes of our own collector from objects. nil withholds none. See Keeper.
	Keep Keeper
	// Health is the health of the other controllers. nil if it is unknown: they are then
	// assumed to do their part.
	Health *health.Assessment
	// OnlyNear leaves out what happens anyway in namespaces that the request does not affect. For a
	// collection, the Keeper decides which namespaces are included.
	OnlyNear bool
	// NoSteps leaves the steps out of the plan. A plan of a million objects has millions of them.
	NoSteps bool
	// Unrecorded turns off the record of the requests of a delete, for callers that neither show
	// nor execute them. Guard then allows no write, and Writes is empty.
	Unrecorded bool
	// Controller names the controller of a finalizer and reports whether it runs. nil asks
	// Health. If those are nil too, no finalizer's controller is known.
	Controller ControllerOf
	// Collector is the state of the cluster's garbage collector. Empty if it follows from Health.
	Collector report.CollectorState
	// Guards are additional inputs of the digest: each flag that changes what is done or that
	// weakens a guard, and, for a cluster, the content of each target.
	Guards []string
	// Outside has fields that decide about outside resources, of objects that the snapshot has as
	// metadata only, by uid.
	Outside map[types.UID]*object.OutsideFacts
	// memory is what the collector has seen before the request. nil for a collector that has
	// observed only its first lists.
	memory *collectorMemory
	// overdue holds the overdue deletions that were found in the whole snapshot, if this run
	// simulates a part of it. overdueSearched is true if they were searched for, so that a nil
	// overdue means none.
	overdue         *outcome.Late
	overdueSearched bool
	// reachCache holds the paths of the snapshot, computed before the run. nil if they were not.
	reachCache *reachCache
}

// ControllerOf returns the controller that removes a finalizer from an object, and its state. The
// name is empty if it is unknown.
type ControllerOf func(o *object.Object, finalizer string) (name string, state report.ControllerState)

// Result is a plan and the simulation that produced it.
type Result struct {
	Plan *report.Plan
	run  *simulation
}

// After returns the objects at quiescence, in object.Compare order. Finalizers that the plan does
// not expect to be removed are still present.
func (r *Result) After() []*object.Object {
	after := r.run.futures.end
	if after == nil {
		after = r.run.serverObjects()
	}
	after = slices.Concat(after, r.run.notSimulated())
	slices.SortFunc(after, func(a, b *object.Object) int { return object.Compare(a.Ref, b.Ref) })
	return after
}

// Simulate applies a seed to a copy of the snapshot and runs it to quiescence. It returns an error
// if a target is not in the snapshot, if the context ends, or if the simulation does not terminate.
//
// For a delete, only the objects that it may reach are simulated, if these are few.
func Simulate(ctx context.Context, snap *snapshot.Snapshot, seed Seed, o Options) (*Result, error) {
	if seed.Verb == Delete && o.Explore != 0 && !o.Reads { // what the collector reads elsewhere would be missing
		o.reachCache = findReach(snap, seed, o.Rules)
	}
	return simulate(ctx, snap, seed, o)
}

// simulate runs a seed on the whole snapshot. It repeats the run until our own collector writes to
// no object with an unknown outcome.
func simulate(ctx context.Context, snap *snapshot.Snapshot, seed Seed, o Options) (*Result, error) {
	left := withheld{}
	for {
		s := newSimulation(snap, seed, o)
		all, err := s.runSchedules(ctx, left)
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

// runSchedules runs a seed under every schedule and returns the outcome of each object. It returns
// nil outcomes if our collector wrote to an object with an unknown outcome. Such objects have been
// added to left, and the seed has to be run again.
func (s *simulation) runSchedules(ctx context.Context, left withheld) (*outcome.Outcomes, error) {
	s.withhold(left)
	if err := s.run(ctx, nil); err != nil {
		return nil, err
	}
	all := s.judge.Outcomes()
	if s.ourCollector() && left.addUnknown(s, all) {
		return nil, nil
	}
	if err := s.explore(ctx, all, left); err != nil {
		return nil, err
	}
	if s.ourCollector() && left.addUnknown(s, all) { // unknown under another schedule only
		return nil, nil
	}
	if s.seed.Verb == RemoveFinalizer {
		if err := s.compareWithoutRequest(ctx, all); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// EffectOn simulates a seed and returns its effect on one object: Kept if nothing touches it. For a
// delete, the effect includes both futures. around is the health of the other controllers; nil if
// it is unknown.
func EffectOn(ctx context.Context, snap *snapshot.Snapshot, seed Seed, o *object.Object, around *health.Assessment) (report.Effect, error) {
	s := newSimulation(snap, seed, Options{Health: around, NoSteps: true, Unrecorded: true})
	if err := s.run(ctx, nil); err != nil {
		return report.Effect{}, err
	}
	all := s.judge.Outcomes()
	var effects []report.Effect
	if out := s.judge.OfObject(all, o); out != nil {
		effects = s.effects(out)
	}
	if seed.Verb == Delete {
		if err := s.runLaterFuture(ctx, all); err != nil {
			return report.Effect{}, err
		}
		effects = s.addFutureEffects(effects, all)
	}
	for i := range effects {
		if effects[i].Object == o.Ref {
			return effects[i], nil
		}
	}
	return report.Effect{Object: o.Ref, Outcome: report.Kept}, nil
}

// simulation is one run of a seed.
type simulation struct {
	snap           *snapshot.Snapshot
	seed           Seed
	options        Options
	recorder       *recorder
	collector      *engine.Collector
	tracks         *outcome.Tracks
	judge          *outcome.Judge
	controllers    *controllerSet
	futures        futures
	attribution    attribution
	priorDeletions priorDeletions
	// finalizerControllers finds the controllers that remove finalizers.
	finalizerControllers finalizerControllers
	// neighbours is the health of the other controllers, as far as the snapshot shows it.
	neighbours *outcome.Neighbours
	// assumedCollector is the state of the garbage collector.
	assumedCollector assumedCollector
	// withheld holds the objects that are left alone because their outcomes are unknown.
	withheld withheld
	// finder finds the inventories of deployers, and inventories has those found, by the uid of the object.
	// Both are nil until the first is needed.
	finder      *finalizer.Inventories
	inventories map[types.UID]*object.InventoryFacts
	// pendingRequests are the user's requests that have not been sent yet.
	pendingRequests []func()
	// explorationScope is the region that other runs are tried on. nil if none are tried.
	// exploration is the result of these runs.
	explorationScope *explorationScope
	exploration      *report.Exploration
}

// collectorOf returns the collector of a run. It has observed nothing, unless reachCache holds one
// that has observed the whole snapshot.
func (o Options) collectorOf(snap *snapshot.Snapshot) *engine.Collector {
	if o.reachCache != nil && o.reachCache.part == nil {
		return o.reachCache.collector
	}
	return engine.New(engine.WithRules(o.Rules), engine.WithRelease(snap.Version().Rules()), engine.WithCapacity(len(snap.Objects)), engine.WithAbsent(o.memory.knownAbsences()...))
}

func (o Options) strict() bool { return o.Rules == engine.Strict }

// notAskedFor reports whether the Keeper excludes an object as NotAskedFor.
func (s *simulation) notAskedFor(o *object.Object) bool {
	return s.options.Keep != nil && s.options.Keep(o, false) == reason.NotAskedFor
}

func newSimulation(snap *snapshot.Snapshot, seed Seed, o Options) *simulation {
	beside := outcome.NewNeighbours(snap, o.Health)
	s := &simulation{
		snap: snap, seed: seed, options: o, neighbours: beside, assumedCollector: o.assumeCollector(seed),
		recorder:  newRecorder(beside, o.simulatedObjects(snap), o.Reads),
		collector: o.collectorOf(snap),
	}
	s.recorder.keep, s.recorder.silent = o.Keep, o.Unrecorded && seed.Verb == Delete
	s.controllers = newControllerSet(s.recorder, beside)
	s.tracks = outcome.NewTracks(snap, s.recorder.words)
	s.judge = &outcome.Judge{
		Snap: snap, Collects: seed.Verb == Collect, Takes: seed.Verb == RemoveFinalizer, Rules: o.Rules,
		Partial:     o.strict() && len(RelevantGaps(snap, func(string) bool { return true })) > 0,
		NotAskedFor: s.notAskedFor,
		Tracks:      s.tracks, Words: s.recorder.words, Kept: s.recorder.withheldWrites, Refused: s.recorder.refusedWrites,
		Server: s.recorder.server, Lookups: unrecordedReads{s.recorder}, Collector: s.collector,
		Inventory: s.inventoryFacts, Attempted: func(uid types.UID) []string { return s.futures.attempted[uid] }, Controllers: s.controllers.controllers, WaitsOf: s.controllers.waitsOf, Neighbours: beside, Causes: &s.attribution,
	}
	if o.Controller == nil && o.Health != nil {
		s.options.Controller = controllerLookup{o.Health, snap, s.judge}.controllerOf
	}
	s.attribution = attribution{snap: snap, seed: seed, rules: o.Rules, tracks: s.tracks, writes: s.writes}
	s.finalizerControllers = finalizerControllers{lookup: s.options.Controller, simulated: s.controllers, cache: map[report.Release]report.Release{}}
	if o.reachCache != nil && o.reachCache.part != nil {
		s.attribution.cachedMap = o.reachCache.paths
	}
	s.priorDeletions = priorDeletions{snap: snap, tracks: s.tracks, judge: s.judge, attribution: &s.attribution, controllers: &s.finalizerControllers}
	s.recorder.onEvent = func(e object.Event, _ int) { s.tracks.Event(e, s.recorder.words.Number(s.recorder.actor)) }
	return s
}

// run starts the collector as after a restart, lets it settle, applies the seed, and then removes
// the finalizers that have a running controller. If random isn't nil, everything after the seed
// runs under a random schedule.
func (s *simulation) run(ctx context.Context, random *rand.Rand) error {
	if err := s.runUntilReleases(ctx, random); err != nil {
		return err
	}
	return s.runExpectedFuture(ctx, random)
}

// runUntilReleases runs the part of a simulation that removes no finalizers of other controllers.
func (s *simulation) runUntilReleases(ctx context.Context, random *rand.Rand) error {
	s.controllers.observe()
	if err := s.findOverdue(ctx); err != nil {
		return err
	}
	if s.seed.Verb == RemoveFinalizer {
		return s.runRemoval(ctx, random)
	}
	if cache := s.options.reachCache; cache == nil || cache.part != nil {
		s.observeAll(s.options.simulatedObjects(s.snap), random)
	}
	s.prepareExploration(s.collector.Graph())
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

// findOverdue finds overdue deletions, unless the run of the whole snapshot has done so.
func (s *simulation) findOverdue(ctx context.Context) (err error) {
	if s.neighbours.Late = s.options.overdue; !s.options.overdueSearched {
		search := overdueSearch{snap: s.snap, neighbours: s.neighbours, recorder: s.recorder, rules: s.options.Rules, collector: s.assumedCollector}
		s.neighbours.Late, err = search.find(ctx)
	}
	return err
}

// runRemoval removes the finalizers before the collector starts, or after it has observed
// everything if it was already running.
func (s *simulation) runRemoval(ctx context.Context, random *rand.Rand) error {
	s.tracks.Phase = outcome.AfterSeed
	if s.options.Explore != 0 {
		c := Start(s.snap, s.options.Rules)
		s.prepareExploration(c.Graph())
	}
	if s.collectorWasRunning() {
		s.observeAll(s.snap.Objects, random)
	}
	if err := s.removeRequestedFinalizers(ctx); err != nil {
		return err
	}
	if !s.collectorWasRunning() {
		s.recorder.Events() // the collector starts after these events
		s.observeAll(s.serverObjects(), random)
	}
	return s.drain(ctx, random)
}

// collectorWasRunning reports whether the collector has observed everything before finalizers are
// removed.
func (s *simulation) collectorWasRunning() bool {
	return s.options.memory != nil && s.options.memory.running
}

// prepareExploration finds what the request can reach, if other runs are to be tried.
func (s *simulation) prepareExploration(g *graph.Graph) {
	if s.options.Explore != 0 {
		s.explorationScope = s.findExplorationScope(g)
	}
}

// observeAll lets the collector observe the objects, as after a restart. With random, the objects
// arrive in random order, and perhaps after the workers have started. Our own collector waits for
// all lists, and a collector that has been running has them.
//
// Upstream: client-go/tools/cache/reflector.go Reflector.watchList: hands over what a map held.
func (s *simulation) observeAll(objects []*object.Object, random *rand.Rand) {
	late := false
	if random != nil {
		objects = slices.Clone(objects)
		random.Shuffle(len(objects), func(i, j int) { objects[i], objects[j] = objects[j], objects[i] })
		late = random.IntN(2) == 0 && !s.ourCollector() && !s.collectorWasRunning()
	}
	for _, o := range objects {
		if !s.recorder.watches(o) {
			continue
		}
		for _, e := range s.options.memory.eventsFor(o) {
			if late { // workers may start before the lists arrive
				s.recorder.pending = append(s.recorder.pending, e)
			} else {
				s.collector.Observe(e)
			}
		}
	}
}

// drain lets the collector and the other controllers run until nothing changes. It sends the user's
// pending requests first or, with random, at random times.
func (s *simulation) drain(ctx context.Context, random *rand.Rand) error {
	follow := s.collectorCallbacks()
	follow.Idle = func() bool { return s.sendNextRequest() || s.controllers.act(ctx) }
	if random != nil {
		s.controllers.interleaver = newInterleaver(random)
		pace := 1 << random.IntN(8) // a small pace sends the user's requests close together; with 128, the collector settles before each
		world := interleavedWorld{s.recorder, func() {
			for pace < 1<<7 && len(s.pendingRequests) > 0 && random.IntN(pace) == 0 {
				s.sendNextRequest()
			}
			s.controllers.interleaver.actWhileBusy(ctx, s.controllers)
		}}
		return engine.Explore(ctx, s.collector, world, follow, random)
	}
	for s.sendNextRequest() {
	}
	return engine.Drain(ctx, s.collector, s.recorder, follow)
}

// collectorCallbacks returns the callbacks that record the collector's decisions.
func (s *simulation) collectorCallbacks() engine.Follow {
	return engine.Follow{
		Decided: func(d engine.Decision) {
			s.recorder.reason, s.recorder.observedObject = d.Reason.String(), d.Attempt.Observed
			s.tracks.Decided(d)
			if d.Attempt.Work == engine.OrphanWork {
				s.tracks.Orphaning(d)
			}
		},
		Settled: func(engine.Outcome) { s.recorder.reason, s.recorder.observedObject = "", nil },
	}
}

// applySeed sends the user's first request and queues the others. It returns an error if a target
// is not in the snapshot.
func (s *simulation) applySeed(ctx context.Context) error {
	if s.seed.Uninstall != nil {
		s.applyUninstall(ctx)
		s.sendNextRequest()
		return nil
	}
	policy := metav1.DeletionPropagation(s.seed.Policy.String())
	for _, ref := range s.seed.Targets {
		target := s.snap.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name)
		if target == nil {
			return fmt.Errorf("%s is not in the snapshot", ref)
		}
		s.pendingRequests = append(s.pendingRequests, func() {
			tr := s.tracks.Of(target)
			tr.Target = true
			s.recorder.runAs(outcome.ActorUser, string(reason.Requested), func() {
				tr.Refused = s.recorder.Delete(ctx, target.Ref, metav1.DeleteOptions{PropagationPolicy: &policy, GracePeriodSeconds: s.seed.Grace})
			})
		})
	}
	s.sendNextRequest()
	return nil
}

// sendNextRequest sends the user's next request. It returns false if there is none.
func (s *simulation) sendNextRequest() bool {
	if len(s.pendingRequests) == 0 {
		return false
	}
	send := s.pendingRequests[0]
	s.pendingRequests = s.pendingRequests[1:]
	send()
	return true
}

// serverObjects returns the objects on the simulated server at this moment.
func (s *simulation) serverObjects() []*object.Object { return s.recorder.server.Objects() }
