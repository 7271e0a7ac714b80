package engine_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// A request that is refused forever is retried rarely.
func TestRunHold(t *testing.T) {
	for _, c := range []struct {
		hold    time.Duration
		fits    func(asked int) bool
		meaning string
	}{
		{10 * time.Minute, func(asked int) bool { return asked == 2 }, "after 10 minutes and after 20"},
		{0, func(asked int) bool { return asked > 3 }, "as often as what has failed"},
	} {
		world := fanOut(3)
		w := begun(t, world)
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 25*time.Minute)
			defer cancel()
			asked, began := 0, time.Now()
			w.begin()
			err := w.run(ctx, engine.RunOptions{
				Hold: func(*engine.RefusedError) time.Duration { return c.hold },
				Before: func(_ context.Context, r engine.Request) error {
					w.mu.Lock()
					defer w.mu.Unlock()
					if r.Ref == world[2].Ref {
						// Deleted dependents queue the owner again, and the owner its blockers.
						if time.Since(began) > time.Minute {
							asked++
						}
						return errors.New("never")
					}
					return nil
				},
			})
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
			if !c.fits(asked) {
				t.Errorf("hold %v: asked %d times, want %s", c.hold, asked, c.meaning)
			}
		})
	}
}

// Warnings are reported once and not kept.
func TestRunWarns(t *testing.T) {
	owner := &object.Object{Ref: object.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: "there", Name: "o", UID: "uid-o"}, ResourceVersion: "1"}
	namespace := &object.Object{Ref: object.Ref{APIVersion: "v1", Kind: "Namespace", Name: "here", UID: "uid-n"}, ResourceVersion: "3"}
	dependent := &object.Object{Ref: object.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: "here", Name: "d", UID: "uid-d"}}
	dependent.Owners = []object.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "o", UID: "uid-o"}}
	w := newCluster([]*object.Object{namespace, owner}, engine.WithEconomy())
	if _, err := w.server.Create(t.Context(), dependent); err != nil {
		t.Fatal(err)
	}
	var warned []engine.Warning
	w.untilRest(t, engine.RunOptions{Warn: func(w engine.Warning) { warned = append(warned, w) }})
	if len(warned) != 1 || warned[0].Dependent.Name != "d" || warned[0].Owner.Namespace != "here" {
		t.Errorf("warned of %v", warned)
	}
	if kept := w.collector.Warnings(); len(kept) != 0 {
		t.Errorf("kept are %v", kept)
	}
}
