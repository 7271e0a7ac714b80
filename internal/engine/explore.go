package engine

import (
	"context"
	"errors"
	"iter"
	"math/rand/v2"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// workers is the number of attempts that an explored schedule overlaps. Upstream runs 20 workers
// per queue; a few are enough for every order of two requests.
const workers = 4

// Explore is Drain with a random schedule. random chooses which watch event arrives next, which
// attempt starts, and which attempt in progress sends its next request. Attempts overlap between
// any two requests, and watches lag. Events of one kind stay in order, as in a watch. Equal random
// sequences give equal schedules.
func Explore(ctx context.Context, c *Collector, w World, follow Follow, random *rand.Rand) error {
	e := explorer{drainer: drainer{c: c, w: w, follow: follow}, random: random}
	defer e.stop()
	return e.run(ctx)
}

type explorer struct {
	drainer
	random  *rand.Rand
	watches []watch
	// slots are the attempts in progress, idlers the workers without an attempt.
	slots, idlers []*slot
}

// watch holds the events of one kind that were not observed yet.
type watch struct {
	apiVersion, kind string
	events           []object.Event
}

func (e *explorer) run(ctx context.Context) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		e.arrive()
		moves := e.moves()
		if moves == 0 {
			if !e.wake() && !e.idle() {
				return nil
			}
			continue
		}
		if err := e.move(ctx, e.random.IntN(moves)); err != nil {
			return err
		}
	}
}

// arrive appends new events to the watches of their kinds.
func (e *explorer) arrive() {
	for _, ev := range e.w.Events() {
		i := 0
		for ; i < len(e.watches); i++ {
			if e.watches[i].kind == ev.Object.Kind && e.watches[i].apiVersion == ev.Object.APIVersion {
				break
			}
		}
		if i == len(e.watches) {
			e.watches = append(e.watches, watch{apiVersion: ev.Object.APIVersion, kind: ev.Object.Kind})
		}
		e.watches[i].events = append(e.watches[i].events, ev)
	}
}

// moves counts the possible next steps: the next event of a watch arrives, an attempt starts, or an
// attempt in progress continues.
func (e *explorer) moves() int {
	n := len(e.slots)
	for i := range e.watches {
		if len(e.watches[i].events) > 0 {
			n++
		}
	}
	if e.starts() {
		n++
	}
	return n
}

func (e *explorer) starts() bool { return e.c.Ready() > 0 && len(e.slots) < workers }

// move performs the n-th possible step, in the order in which moves counts them: watches first.
func (e *explorer) move(ctx context.Context, n int) error {
	for i := range e.watches {
		switch {
		case len(e.watches[i].events) == 0:
		case n == 0:
			e.observe(i)
			return nil
		default:
			n--
		}
	}
	if e.starts() {
		if n == 0 {
			return e.start(ctx)
		}
		n--
	}
	e.step(n)
	return nil
}

func (e *explorer) observe(i int) {
	w := &e.watches[i]
	ev := w.events[0]
	w.events = w.events[1:]
	e.c.Observe(ev)
}

// start gives a random ready attempt to a worker.
func (e *explorer) start(ctx context.Context) error {
	e.c.TakeVanished()
	for _, w := range e.order() {
		n := e.c.queue(w).len()
		if n == 0 {
			continue
		}
		a, ok := e.c.NextOf(w, e.random.IntN(n))
		if !ok {
			return nil
		}
		e.slots = append(e.slots, e.slot(ctx, a))
		return e.count(a)
	}
	return nil
}

// order returns both kinds of work in random order.
func (e *explorer) order() []Work {
	if e.random.IntN(2) == 0 {
		return []Work{OrphanWork, DeleteWork}
	}
	return []Work{DeleteWork, OrphanWork}
}

// step lets an attempt send one request and continue to the next one or to its end.
func (e *explorer) step(i int) {
	s := e.slots[i]
	s.resume()
	if s.over {
		e.slots = append(e.slots[:i], e.slots[i+1:]...)
		e.idlers = append(e.idlers, s)
	}
}

// stop ends the attempts in progress, without a further request, and the workers.
func (e *explorer) stop() {
	for _, s := range append(e.slots, e.idlers...) {
		s.stop()
	}
}

// slot is a worker. It runs an attempt and pauses before each of its requests, so that the world
// and the graph can change in between. Lookup, Decide and Act run unchanged in a coroutine, never
// in parallel with anything else. A coroutine is reused for many attempts, because a new one costs
// a stack.
type slot struct {
	attempt Attempt
	// over is true if the attempt has finished.
	over   bool
	resume func() (struct{}, bool)
	stop   func()
}

// slot prepares an attempt. It starts at the first resume.
func (e *explorer) slot(ctx context.Context, a Attempt) *slot {
	if n := len(e.idlers); n > 0 {
		s := e.idlers[n-1]
		e.idlers = e.idlers[:n-1]
		s.attempt, s.over = a, false
		return s
	}
	s := &slot{attempt: a}
	s.resume, s.stop = iter.Pull(func(pause func(struct{}) bool) {
		api := &stepwise{API: e.w, pause: func() bool { return pause(struct{}{}) }}
		for {
			e.carryOut(ctx, api, s.attempt)
			s.over = true
			if api.stopped || !pause(struct{}{}) {
				return
			}
		}
	})
	return s
}

// carryOut runs an attempt to its end, or until it is stopped.
func (e *explorer) carryOut(ctx context.Context, api *stepwise, a Attempt) {
	decision := e.c.Decide(Lookup(ctx, api, e.c.rules, a))
	if api.stopped {
		return
	}
	if e.follow.Decided != nil {
		e.follow.Decided(decision)
	}
	out := Act(ctx, api, decision)
	if api.stopped {
		return
	}
	e.c.Settle(out)
	if e.follow.Settled != nil {
		e.follow.Settled(out)
	}
}

// stepwise is an API that pauses before each request. After it was stopped, it returns errors and
// sends nothing.
type stepwise struct {
	API
	pause   func() bool
	stopped bool
}

var errStopped = errors.New("the schedule has ended")

func (s *stepwise) step() error {
	s.stopped = s.stopped || !s.pause()
	if s.stopped {
		return errStopped
	}
	return nil
}

func (s *stepwise) Get(ctx context.Context, ref object.Ref) (*object.Object, error) {
	if err := s.step(); err != nil {
		return nil, err
	}
	return s.API.Get(ctx, ref)
}

func (s *stepwise) Delete(ctx context.Context, ref object.Ref, o metav1.DeleteOptions) error {
	if err := s.step(); err != nil {
		return err
	}
	return s.API.Delete(ctx, ref, o)
}

func (s *stepwise) Patch(ctx context.Context, ref object.Ref, p object.Patch) error {
	if err := s.step(); err != nil {
		return err
	}
	return s.API.Patch(ctx, ref, p)
}
