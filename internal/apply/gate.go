package apply

import (
	"context"
	"sync"
)

// widening is how much larger each wave is than the one before.
const widening = 5

// gate lets writes through in waves: one, and when it has been answered five, then
// twenty-five, and so on. Whatever is wrong shows when little has been done. It is
// safe for concurrent use.
type gate struct {
	mu                      sync.Mutex
	wave, started, finished int
	closed                  error
	// changed is closed and made anew when somebody who waits should look again.
	changed chan struct{}
}

func newGate() *gate { return &gate{wave: 1, changed: make(chan struct{})} }

// enter waits for room in the wave. After it, leave has to be called.
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

// leave says that a write was answered.
func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.finished++; g.finished == g.wave {
		g.wave, g.started, g.finished = g.wave*widening, 0, 0
		g.stir()
	}
}

// first reports whether the write under way is the very first one.
func (g *gate) first() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.wave == 1
}

// close lets nothing through any more.
func (g *gate) close(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed == nil {
		g.closed = err
		g.stir()
	}
}

// busy reports whether a write is under way.
func (g *gate) busy() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.started > g.finished
}

func (g *gate) stir() {
	close(g.changed)
	g.changed = make(chan struct{})
}
