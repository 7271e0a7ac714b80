package engine

import (
	"context"
	"errors"
	"iter"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

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
