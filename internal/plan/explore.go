package plan

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/graph"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan/outcome"
	"github.com/kubectl-gc/kubectl-gc/internal/reach"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// Usual is the value of Options.Explore that picks the number of runs by cost: together they cost
// about as much as the plan itself. It picks none if more than MostInReach objects are within
// reach.
const Usual = -1

// MostInReach is the largest number of objects within reach that a plan explores by default.
const MostInReach = 2000

// explorationScope is the part of the snapshot that a request can reach. The other runs simulate
// only this part.
type explorationScope struct {
	region *reach.Region
	// part is the region as a snapshot, and reached the objects in it that may change. Both are nil
	// if the region is too large to try other runs.
	part    *snapshot.Snapshot
	reached []*object.Object
	// hasOneEnd is true if every schedule leads to the same end.
	hasOneEnd bool
}

// objects returns the objects of the region.
func (s *explorationScope) objects() []*object.Object {
	if s.part == nil {
		return s.region.Members()
	}
	return s.part.Objects
}

// tooLarge reports whether more objects are within reach than Usual explores.
func (s *explorationScope) tooLarge() bool { return s.region.Size() > MostInReach }

// findExplorationScope finds what the request can reach. g must be the graph of a collector that
// has observed the whole snapshot and done nothing.
func (s *simulation) findExplorationScope(g *graph.Graph) *explorationScope {
	m := s.impactMapOf(g)
	requested := s.attribution.requested()
	starts := slices.Clone(requested)
	if s.seed.Verb == Collect {
		starts = slices.DeleteFunc(m.Unstable(), s.notAskedFor)
	}
	for _, o := range s.snap.Objects {
		if s.seed.Verb == Delete && awaitsCollector(o) {
			starts = append(starts, o)
		}
	}
	found := &explorationScope{region: m.Region(starts...)}
	if s.options.Explore != Usual || !found.tooLarge() {
		found.part, found.reached = found.region.Part(), found.region.Objects()
	}
	if cache := s.options.reachCache; cache != nil && cache.part == nil {
		cache.paths = nil // not needed any more, and large for a million objects
	}
	found.hasOneEnd = s.seed.hasOneEnd(m, found.region, requested) && !s.mayLoseCallee(found.region)
	if s.seed.Verb != Collect && !found.hasOneEnd {
		s.attribution.computeReached(m) // markUnrelated needs it, and no other map
	}
	return found
}

// impactMapOf returns the impact map of the snapshot. g must be the graph of a collector that has
// observed the whole snapshot and done nothing.
func (s *simulation) impactMapOf(g *graph.Graph) *reach.Map {
	if s.options.reachCache != nil {
		return s.options.reachCache.paths
	}
	return ReachMap(s.snap, g, s.options.Health)
}

// explore tries other runs and marks each object that ends differently in one of them. It tries
// random schedules first, then each memory of a running collector, and then random schedules with
// random memories.
func (s *simulation) explore(ctx context.Context, all *outcome.Outcomes) error {
	if s.explorationScope == nil {
		return nil
	}
	e := &report.Exploration{State: report.Explored, Objects: s.explorationScope.region.Size(), Requested: s.options.Explore > 0}
	s.exploration = e
	usual := s.options.Explore == Usual
	facts := s.possibleFacts(s.explorationScope.objects())
	switch {
	case usual && s.explorationScope.hasOneEnd && facts.isEmpty(), s.explorationScope.region.Size() == 0:
		e.State, s.explorationScope = report.OneEnd, nil
		return nil
	case usual && s.explorationScope.tooLarge():
		e.State, s.explorationScope = report.TooLarge, nil
		return nil
	}
	schedules := s.options.Explore
	if usual {
		schedules = s.scheduleCount()
	}
	x := explorer{s: s, all: all, reference: all.Clone(), controllerCache: map[report.Release]report.Release{}}
	if usual && s.explorationScope.hasOneEnd {
		schedules = 0
	}
	for i := range schedules {
		var m *collectorMemory
		if i%2 > 0 {
			m = facts.blankMemory()
		}
		if err := x.tryRun(ctx, assumptions{memory: m, schedule: rand.New(rand.NewPCG(s.options.Seed, uint64(i)))}); err != nil {
			return fmt.Errorf("schedule %d of seed %d: %w", i, s.options.Seed, err)
		}
		e.Schedules++
	}
	if facts.isEmpty() {
		return nil
	}
	for i, m := range facts.memories() {
		if err := x.tryRun(ctx, assumptions{memory: m}); err != nil {
			return fmt.Errorf("memory %d: %w", i, err)
		}
		e.Memories++
	}
	for i := range schedules / 2 {
		random := rand.New(rand.NewPCG(s.options.Seed, 1<<32+uint64(i)))
		if err := x.tryRun(ctx, assumptions{memory: facts.randomMemory(random), schedule: random}); err != nil {
			return fmt.Errorf("memory and schedule %d of seed %d: %w", i, s.options.Seed, err)
		}
		e.Memories++
	}
	return nil
}

// maxSchedules is the number of schedules that Usual tries for up to cheapestSize objects. The
// number is halved, down to 2, each time the number of objects doubles, so that the runs cost about
// as much as to read the objects.
const maxSchedules, cheapestSize = 64, 32

// scheduleCount returns the number of schedules that Usual tries. It has few distinct values, so
// that objects that are created or deleted elsewhere in a cluster don't change a plan.
func (s *simulation) scheduleCount() int {
	n := maxSchedules
	for size := len(s.explorationScope.part.Objects); size > cheapestSize && n > 2; size /= 2 {
		n /= 2
	}
	return n
}

// explorer compares other runs with the reference run.
type explorer struct {
	s         *simulation
	all       *outcome.Outcomes
	reference *outcome.Outcomes
	// controllerCache caches the controllers of finalizers. They are the same in every run.
	controllerCache map[report.Release]report.Release
}

// tryRun makes one more run and compares it.
func (x *explorer) tryRun(ctx context.Context, a assumptions) error {
	other := x.s.another(x.s.explorationScope.part, a)
	other.finalizerControllers.cache = x.controllerCache
	if err := other.run(ctx); err != nil {
		return err
	}
	x.compareWith(other, a.memory)
	return nil
}

// compareWith adds an end for each reached object that ends differently in the other run. An object
// without an outcome in one of the runs was not touched there.
func (x *explorer) compareWith(other *simulation, m *collectorMemory) {
	outcomes := other.judge.Outcomes()
	for _, o := range x.s.explorationScope.reached {
		key := x.s.tracks.Key(o)
		here, there := x.reference.At(key), outcomes.At(other.tracks.Key(o))
		switch {
		case here == nil && there == nil:
			continue
		case here == nil:
			here = x.s.judge.Undisturbed(o)
		case there == nil:
			there = other.judge.Undisturbed(o)
		}
		if !outcome.SameEnd(here, there) && !here.StandsOpen() {
			x.addEnd(key, here, there, other, m)
		}
	}
}

// addEnd records that an object also ends differently. The plan shows the end of the reference
// run, which is the usual one: for the worlds in testdata/usual, a real server reached it in three
// runs of three. An object that is unknown in one run is unknown. A plan for our own collector
// shows the end with the lowest outcome.Rank.
func (x *explorer) addEnd(key outcome.Key, here, there *outcome.Outcome, other *simulation, m *collectorMemory) {
	shown := x.all.At(key)
	if shown == nil {
		shown = here
		x.all.Set(key, here)
	}
	if shown.Knows(there) {
		return
	}
	e := outcome.End{Outcome: there, Because: report.Timing, Message: other.messageWithoutEnds(there)}
	if m != nil && m.description != "" {
		e.Because, e.Remembered = report.Memory, m.description
	}
	shown.DependsOnTiming = true
	if (x.s.ourCollector() || there.Result == report.Unknown) && outcome.Rank(there.Result) < outcome.Rank(shown.Result) {
		next := *there
		next.Track = there.Track.Retold(other.recorder.words, x.s.recorder.words)
		next.DependsOnTiming, next.AlreadyHappening = true, shown.AlreadyHappening && there.AlreadyHappening
		next.Ends = append([]outcome.End{{Outcome: shown, Because: e.Because, Message: x.s.messageWithoutEnds(shown), Remembered: e.Remembered}}, shown.Ends...)
		shown.Ends = nil
		x.all.Set(key, &next)
		return
	}
	shown.Ends = append(shown.Ends, e)
}

// messageWithoutEnds returns the message of an outcome, without the other ends.
func (s *simulation) messageWithoutEnds(out *outcome.Outcome) string {
	alone := *out
	alone.DependsOnTiming, alone.Ends = false, nil
	return s.effects(&alone)[0].Message
}

// hasOneEnd reports whether everything within reach of a delete has the same end under every
// schedule. It decides this without simulating them, and returns false if in doubt.
//
// Order matters if two deletes reach one object and the first changes what the second finds.
// Examples are two owners that lose their references one after the other, an owner that counts as
// existing again once it no longer waits for its dependents (Q24), and a finalizer that holds the
// middle of a chain (Q25). There is one end if each object is deleted through only one other
// object, and nothing that waits is held. Deletions that began before the request never have a
// certain end.
func (s Seed) hasOneEnd(m *reach.Map, within *reach.Region, targets []*object.Object) bool {
	if s.Verb != Delete {
		return false
	}
	var sources []*object.Object
	ranges, is := 0, map[*object.Object]bool{}
	for _, o := range targets {
		is[o] = true
	}
	return !within.Any(func(o *object.Object) bool {
		targeted := is[o]
		if o.Is(object.ServiceCIDR) && (targeted || slices.ContainsFunc(m.Sources(o), within.Has)) {
			ranges++ // the second of two deleted ranges may find its addresses covered by the first
		}
		sources = m.AppendSources(sources[:0], o)
		return ranges > 1 || s.mayDependOnOrder(m, o, within, targeted, sources)
	})
}

// mayDependOnOrder reports whether the end of an object may depend on the order of the deletes that
// reach it from its sources. targeted is true if the request deletes the object itself.
func (s Seed) mayDependOnOrder(m *reach.Map, o *object.Object, within *reach.Region, targeted bool, sources []*object.Object) bool {
	if !m.IsStable(o) || o.Is(object.CRD) {
		return true
	}
	if s.Policy == engine.ForegroundPolicy && (len(o.Finalizers()) > 0 || o.Pod() != nil || o.IsContainer()) {
		return true // it may count as existing again once it no longer waits for its dependents
	}
	owners, others := 0, 0
	for i, x := range sources {
		switch {
		case !within.Has(x) || slices.Contains(sources[:i], x):
		case o.RefersTo(x.UID):
			for _, ref := range o.Owners {
				if ref.UID == x.UID { // repeated references are not always merged
					owners++
				}
			}
		default:
			others++
		}
	}
	if targeted {
		others++
	}
	switch {
	case owners == 0:
		return false
	case owners > 1 || len(o.Owners) > 1 && others > 0:
		return true
	default:
		return others > 0 && s.Policy != engine.Background
	}
}
