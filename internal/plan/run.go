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
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan/outcome"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// assumptions are what a run assumes beyond what the snapshot shows. The zero value is the reference
// run: the usual order of events, a collector that has observed only its first lists.
type assumptions struct {
	// schedule picks the order of events after the request. nil for the usual order.
	schedule *rand.Rand
	// memory is what the collector has seen before the request. nil for nothing.
	memory *collectorMemory
	// withheld holds the objects that are left alone because their outcomes are unknown.
	withheld withheld
	// byHand has the objects whose controllers are gone unless they are known to run: a person removes their
	// finalizers, and nothing else is deleted with these. nil for none.
	byHand func(object.Ref) bool
}

// simulation is one run of a seed.
type simulation struct {
	snap    *snapshot.Snapshot
	seed    Seed
	options Options
	assumed assumptions
	// reference is the run that this one is compared with. It has found what is the same in both. nil
	// for the reference run itself.
	reference      *simulation
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
	// simHealth is the health of the other controllers, as far as the snapshot shows it.
	simHealth *outcome.Health
	// assumedCollector is the state of the garbage collector.
	assumedCollector assumedCollector
	// finder finds the inventories of deployers, and inventories has those found, by the uid of the object.
	// Both are nil until the first is needed.
	finder      *finalizer.Inventories
	inventories map[types.UID]*object.InventoryFacts
	// freed is true if the collector has to try again what was obstructed.
	freed bool
	// pendingRequests are the user's requests that have not been sent yet.
	pendingRequests []func()
	// explorationScope is the region that other runs are tried on. nil if none are tried.
	// exploration is the result of these runs.
	explorationScope *explorationScope
	exploration      *report.Exploration
}

// newCollector returns the collector of a run. It has observed nothing, unless reachCache holds one
// that has observed the whole snapshot.
func newCollector(snap *snapshot.Snapshot, o Options, m *collectorMemory) *engine.Collector {
	if o.reachCache != nil && o.reachCache.part == nil {
		return o.reachCache.collector
	}
	return engine.New(engine.WithRules(o.Rules), engine.WithRelease(snap.Version().Rules()), engine.WithCapacity(len(snap.Objects)), engine.WithAbsent(m.knownAbsences()...))
}

func (o Options) strict() bool { return o.Rules == engine.Strict }

// notAskedFor reports whether the Keeper excludes an object as NotAskedFor.
func (s *simulation) notAskedFor(o *object.Object) bool {
	return s.options.Keep != nil && s.options.Keep(o, false) == reason.NotAskedFor
}

func newSimulation(snap *snapshot.Snapshot, seed Seed, o Options, a assumptions) *simulation {
	simHealth := outcome.NewHealth(snap, o.Health)
	s := &simulation{
		snap: snap, seed: seed, options: o, assumed: a, simHealth: simHealth, assumedCollector: o.assumeCollector(seed),
		recorder:  newRecorder(simHealth, o.simulatedObjects(snap), o.Record),
		futures:   futures{attempted: map[outcome.Key][]string{}, undeployed: map[outcome.Key]bool{}},
		collector: newCollector(snap, o, a.memory),
	}
	s.recorder.keep = a.withheld.keeper(o.Keep)
	s.controllers = newControllerSet(s.recorder, simHealth)
	s.tracks = outcome.NewTracks(snap, s.recorder.words)
	s.judge = &outcome.Judge{
		Snap: snap, Collects: seed.Verb == Collect, Takes: seed.Verb == RemoveFinalizer, Rules: o.Rules,
		Partial:     o.strict() && len(RelevantGaps(snap, func(string) bool { return true })) > 0,
		NotAskedFor: s.notAskedFor, UndecidedBefore: a.withheld,
		Tracks: s.tracks, Words: s.recorder.words, Kept: s.recorder.withheldWrites, Refused: s.recorder.refusedWrites,
		Server: s.recorder.server, Lookups: unrecordedReads{s.recorder}, Collector: s.collector,
		Inventory: s.inventoryFacts, Attempted: s.attempted,
		Controllers: s.controllers.controllers, WaitsOf: s.controllers.waitsOf, Health: simHealth, Causes: &s.attribution,
	}
	s.finalizerControllers = finalizerControllers{lookup: o.Controller, simulated: s.controllers, cache: map[report.Release]report.Release{}}
	s.judge.Gone = func(o *object.Object, name string) bool {
		r := report.Release{Object: o.Ref, Finalizer: name, State: report.ControllerUnknown}
		return s.finalizerControllers.withController(o, r).State == report.ControllerGone
	}
	if o.Controller == nil && o.Health != nil {
		lookup := controllerLookup{o.Health, snap, s.judge, o.Outside}
		s.finalizerControllers.lookup, s.finalizerControllers.pauseOf, s.finalizerControllers.unread = lookup.controllerOf, lookup.pauseOf, o.Health.ControllerUnread
	}
	if a.byHand != nil {
		s.finalizerControllers.lookup = s.finalizerControllers.lookup.orGone(a.byHand)
	}
	s.attribution = attribution{snap: snap, health: o.Health, seed: seed, tracks: s.tracks, judge: s.judge, writes: s.writes}
	if o.reachCache != nil && o.reachCache.part != nil {
		s.attribution.cachedMap = o.reachCache.paths
	}
	s.priorDeletions = priorDeletions{snap: snap, tracks: s.tracks, judge: s.judge, attribution: &s.attribution, controllers: &s.finalizerControllers}
	s.recorder.onEvent = func(e object.Event) {
		s.tracks.Event(e, s.recorder.words.Number(s.recorder.actor))
		s.freeDeletions(e)
	}
	return s
}

// another returns a run of the same request under other assumptions, on a part of the snapshot to
// which everything belongs that the request can reach.
func (s *simulation) another(part *snapshot.Snapshot, a assumptions) *simulation {
	a.withheld = s.assumed.withheld
	o := s.optionsWithoutRecord()
	o.Keep = s.options.Keep
	other := newSimulation(part, s.seed, o, a)
	other.reference = s
	other.reuseAttribution(s)
	return other
}

// optionsWithoutRecord returns the options of a run that is only compared with this one.
func (s *simulation) optionsWithoutRecord() Options {
	o := s.options
	return Options{Rules: o.Rules, Controller: o.Controller, Health: o.Health, Collector: o.Collector, Outside: o.Outside, Record: RecordNothing}
}

// run starts the collector as after a restart, lets it settle, applies the seed, and then removes
// the finalizers that have a running controller.
func (s *simulation) run(ctx context.Context) error {
	if err := s.runUntilReleases(ctx); err != nil {
		return err
	}
	return s.runExpectedFuture(ctx)
}

// runUntilReleases runs the part of a simulation that removes no finalizers of other controllers.
func (s *simulation) runUntilReleases(ctx context.Context) error {
	s.controllers.observe()
	if err := s.findOverdue(ctx); err != nil {
		return err
	}
	if s.seed.Verb == RemoveFinalizer {
		return s.runRemoval(ctx)
	}
	if cache := s.options.reachCache; cache == nil || cache.part != nil {
		s.observeAll(s.options.simulatedObjects(s.snap))
	}
	s.prepareExploration(s.collector.Graph())
	if s.seed.Verb == Collect {
		s.tracks.Phase = outcome.AfterSeed
		return s.drain(ctx, s.assumed.schedule)
	}
	if err := s.drain(ctx, nil); err != nil {
		return err
	}
	s.tracks.Phase = outcome.AfterSeed
	if err := s.applySeed(ctx); err != nil {
		return err
	}
	return s.drain(ctx, s.assumed.schedule)
}

func (s *simulation) overdueSearch() overdueSearch {
	return overdueSearch{snap: s.snap, simHealth: s.simHealth, recorder: s.recorder, rules: s.options.Rules, collector: s.assumedCollector}
}

// findOverdue finds overdue deletions, unless the reference run has done so.
func (s *simulation) findOverdue(ctx context.Context) (err error) {
	if s.reference != nil {
		s.simHealth.Overdue = s.reference.simHealth.Overdue
		return nil
	}
	s.simHealth.Overdue, err = s.overdueSearch().find(ctx)
	return err
}

// runRemoval removes the finalizers before the collector starts, or after it has observed
// everything if it was already running.
func (s *simulation) runRemoval(ctx context.Context) error {
	s.tracks.Phase = outcome.AfterSeed
	if s.options.Explore != 0 {
		c := Start(s.snap, s.options.Rules)
		s.prepareExploration(c.Graph())
	}
	if s.collectorWasRunning() {
		s.observeAll(s.snap.Objects)
	}
	if err := s.removeRequestedFinalizers(ctx); err != nil {
		return err
	}
	if !s.collectorWasRunning() {
		s.recorder.Events() // the collector starts after these events
		s.observeAll(s.serverObjects())
	}
	return s.drain(ctx, s.assumed.schedule)
}

// collectorWasRunning reports whether the collector has observed everything before finalizers are
// removed.
func (s *simulation) collectorWasRunning() bool {
	return s.assumed.memory != nil && s.assumed.memory.running
}

// prepareExploration finds what the request can reach, if other runs are to be tried.
func (s *simulation) prepareExploration(g *graph.Graph) {
	if s.options.Explore != 0 {
		s.explorationScope = s.findExplorationScope(g)
	}
}

// observeAll lets the collector observe the objects, as after a restart. Under a schedule, the objects
// arrive in random order, and perhaps after the workers have started. Our own collector waits for
// all lists, and a collector that has been running has them.
//
// Upstream: client-go/tools/cache/reflector.go Reflector.watchList: hands over what a map held.
func (s *simulation) observeAll(objects []*object.Object) {
	workersFirst := false
	if random := s.assumed.schedule; random != nil {
		objects = slices.Clone(objects)
		random.Shuffle(len(objects), func(i, j int) { objects[i], objects[j] = objects[j], objects[i] })
		workersFirst = random.IntN(2) == 0 && !s.ourCollector() && !s.collectorWasRunning()
	}
	for _, o := range objects {
		if !s.recorder.watches(o) {
			continue
		}
		for _, e := range s.assumed.memory.eventsFor(o) {
			if workersFirst {
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
	follow.Idle = func() bool { return s.sendNextRequest() || s.wakeFreed(ctx) || s.controllers.act(ctx) }
	if random != nil {
		s.controllers.interleaver = newInterleaver(random)
		s.recorder.lostCallees.together = len(s.recorder.lostCallees.callees) > 0 && random.IntN(2) == 0
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
