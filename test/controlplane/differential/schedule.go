package differential

import (
	"context"
	"errors"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// workers is how many attempts are under way at a time, at most. Upstream has 20
// of each kind.
const workers = 8

// schedule runs a collector as finely as a real one runs: the world may change
// before every single request, also between two reads of one attempt. The
// exploring driver of the engine takes the requests of a lookup, and those of a
// decision, as one step each.
type schedule struct {
	c       *engine.Collector
	m       *mirror
	random  *rand.Rand
	idle    func() bool
	watches []kindWatch
	slots   []slot
	wokenAt uint64
	woken   bool
	steps   int
}

// kindWatch is what has happened to one kind and was not observed yet.
type kindWatch struct {
	apiVersion, kind string
	events           []object.Event
}

// slot is an attempt under way: it stops before each of its requests.
type slot struct {
	next func() (struct{}, bool)
	stop func()
}

var errEndless = errors.New("no end after a hundred thousand steps")

// run goes on until nothing happens any more.
func (s *schedule) run(ctx context.Context) error {
	defer func() {
		for _, sl := range s.slots {
			sl.stop()
		}
	}()
	for {
		if s.steps++; s.steps > 100_000 {
			return errEndless
		}
		s.arrive()
		var moves []func()
		for i := range s.watches {
			if len(s.watches[i].events) > 0 {
				moves = append(moves, func() { s.observe(i) })
			}
		}
		if s.c.Ready() > 0 && len(s.slots) < workers {
			moves = append(moves, func() { s.begin(ctx) })
		}
		for i := range s.slots {
			moves = append(moves, func() { s.step(i) })
		}
		if len(moves) > 0 {
			moves[s.random.IntN(len(moves))]()
			if s.random.IntN(8) == 0 { // a back-off of milliseconds ends while others work
				s.c.Wake()
			}
			continue
		}
		if !s.wake() && !s.idle() {
			return nil
		}
	}
}

func (s *schedule) arrive() {
	for _, e := range s.m.Events() {
		i := 0
		for i < len(s.watches) && (s.watches[i].kind != e.Object.Kind || s.watches[i].apiVersion != e.Object.APIVersion) {
			i++
		}
		if i == len(s.watches) {
			s.watches = append(s.watches, kindWatch{apiVersion: e.Object.APIVersion, kind: e.Object.Kind})
		}
		s.watches[i].events = append(s.watches[i].events, e)
	}
}

func (s *schedule) observe(i int) {
	w := &s.watches[i]
	e := w.events[0]
	w.events = w.events[1:]
	s.c.Observe(e)
}

// begin starts an attempt: mostly one of the oldest.
func (s *schedule) begin(ctx context.Context) {
	s.c.TakeVanished()
	works := []engine.Work{engine.DeleteWork, engine.OrphanWork}
	s.random.Shuffle(len(works), func(i, j int) { works[i], works[j] = works[j], works[i] })
	for _, w := range works {
		n := len(s.c.Queued(w))
		if n == 0 {
			continue
		}
		if a, ok := s.c.NextOf(w, s.random.IntN(min(n, workers))); ok {
			s.slots = append(s.slots, s.attempt(ctx, a))
		}
		return
	}
}

func (s *schedule) attempt(ctx context.Context, a engine.Attempt) slot {
	next, stop := iter.Pull(func(yield func(struct{}) bool) {
		api := stepwise{m: s.m, yield: yield}
		d := s.c.Decide(engine.Lookup(ctx, api, engine.Upstream, a))
		s.c.Settle(engine.Act(ctx, api, d))
	})
	return slot{next, stop}
}

func (s *schedule) step(i int) {
	sl := s.slots[i]
	if _, more := sl.next(); !more {
		s.slots = append(s.slots[:i], s.slots[i+1:]...)
	}
}

// wake tries the deferred attempts again once after every change.
func (s *schedule) wake() bool {
	if s.c.DeferredCount() == 0 || s.woken && s.wokenAt == s.m.Writes() {
		return false
	}
	s.woken, s.wokenAt = true, s.m.Writes()
	s.c.Wake()
	return true
}

// stepwise lets others go first before every request.
type stepwise struct {
	m     *mirror
	yield func(struct{}) bool
}

func (s stepwise) Resource(apiVersion, kind string) (object.Resource, error) {
	return s.m.Resource(apiVersion, kind)
}

func (s stepwise) Get(ctx context.Context, ref object.Ref) (*object.Object, error) {
	s.yield(struct{}{})
	return s.m.Get(ctx, ref)
}

func (s stepwise) Delete(ctx context.Context, ref object.Ref, o metav1.DeleteOptions) error {
	s.yield(struct{}{})
	return s.m.Delete(ctx, ref, o)
}

func (s stepwise) Patch(ctx context.Context, ref object.Ref, p object.Patch) error {
	s.yield(struct{}{})
	return s.m.Patch(ctx, ref, p)
}

// sought is an end that a schedule is looked for, and what was found of it so far.
//
// One schedule that leads to all of it is found soon in a small world. In a large
// one much goes on side by side that has nothing to do with each other, and each of
// it can go in several ways: no random schedule hits all of them at once. There it
// is enough that some schedule leads to the state of the world, and that for every
// object some schedule ends with it as it is, by the requests about it that were
// sent. Where even that is not found, attempts at one object stalled in the midst of
// each other: then each single request about it has to be one that some schedule
// sends (pieces).
type sought struct {
	end
	state   bool              // found
	objects map[string]string // not found yet: what is said of each
	lines   map[string]bool   // not found yet: every single request
	// silent: requests do not count.
	silent bool
}

func newSought(e end) *sought {
	s := &sought{end: e, objects: objectsIn(e), lines: map[string]bool{}}
	for line := range strings.Lines(e.requests) {
		s.lines[line] = true
	}
	return s
}

// pieces reports whether some schedule leads to the state, and each request was sent
// under some schedule.
func (s *sought) pieces() bool { return s.state && len(s.lines) == 0 }

// found takes the end of a schedule into account. It returns whether nothing is
// left to look for.
func (s *sought) found(e end) bool {
	if s.silent {
		e.requests = ""
	}
	if e == s.end {
		return true
	}
	s.state = s.state || e.state == s.end.state
	for line := range strings.Lines(e.requests) {
		delete(s.lines, line)
	}
	if len(s.objects) > 0 {
		for object, said := range objectsIn(e) {
			if s.objects[object] == said {
				delete(s.objects, object)
			}
		}
	}
	return s.state && len(s.objects) == 0
}

// left names what was not found.
func (s *sought) left() string {
	left := slices.Sorted(maps.Keys(s.objects))
	if !s.state {
		left = append([]string{"the state as a whole"}, left...)
	}
	return strings.Join(left, ", ")
}

// objectsIn sorts the lines of an end by the objects that they are about.
func objectsIn(e end) map[string]string {
	said := map[string]string{}
	for line := range strings.Lines(e.state) {
		object, _, _ := strings.Cut(line, " uid=")
		said[object] += line
	}
	for line := range strings.Lines(e.requests) {
		words := strings.Fields(line)
		if words[1] == "strategic" || words[1] == "merge" {
			words = words[1:]
		}
		said[strings.Join(words[1:4], " ")] += line
	}
	return said
}
