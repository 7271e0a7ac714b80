package apply

import (
	"context"
	"errors"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/backup"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// widening is the ratio of the sizes of consecutive waves.
const widening = 5

// gate passes writes in waves of 1, 5, 25 and so on; each wave starts when the previous one is
// answered. This limits the damage of an error. It is safe for concurrent use.
type gate struct {
	mu                      sync.Mutex
	wave, started, finished int
	closed                  error
	// changed is closed and replaced to wake waiting callers.
	changed chan struct{}
}

func newGate() *gate { return &gate{wave: 1, changed: make(chan struct{})} }

// enter waits for room in the wave. Each successful enter needs a leave.
func (g *gate) enter(ctx context.Context) error {
	for {
		g.mu.Lock()
		if g.closed != nil {
			g.mu.Unlock()
			return g.closed
		}
		if g.started < g.wave {
			g.started++
			g.mu.Unlock()
			return nil
		}
		changed := g.changed
		g.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// leave reports that a write was answered.
func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.finished++; g.finished == g.wave {
		g.wave, g.started, g.finished = g.wave*widening, 0, 0
		g.stir()
	}
}

// first reports whether the first wave is still in progress.
func (g *gate) first() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.wave == 1
}

// close rejects all further writes with err.
func (g *gate) close(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed == nil {
		g.closed = err
		g.stir()
	}
}

// busy reports whether a write is in progress.
func (g *gate) busy() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.started > g.finished
}

func (g *gate) stir() {
	close(g.changed)
	g.changed = make(chan struct{})
}

// waves is an API that calls leave on a gate after each answered write.
type waves struct {
	engine.API
	gate *gate
	// broken is called if a write could not be recorded.
	broken func(error)
}

// Delete sends a DELETE.
func (w *waves) Delete(ctx context.Context, ref object.Ref, o metav1.DeleteOptions) error {
	defer w.gate.leave()
	return w.check(w.API.Delete(ctx, ref, o))
}

// Patch sends a PATCH.
func (w *waves) Patch(ctx context.Context, ref object.Ref, p object.Patch) error {
	defer w.gate.leave()
	return w.check(w.API.Patch(ctx, ref, p))
}

func (w *waves) check(err error) error {
	if _, ok := errors.AsType[*backup.JournalError](err); ok {
		w.broken(err)
	}
	return err
}
