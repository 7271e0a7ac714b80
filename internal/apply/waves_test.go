package apply

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
)

// TestGateWidens: the gate passes one write, then five, then twenty-five.
func TestGateWidens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{wave: 1, changed: make(chan struct{})}
		var mu sync.Mutex
		inside := 0
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() {
				if err := g.enter(t.Context()); err != nil {
					t.Error(err)
				}
				mu.Lock()
				inside++
				mu.Unlock()
			})
		}
		for _, want := range []int{1, 5, 25, 69} {
			synctest.Wait()
			mu.Lock()
			if inside != want {
				t.Errorf("%d are inside, want %d", inside, want)
			}
			leaving := inside
			inside = 0
			mu.Unlock()
			if !g.busy() || g.first() != (want == 1) {
				t.Errorf("with %d inside: busy %t, first %t", want, g.busy(), g.first())
			}
			for range leaving {
				g.leave()
			}
		}
		all.Wait()
		if g.busy() {
			t.Error("busy when all have left")
		}
	})
}

// TestGateCloses: a closed gate passes no write, not even a waiting one.
func TestGateCloses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{wave: 1, changed: make(chan struct{})}
		if err := g.enter(t.Context()); err != nil {
			t.Fatal(err)
		}
		waiting := make(chan error, 1)
		go func() { waiting <- g.enter(t.Context()) }()
		synctest.Wait()
		why := errors.New("surprised")
		g.close(why)
		g.close(errors.New("later"))
		if err := <-waiting; !errors.Is(err, why) {
			t.Errorf("who waited got %v", err)
		}
		g.leave()
		if err := g.enter(t.Context()); !errors.Is(err, why) {
			t.Errorf("who came later got %v", err)
		}
	})
}

// TestGateGivesUp: enter returns when the context ends.
func TestGateGivesUp(t *testing.T) {
	g := &gate{wave: 1, changed: make(chan struct{})}
	if err := g.enter(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := g.enter(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
