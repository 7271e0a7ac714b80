package differential

import (
	"context"
	"errors"
	"iter"
	"math/rand/v2"

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
