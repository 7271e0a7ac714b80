package engine_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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

// twoLevels is a root, 50 owners below it, and dependents below those.
func twoLevels(n int) []*object.Object {
	objects := []*object.Object{numberedMap(0)}
	for i := 1; i <= 50; i++ {
		objects = append(objects, numberedMap(i, objects[0]))
	}
	for i := 51; i < n; i++ {
		objects = append(objects, numberedMap(i, objects[1+i%50]))
	}
	return objects
}

// widgets turns config maps into custom resources.
func widgets(objects []*object.Object) []*object.Object {
	for _, o := range objects {
		o.APIVersion, o.Kind = "example.com/v1", "Widget"
		for i := range o.Owners {
			o.Owners[i].APIVersion, o.Owners[i].Kind = "example.com/v1", "Widget"
		}
	}
	return objects
}

// The number of requests. Upstream sends 2 for an object that is deleted in the background, and 3
// if its owner waits.
func TestRunBudget(t *testing.T) {
	const n = 5001
	for _, c := range []struct {
		name   string
		world  []*object.Object
		policy metav1.DeletionPropagation
		// most is the maximum number of requests, left the number of remaining objects.
		most float64
		left int
	}{
		{"background", fanOut(n), background, 1.02 * (n - 1), 0},
		{"background in two levels", twoLevels(n + 50), background, 1.05 * (n + 49), 0},
		{"foreground", fanOut(n), foreground, 1.05*(n-1) + 1, 0},
		{"foreground in two levels", twoLevels(n + 50), foreground, 1.05*(n+49) + 51, 0},
		{"foreground of custom resources", widgets(fanOut(n)), foreground, 1.05*(n-1) + 1, 0},
		{"orphan", fanOut(n), orphan, n, n - 1},
		{"orphan of custom resources", widgets(fanOut(n)), orphan, n, n - 1},
	} {
		for _, rules := range []engine.Rules{engine.Upstream, engine.Strict} {
			t.Run(fmt.Sprint(c.name, " ", rules), func(t *testing.T) {
				w := newCluster(c.world, engine.WithEconomy(), engine.WithRules(rules))
				w.proofs = true
				if err := w.server.Delete(t.Context(), c.world[0].Ref, metav1.DeleteOptions{PropagationPolicy: &c.policy}); err != nil {
					t.Fatal(err)
				}
				w.untilRest(t, engine.RunOptions{})
				t.Logf("%d requests, %v", w.total, w.requests)
				if got := float64(w.total); got > c.most {
					t.Errorf("%.0f requests, at most %.0f: %v", got, c.most, w.requests)
				}
				if got := len(w.server.Objects()); got != c.left {
					t.Errorf("%d objects are left, want %d", got, c.left)
				}
				if w.pinless > 0 {
					t.Errorf("%d deletes were not pinned to a version", w.pinless)
				}
			})
		}
	}
}
