package plan

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/graph"
	"github.com/kubectl-gc/kubectl-gc/internal/impact"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan/outcome"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// Usual, as Options.Explore, has a plan explored as far as that costs no more than the
// plan itself, and not at all when more than MostInReach objects are within reach.
const Usual = -1

// MostInReach is the number of objects within reach up to which a plan is explored
// without being asked to.
const MostInReach = 2000

// scope is what a request can reach: what other runs are tried on.
type scope struct {
	region *impact.Region
	// part and reached are the region in order; not there where nothing is tried.
	part    *snapshot.Snapshot
	reached []*object.Object
	// oneEnd: no schedule makes a difference.
	oneEnd bool
}

// objects are those of the part: in its order where anything is tried.
func (s *scope) objects() []*object.Object {
	if s.part == nil {
		return s.region.Members()
	}
	return s.part.Objects
}

// tooLarge reports whether so much is within reach that nothing is tried unless that is asked for.
func (s *scope) tooLarge() bool { return s.region.Size() > MostInReach }

// survey finds what the request can reach. The graph is that of a collector that has
// seen everything and done nothing.
func (s *simulation) survey(g *graph.Graph) *scope {
	m := s.pathsIn(g)
	requested := s.cause.requested()
	starts := slices.Clone(requested)
	if s.seed.Verb == Collect {
		starts = slices.DeleteFunc(m.Restless(), s.notAskedFor)
	}
	for _, o := range s.snap.Objects {
		if s.seed.Verb == Delete && underWay(o) {
			starts = append(starts, o)
		}
	}
	found := &scope{region: m.Region(starts...)}
	if s.options.Explore != Usual || !found.tooLarge() {
		found.part, found.reached = found.region.Part(), found.region.Objects()
	}
	if seen := s.options.seen; seen != nil && seen.part == nil {
		seen.paths = nil // nobody asks for them again, and of a million objects they are large
	}
	found.oneEnd = s.seed.oneEnd(m, found.region, requested)
	if s.seed.Verb != Collect && !found.oneEnd {
		s.cause.reachOn(m) // exonerate asks for it, and needs no other map then
	}
	return found
}

// pathsIn are the paths of the snapshot, by the graph of such a collector.
func (s *simulation) pathsIn(g *graph.Graph) *impact.Map {
	if s.options.seen != nil {
		return s.options.seen.paths
	}
	return impact.New(s.snap, g)
}

// explore tries other runs and marks what ends otherwise in one of them.
func (s *simulation) explore(ctx context.Context, all *outcome.Outcomes, left undecided) error {
	if s.scope == nil {
		return nil
	}
	e := &report.Exploration{State: report.Explored, Objects: s.scope.region.Size(), Requested: s.options.Explore > 0}
	s.exploration = e
	usual := s.options.Explore == Usual
	memories := s.recollectionsOf(s.scope.objects())
	switch {
	case usual && s.scope.oneEnd && memories.none(), s.scope.region.Size() == 0:
		e.State, s.scope = report.OneEnd, nil
		return nil
	case usual && s.scope.tooLarge():
		e.State, s.scope = report.TooLarge, nil
		return nil
	}
	schedules := s.options.Explore
	if usual {
		schedules = s.affordable()
	}
	x := explorer{s: s, all: all, reference: all.Clone(), left: left, answers: map[report.Release]report.Release{}}
	if usual && s.scope.oneEnd {
		schedules = 0
	}
	for i := range schedules {
		var m *memory
		if i%2 > 0 {
			m = memories.runs()
		}
		if err := x.try(ctx, m, rand.New(rand.NewPCG(s.options.Seed, uint64(i)))); err != nil {
			return fmt.Errorf("schedule %d of seed %d: %w", i, s.options.Seed, err)
		}
		e.Schedules++
	}
	if memories.none() {
		return nil
	}
	for i, m := range memories.memories() {
		if err := x.try(ctx, m, nil); err != nil {
			return fmt.Errorf("memory %d: %w", i, err)
		}
		e.Memories++
	}
	for i := range schedules / 2 {
		random := rand.New(rand.NewPCG(s.options.Seed, 1<<32+uint64(i)))
		if err := x.try(ctx, memories.any(random), random); err != nil {
			return fmt.Errorf("memory and schedule %d of seed %d: %w", i, s.options.Seed, err)
		}
		e.Memories++
	}
	return nil
}

// most is the number of schedules that are tried without being asked to, of up to
// cheapPart objects; of twice as many it is half of that, and so on, so that they cost
// about as much as to read the objects.
const most, cheapPart = 64, 32

// affordable is how many schedules are tried. It has few steps, so that what comes and
// goes elsewhere in a cluster does not change a plan.
func (s *simulation) affordable() int {
	n := most
	for size := len(s.scope.part.Objects); size > cheapPart && n > 2; size /= 2 {
		n /= 2
	}
	return n
}

// explorer compares runs.
type explorer struct {
	s         *simulation
	all       *outcome.Outcomes
	reference *outcome.Outcomes
	left      undecided
	// answers say of the finalizers that were asked about who removes them: that is the same in
	// every run.
	answers map[report.Release]report.Release
}

// try makes one more run: with random under another schedule, with a memory as a
// collector that has been running.
func (x *explorer) try(ctx context.Context, m *memory, random *rand.Rand) error {
	o := x.s.options
	other := newSimulation(x.s.scope.part, x.s.seed, Options{
		Rules: o.Rules, Keep: o.Keep, Controller: o.Controller, Surroundings: o.Surroundings, NoSteps: true, memory: m,
		late: x.s.neighbours.Late, looked: true,
	})
	other.recorder.silent, other.finalizers.answers = true, x.answers
	other.knowsCauses(x.s)
	other.leave(x.left)
	if err := other.run(ctx, random); err != nil {
		return err
	}
	x.compare(other, m)
	return nil
}

func (x *explorer) compare(other *simulation, m *memory) {
	outcomes := other.judge.Outcomes()
	for _, o := range x.s.scope.reached {
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
			x.contest(key, here, there, other, m)
		}
	}
}

// contest notes that an object ends otherwise, too. The plan shows the end of the reference
// run, which is the usual one: testdata/usual has worlds that a server brought to that end in
// three runs of three. An object that is unknown in one run is unknown. A plan for our own
// collector shows the end in which the object loses least.
func (x *explorer) contest(key outcome.Key, here, there *outcome.Outcome, other *simulation, m *memory) {
	shown := x.all.At(key)
	if shown == nil {
		shown = here
		x.all.Set(key, here)
	}
	if shown.Knows(there) {
		return
	}
	e := outcome.End{Outcome: there, Because: report.Timing, Message: other.sentence(there)}
	if m != nil && m.what != "" {
		e.Because, e.Remembered = report.Memory, m.what
	}
	shown.DependsOnTiming = true
	if (x.s.ourCollector() || there.Result == report.Unknown) && outcome.Rank(there.Result) < outcome.Rank(shown.Result) {
		next := *there
		next.Track = there.Track.Retold(other.recorder.words, x.s.recorder.words)
		next.DependsOnTiming, next.AlreadyHappening = true, shown.AlreadyHappening && there.AlreadyHappening
		next.Ends = append([]outcome.End{{Outcome: shown, Because: e.Because, Message: x.s.sentence(shown), Remembered: e.Remembered}}, shown.Ends...)
		shown.Ends = nil
		x.all.Set(key, &next)
		return
	}
	shown.Ends = append(shown.Ends, e)
}

// sentence is the message of an outcome by itself.
func (s *simulation) sentence(out *outcome.Outcome) string {
	alone := *out
	alone.DependsOnTiming, alone.Ends = false, nil
	return s.effects(&alone)[0].Message
}
