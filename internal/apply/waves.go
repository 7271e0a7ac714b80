package apply

import (
	"context"
	"sync"
)

// waveGrowth is the ratio of the sizes of consecutive waves.
const waveGrowth = 5

// gate passes writes in waves of 1, 5, 25 and so on; each wave starts when the previous one is
// answered. This limits the damage of an error. It is safe for concurrent use.
type gate struct {
	mu                      sync.Mutex
	wave, started, finished int
	closed                  error
	// changed is closed and replaced to wake waiting callers.
	changed chan struct{}
}

// enter blocks until the wave has room, the gate is closed or ctx ends. Each successful enter needs
// a leave.
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
		g.wave, g.started, g.finished = g.wave*waveGrowth, 0, 0
		g.wake()
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
		g.wake()
	}
}

// busy reports whether a write is in progress.
func (g *gate) busy() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.started > g.finished
}

// wake wakes the callers of enter. The lock must be held.
func (g *gate) wake() {
	close(g.changed)
	g.changed = make(chan struct{})
}
