package engine_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// begun is a cluster in which the root of a world was deleted.
func begun(t *testing.T, world []*object.Object, options ...engine.Option) *cluster {
	t.Helper()
	w := newCluster(world, append(options, engine.WithEconomy())...)
	if err := w.server.Delete(t.Context(), world[0].Ref, engine.DeleteOptions(engine.ForegroundPolicy, world[0].UID, "")); err != nil {
		t.Fatal(err)
	}
	return w
}

// When the context ends, no write starts any more, whichever request it ends at. Requests in
// progress are awaited, and no goroutine is left: the bubble would report it.
func TestRunIsCancelled(t *testing.T) {
	for _, workers := range []int{1, 4} {
		whole := begun(t, twoLevels(70))
		whole.untilRest(t, engine.RunOptions{Workers: workers})
		for at := 1; at <= whole.total; at++ {
			w := begun(t, twoLevels(70))
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				seen, recorded := 0, 0
				w.answer = func(object.Verbs, object.Ref) error {
					if seen++; seen == at {
						cancel()
					}
					return nil
				}
				w.begin()
				err := w.run(ctx, engine.RunOptions{UntilRest: true, Workers: workers, Record: func(r engine.Record) { recorded += len(r.Exchanges) }})
				if !errors.Is(err, context.Canceled) {
					t.Errorf("request %d: %v", at, err)
				}
				// All requests in progress at the end of the context are answered.
				if seen > at+workers-1 {
					t.Errorf("the context ended at request %d of %d workers, %d were sent", at, workers, seen)
				}
				if workers == 1 && (recorded != at && recorded != at-1) {
					t.Errorf("request %d was the last one, %d were recorded", at, recorded)
				}
			})
		}
	}
}

// A refused write is not sent, keeps its object, is reported, and is tried again.
func TestRunBefore(t *testing.T) {
	world := fanOut(30)
	w := begun(t, world)
	no := errors.New("not this one")
	asked, reported := 0, 0
	w.untilRest(t, engine.RunOptions{
		Before: func(_ context.Context, r engine.Request) error {
			if r.Ref != world[7].Ref {
				return nil
			}
			w.mu.Lock()
			asked++
			w.mu.Unlock()
			return no
		},
		Record: func(r engine.Record) {
			if refused, ok := errors.AsType[*engine.RefusedError](r.Err); ok {
				reported++
				if !errors.Is(r.Err, no) || refused.Request.Ref != world[7].Ref || r.Disposition != engine.Defer || len(r.Exchanges) > 0 && r.Exchanges[0].Verb != object.Get {
					t.Errorf("the refusal is reported as %+v", r)
				}
			}
		},
	})
	if asked < 2 || asked != reported {
		t.Errorf("asked %d times, reported %d times", asked, reported)
	}
	if left := w.server.Objects(); len(left) != 2 || left[1].BeingDeleted() {
		t.Errorf("left are %v", left)
	}
}

// After a conflict, the attempt is repeated with a fresh read. After six in a row the object is
// contended and deferred.
func TestRunConflicts(t *testing.T) {
	for _, c := range []struct {
		conflicts, reads int
		contended        bool
	}{{1, 1, false}, {5, 5, false}, {6, 5, true}, {7, 6, true}} {
		world := fanOut(5)
		w := begun(t, world)
		reads, conflicts, contended := 0, 0, false
		w.answer = func(verb object.Verbs, ref object.Ref) error {
			if ref != world[3].Ref {
				return nil
			}
			if verb == object.Get {
				reads++
			} else if conflicts < c.conflicts {
				conflicts++
				return apierrors.NewConflict(object.Resource{}.GroupResource(), ref.Name, errors.New("changed"))
			}
			return nil
		}
		w.untilRest(t, engine.RunOptions{Record: func(r engine.Record) {
			contended = contended || r.Decision.Reason == reason.Contended
			if (r.Decision.Reason == reason.Contended) != (r.Err != nil && r.Disposition == engine.Defer) {
				t.Errorf("%s with disposition %d and error %v", r.Decision.Reason, r.Disposition, r.Err)
			}
		}})
		if contended != c.contended || conflicts != c.conflicts || w.pinless > 0 {
			t.Errorf("%d conflicts: contended %v, %d sent, %d deletes not pinned", c.conflicts, contended, conflicts, w.pinless)
		}
		if reads < c.reads || len(w.server.Objects()) != 0 {
			t.Errorf("%d conflicts: %d reads, left are %v", c.conflicts, reads, w.server.Objects())
		}
	}
}

// Until Synced, nothing is read and nothing is written.
func TestRunSynced(t *testing.T) {
	w := begun(t, fanOut(5))
	synctest.Test(t, func(t *testing.T) {
		synced := make(chan struct{})
		before := -1
		go func() {
			wait(time.Minute)
			w.mu.Lock()
			before = w.total
			w.mu.Unlock()
			close(synced)
		}()
		w.begin()
		if err := w.run(t.Context(), engine.RunOptions{UntilRest: true, Synced: synced}); err != nil {
			t.Error(err)
		}
		if before != 0 || len(w.server.Objects()) != 0 {
			t.Errorf("%d requests before the world was complete, %d objects are left", before, len(w.server.Objects()))
		}
	})
}

// An object that refers to uncovered coordinates is kept, and deleted once they are covered.
func TestRunUncovered(t *testing.T) {
	world := fanOut(5)
	world[2].Owners = configMap("absent", world[0]).Owners
	world[2].Owners[0].UID, world[2].Owners[0].Kind = "nobody", "Secret"
	w := newCluster(world, engine.WithEconomy(), engine.WithRules(engine.Strict))
	blind := true
	options := engine.RunOptions{Uncovered: func(ref object.Ref) (string, bool) { return "the watch is broken", blind && ref.Kind == "Secret" }}
	reasons := map[reason.Code]int{}
	options.Record = func(r engine.Record) { reasons[r.Decision.Reason]++ }
	w.untilRest(t, options)
	if len(w.server.Objects()) != 5 || w.total != 0 || reasons[reason.ObjectNotCovered] == 0 {
		t.Errorf("%d objects are left after %d requests: %v", len(w.server.Objects()), w.total, reasons)
	}
	blind = false
	w.collector.Wake()
	w.untilRest(t, options)
	if len(w.server.Objects()) != 4 {
		t.Errorf("%d objects are left", len(w.server.Objects()))
	}
}

// A run with UntilRest ends although attempts are stuck, after it has repeated them. Delays of a
// failing attempt double.
func TestRunBacksOff(t *testing.T) {
	world := fanOut(3)
	world[2].Owners[0].Kind = "NoSuchKind"
	w := newCluster(world, engine.WithEconomy())
	observeAll(w.collector, world[2:])
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 3000*time.Second)
		defer cancel()
		begin := time.Now()
		var at []time.Duration
		w.begin()
		err := w.run(ctx, engine.RunOptions{Record: func(r engine.Record) {
			if r.Decision.Attempt.Ref.Name == world[2].Name {
				at = append(at, time.Since(begin))
			}
		}})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		for i := 2; i < len(at); i++ {
			before, after := at[i-1]-at[i-2], at[i]-at[i-1]
			if after != 2*before && after != 1000*time.Second {
				t.Errorf("the delay after %v is %v", before, after)
			}
		}
		if len(at) != 20 {
			t.Errorf("%d attempts in 3000 s: %v", len(at), at)
		}
	})
	w.untilRest(t, engine.RunOptions{})
	if w.collector.DeferredCount() == 0 || w.total != 0 {
		t.Errorf("%d deferred, %d requests", w.collector.DeferredCount(), w.total)
	}
}

// An unchanging world causes no requests.
func TestRunIsSilent(t *testing.T) {
	w := newCluster(twoLevels(500), engine.WithEconomy())
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 24*time.Hour)
		defer cancel()
		w.begin()
		looks := make(chan func(*engine.Collector))
		go func() { looks <- func(c *engine.Collector) { w.lag = nil; _ = c.Graph().Len() } }()
		if err := w.run(ctx, engine.RunOptions{Do: looks}); !errors.Is(err, context.DeadlineExceeded) || w.total != 0 {
			t.Errorf("%d requests in a day: %v", w.total, err)
		}
		if w.lag != nil {
			t.Error("nobody was let look at the garbage collector")
		}
	})
}

// An object that no watch shows and that a finalizer holds is deleted again after every back-off.
// That doesn't keep the run from settling.
func TestRunRestsBesideTheUnwatched(t *testing.T) {
	objects, err := scenario.ParseWorld(`events.k8s.io/v1 Event n/held owners=v1:ConfigMap:gone:g fin=example.com/hold
v1 ConfigMap n/below owners=events.k8s.io/v1:Event:held:held`, scenario.Names{})
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		w := newCluster(objects)
		w.begin()
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		attempts := 0
		err := w.run(ctx, engine.RunOptions{UntilRest: true, Record: func(engine.Record) {
			if attempts++; attempts == 1000 {
				stop()
			}
		}})
		if err != nil {
			t.Errorf("%v after %d attempts", err, attempts)
		}
	})
}

// An object that no watch shows first loses a reference, and is deleted when its other owner is
// gone, too. Its dependents are deleted along with it before the run settles.
func TestRunGoesOnBehindTheUnwatched(t *testing.T) {
	objects, err := scenario.ParseWorld(`events.k8s.io/v1 Event n/twice owners=v1:ConfigMap:gone:g,last
v1 ConfigMap n/last fin=example.com/hold
v1 ConfigMap n/below owners=events.k8s.io/v1:Event:twice:twice`, scenario.Names{})
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		w := newCluster(objects)
		w.begin()
		rested := 0
		err := w.run(t.Context(), engine.RunOptions{UntilRest: true, Idle: func() bool {
			if rested++; rested > 1 {
				return false
			}
			for _, act := range []scenario.Act{{Ref: objects[1].Ref}, {Ref: objects[1].Ref, Drop: "example.com/hold"}} {
				_ = w.user(func(ctx context.Context, s *apisim.Server) error {
					act.Apply(ctx, s)
					return nil
				})
			}
			return true
		}})
		if err != nil {
			t.Fatal(err)
		}
		if left := w.server.Objects(); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
	})
}
