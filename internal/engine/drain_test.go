package engine

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// restless is a world that repeats the same event endlessly.
type restless struct {
	*apisim.Server
	event  object.Event
	writes uint64
	// changes is true if each event counts as a change.
	changes bool
}

func (r *restless) Events() []object.Event {
	if r.changes {
		r.writes++
	}
	return []object.Event{r.event}
}

func (r *restless) Writes() uint64 { return r.writes }

// A world that never settles is an error and not a hang, with and without changes.
func TestDrainEnds(t *testing.T) {
	o := numbered("a")
	o.Lifecycle = &object.Lifecycle{DeletionTimestamp: 1, Finalizers: []string{object.Orphan}}
	for _, changes := range []bool{false, true} {
		w := &restless{Server: apisim.New([]*object.Object{o}, coreResources()), event: added(o), changes: changes}
		err := Drain(context.Background(), New(), w, Follow{})
		if err == nil || !strings.Contains(err.Error(), "no end after") || !strings.Contains(err.Error(), "v1 ConfigMap n/a") {
			t.Errorf("changes %v: %v", changes, err)
		}
	}
}

// Both drivers stop when their context ends.
func TestDriversAreCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s := apisim.New(nil, coreResources())
	if err := Drain(ctx, New(), s, Follow{}); !errors.Is(err, context.Canceled) {
		t.Errorf("drain: %v", err)
	}
	if err := Explore(ctx, New(), s, Follow{}, rand.New(rand.NewPCG(1, 1))); !errors.Is(err, context.Canceled) {
		t.Errorf("explore: %v", err)
	}
}

// While the rest of the world acts when idle, the collector continues.
func TestDrainIdle(t *testing.T) {
	ctx := context.Background()
	objects := []*object.Object{numbered("a"), numbered("b", "a")}
	s := apisim.New(objects, coreResources())
	c := New()
	for _, o := range objects {
		c.Observe(added(o))
	}
	turns := 0
	idle := func() bool {
		turns++
		if turns == 1 {
			if err := s.Delete(ctx, objects[0].Ref, DeleteOptions(Background, "a", "")); err != nil {
				t.Fatal(err)
			}
		}
		return turns == 1
	}
	if err := Drain(ctx, c, s, Follow{Idle: idle}); err != nil {
		t.Fatal(err)
	}
	if turns != 2 || len(s.Objects()) != 0 {
		t.Errorf("%d turns, %d objects are left", turns, len(s.Objects()))
	}
}
