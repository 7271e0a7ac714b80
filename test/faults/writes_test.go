package faults

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// writes are the faults around a write.
var writes = []row{
	{"L28_reference_changed", "the owner reference changes between the look and the DELETE", "409: judged again, kept", meanwhile(func(c *rig, waste *object.Object) {
		c.edit(waste, func(o *object.Object) { o.Owners = []object.OwnerReference{to(one("ConfigMap", "home"))} })
	}, true)},
	{"L29_contended", "the object is written before every DELETE", "every DELETE is pinned; given up after a few, and done when it is over", contended},
	{"L30_protected_meanwhile", "an annotation that protects is put on between the look and the DELETE", "409: judged again, kept", protectedMeanwhile},
	{"L30_finalizer_meanwhile", "a finalizer is put on between the look and the DELETE", "409: judged again; it waits for the finalizer, which stays", finalizerMeanwhile},
	{"L32_made_again", "the object is deleted and made again with its name between the look and the DELETE", "409: the new one stays", madeAgain},
	{"L34_finalizer_conflicts", "the owner is written before every removal of a finalizer", "each is pinned; done when it is over", finalizerConflicts},
	{"L36_timeout_after", "DELETE answers 504 and was carried out", "nothing is deleted that is not garbage; the object is gone", unknown(after(refused(apierrors.NewTimeoutError("late", 0))))},
	{"L36_reset_after", "the connection of a DELETE is reset behind it", "the object is gone", unknown(after(reset))},
	{"L36_page_after", "DELETE is carried out and answered with a page of HTML", "the object is gone", unknown(after(text(http.StatusOK, "text/html", "<html>")))},
	{"L37_reset_before", "the connection of a DELETE is reset before it", "tried again: gone", unknown(reset)},
	{"L37_page_before", "a proxy answers a DELETE with a page of HTML", "not taken for success: tried again", unknown(text(http.StatusOK, "text/html", "<html>"))},
	{"L37_timeout_before", "DELETE answers 504 and was not carried out", "tried again: gone", unknown(refused(apierrors.NewTimeoutError("late", 0)))},
	{"L38_retry_after", "DELETE answers 429 with Retry-After", "nobody sends anything before that time; then done", retryAfter},
	{"L39_busy", "every request answers 429 without Retry-After, for a while", "waits between tries; then done", busy},
	{"L40_always_500", "DELETE of one object answers 500 forever", "all others go; this one is tried ever more seldom", always(refused(apierrors.NewInternalError(errors.New("no"))))},
	{"L42_denied", "admission denies DELETE of one object", "all others go; this one is tried ever more seldom", always(refused(apierrors.NewForbidden(served[2].GroupResource(), "waste", errors.New("denied by policy"))))},
	{"L43_webhook_late", "admission of one object does not answer in time", "as L40", always(refused(apierrors.NewTimeoutError("webhook", 0)))},
	{"L41_held", "DELETE succeeds and the object stays, for a finalizer holds it", "deleted once, and the finalizer is left alone", heldByFinalizer},
	{"L85_lagging", "GET goes to a server that is ahead, and DELETE is judged by the store", "409 while they differ; done when they agree", lagging},
	{"L90_finalizers_changed", "a finalizer is put on between the look and the patch that takes another one off", "422: nothing is taken off", finalizersChanged},
	{"L14_token_expired", "every request answers 401 in the middle of a cascade", "nothing is done meanwhile; done when it is over", interrupted(refused(apierrors.NewUnauthorized("expired")))},
	{"L15_revoked", "DELETE is forbidden in the middle of a cascade", "done when it is allowed again", interrupted(refused(apierrors.NewForbidden(served[2].GroupResource(), "", nil)))},
	{"L80_restart", "the server resets all connections, then answers 503, then 404, then all is well", "nothing is concluded from it; done when it is over", restart},
}

// deleting has a world with one living owner, one object of it, and garbage.
func deleting(t *testing.T) (c *rig, kept, waste *object.Object) {
	t.Helper()
	home := one("ConfigMap", "home")
	kept, waste = one("Secret", "kept", to(home)), one("Secret", "waste", lost("ConfigMap", "gone"))
	return world(t, home, kept, waste), kept, waste
}

// meanwhile does something before the first DELETE is carried out.
func meanwhile(do func(c *rig, waste *object.Object), stays bool) func(*testing.T) {
	return func(t *testing.T) {
		c, kept, waste := deleting(t)
		f := c.strike(1, at("delete", "secrets", "waste"), func(w http.ResponseWriter, r *http.Request, server http.Handler) {
			do(c, waste)
			server.ServeHTTP(w, r)
		})
		c.collect()
		c.until("a DELETE comes", func() bool { return f.struck.Load() > 0 })
		if stays {
			c.judged(waste, reason.ExistingOwner)
			c.stays(kept, waste)
			return
		}
		c.goes(waste)
		c.stays(kept)
	}
}

// touch writes something that means nothing.
func touch(n int64) func(*object.Object) {
	return func(o *object.Object) { o.Labels = object.LabelsOf(map[string]string{"write": fmt.Sprint(n)}) }
}

func contended(t *testing.T) {
	c, kept, waste := deleting(t)
	var n atomic.Int64
	f := c.strike(8, at("delete", "secrets", "waste"), func(w http.ResponseWriter, r *http.Request, server http.Handler) {
		c.edit(waste, touch(n.Add(1)))
		server.ServeHTTP(w, r)
	})
	c.collect()
	c.goes(waste)
	c.stays(kept)
	if f.struck.Load() != 8 {
		t.Errorf("%d conflicts", f.struck.Load())
	}
}

func protectedMeanwhile(t *testing.T) {
	c, kept, waste := deleting(t)
	f := c.strike(1, at("delete", "secrets", "waste"), func(w http.ResponseWriter, r *http.Request, server http.Handler) {
		c.edit(waste, func(o *object.Object) { o.Edit().Protection = object.Protect })
		server.ServeHTTP(w, r)
	})
	var refusals atomic.Int64
	c.collect(func(o *kube.CollectorOptions) {
		o.Run.Before = func(_ context.Context, r engine.Request) error {
			if r.Live != nil && r.Live.Protection() != 0 {
				refusals.Add(1)
				return errors.New("it is protected")
			}
			return nil
		}
	})
	c.until("it is refused", func() bool { return refusals.Load() > 0 })
	if f.struck.Load() != 1 {
		t.Errorf("%d DELETEs", f.struck.Load())
	}
	c.stays(kept, waste)
}

func finalizerMeanwhile(t *testing.T) {
	c, kept, waste := deleting(t)
	c.strike(1, at("delete", "secrets", "waste"), func(w http.ResponseWriter, r *http.Request, server http.Handler) {
		c.edit(waste, func(o *object.Object) { o.Edit().Finalizers = []string{"example.com/lock"} })
		server.ServeHTTP(w, r)
	})
	c.collect()
	c.until("it is being deleted", func() bool { return c.stored(waste).BeingDeleted() })
	c.stays(kept, waste)
	if !c.stored(waste).HasFinalizer("example.com/lock") {
		t.Error("the finalizer is gone")
	}
}

func madeAgain(t *testing.T) {
	c, kept, waste := deleting(t)
	newer := one("Secret", "waste")
	newer.UID = "uid-newer"
	c.strike(1, at("delete", "secrets", "waste"), func(w http.ResponseWriter, r *http.Request, server http.Handler) {
		c.delete(waste, "Background")
		c.create(newer)
		server.ServeHTTP(w, r)
	})
	c.collect()
	c.goes(waste)
	c.stays(kept, newer)
}

func finalizerConflicts(t *testing.T) {
	home := one("ConfigMap", "home")
	waste := one("Secret", "waste", blocking(home))
	c := world(t, home, waste)
	var n atomic.Int64
	c.strike(8, at("patch", "configmaps", "home"), func(w http.ResponseWriter, r *http.Request, server http.Handler) {
		c.edit(home, touch(n.Add(1)))
		server.ServeHTTP(w, r)
	})
	c.collect()
	c.fence()
	c.delete(home, "Foreground")
	c.goes(waste, home)
}

// unknown has something happen to the first DELETE of garbage.
func unknown(do answering) func(*testing.T) {
	return func(t *testing.T) {
		c, kept, waste := deleting(t)
		f := c.strike(1, at("delete", "secrets", "waste"), do)
		c.collect()
		c.until("a DELETE comes", func() bool { return f.struck.Load() > 0 })
		c.goes(waste)
		c.stays(kept)
	}
}

func retryAfter(t *testing.T) {
	home := one("ConfigMap", "home")
	kept, waste := one("Secret", "kept", to(home)), one("Secret", "waste", lost("ConfigMap", "gone"))
	c := world(t, home, kept)
	var until, early atomic.Int64
	c.strike(1, at("delete", "secrets", "waste"), func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		until.Store(time.Now().Add(900 * time.Millisecond).UnixNano())
		w.Header().Set("Retry-After", "1")
		http.Error(w, "too many requests, please try again later", http.StatusTooManyRequests)
	})
	c.strike(0, func(a asked) bool {
		if a.verb != "discover" && time.Now().UnixNano() < until.Load() {
			early.Add(1)
		}
		return false
	}, nil)
	c.collect(func(o *kube.CollectorOptions) { o.Run.Workers, o.SyncPeriod = 1, time.Hour })
	for _, r := range served {
		c.disturb(r.Name, func(*watching) {}) // wait until it is watched
	}
	c.fence() // nothing else is on its way
	c.create(waste)
	c.goes(waste)
	c.stays(kept)
	if until.Load() == 0 || early.Load() > 0 {
		t.Errorf("%d requests were too early", early.Load())
	}
}

func busy(t *testing.T) {
	c, kept, waste := deleting(t)
	f := c.strike(3, at("delete", "secrets", "waste"), func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		http.Error(w, "too many requests", http.StatusTooManyRequests)
	})
	began := time.Now()
	c.collect()
	c.goes(waste)
	c.stays(kept)
	if took := time.Since(began); f.struck.Load() != 3 || took < 3*time.Second {
		t.Errorf("%d refusals took %s", f.struck.Load(), took)
	}
}

// always has something happen to every DELETE of one object.
func always(do answering) func(*testing.T) {
	return func(t *testing.T) {
		c, kept, waste := deleting(t)
		other := one("Secret", "other", lost("ConfigMap", "gone"))
		c.create(other)
		f := c.strike(0, at("delete", "secrets", "waste"), do)
		c.collect()
		c.goes(other)
		c.until("it is tried again", func() bool { return f.struck.Load() > 2 })
		c.stays(kept, waste)
		if n := f.struck.Load(); n > 20 {
			t.Errorf("%d DELETEs", n)
		}
		f.lift()
		c.goes(waste)
		c.stays(kept)
	}
}

func heldByFinalizer(t *testing.T) {
	c, kept, waste := deleting(t)
	c.edit(waste, func(o *object.Object) { o.Edit().Finalizers = []string{"example.com/lock"} })
	c.collect()
	c.until("it is being deleted", func() bool { return c.stored(waste).BeingDeleted() })
	c.stays(kept, waste)
	if n := len(c.about(waste.Ref)); n != 1 {
		t.Errorf("%d requests about it", n)
	}
	c.edit(waste, func(o *object.Object) { o.Edit().Finalizers = nil })
	c.goes(waste)
}

// lagging has reads show a resourceVersion that the store does not have.
func lagging(t *testing.T) {
	c, kept, waste := deleting(t)
	ahead := func(d *document) { d.Metadata["resourceVersion"] = "1000" }
	f := c.strike(4, at("get", "secrets", "waste"), remade(ahead))
	c.strike(1, at("delete", "secrets", "waste"), refused(apierrors.NewConflict(served[2].GroupResource(), "waste", errors.New("changed"))))
	c.collect()
	c.until("it is read", func() bool { return f.struck.Load() > 1 })
	f.lift()
	c.goes(waste)
	c.stays(kept)
}

func finalizersChanged(t *testing.T) {
	locked := one("Secret", "locked")
	locked.Edit().Finalizers = []string{"example.com/a", "example.com/b"}
	c := world(t, locked)
	c.mayTake = []string{"example.com/a"}
	c.collect()
	c.fence()
	seen, err := c.client.Get(context.Background(), locked.Ref)
	c.must(err)
	c.edit(locked, func(o *object.Object) {
		o.Edit().Finalizers = []string{"example.com/new", "example.com/a", "example.com/b"}
	})
	if err := c.client.Patch(context.Background(), locked.Ref, object.TakeFinalizers(seen, []string{"example.com/a"})); !apierrors.IsInvalid(err) {
		t.Errorf("got %v", err)
	}
	if n := len(c.stored(locked).Finalizers()); n != 3 {
		t.Errorf("%d finalizers are left", n)
	}
	seen, err = c.client.Get(context.Background(), locked.Ref)
	c.must(err)
	c.must(c.client.Patch(context.Background(), locked.Ref, object.TakeFinalizers(seen, []string{"example.com/a"})))
	if left := c.stored(locked).Finalizers(); len(left) != 2 || left[0] != "example.com/new" {
		t.Errorf("%q are left", left)
	}
}

// cascade is an owner that goes with many dependents.
func cascade(t *testing.T) (c *rig, home *object.Object, waste []*object.Object) {
	t.Helper()
	home = one("ConfigMap", "home")
	all := []*object.Object{home}
	for i := range 20 {
		all = append(all, one("Secret", fmt.Sprintf("waste-%d", i), to(home)))
	}
	return world(t, all...), home, all[1:]
}

// interrupted has something happen to every request, or every DELETE, after a few
// of a cascade.
func interrupted(do answering) func(*testing.T) {
	return func(t *testing.T) {
		c, home, waste := cascade(t)
		alive := one("ConfigMap", "alive")
		kept := one("Secret", "kept", to(alive))
		c.create(alive)
		c.create(kept)
		c.collect()
		c.fence()
		var deletes atomic.Int64
		f := c.strike(0, func(a asked) bool {
			return a.verb == "delete" && a.target.Resource.Name == "secrets" && deletes.Add(1) > 3
		}, do)
		c.delete(home, "Background")
		c.until("it is interrupted", func() bool { return f.struck.Load() > 20 })
		c.stays(kept)
		f.lift()
		c.goes(waste...)
		c.stays(kept)
	}
}

func restart(t *testing.T) {
	c, home, waste := cascade(t)
	alive := one("Widget", "alive")
	kept := one("Secret", "kept", to(alive))
	c.create(alive)
	c.create(kept)
	c.collect()
	c.fence()
	everything := func(asked) bool { return true }
	c.delete(home, "Background")
	for _, phase := range []answering{reset, refused(apierrors.NewServiceUnavailable("starting")), unserved} {
		f := c.strike(0, everything, phase)
		for _, r := range served {
			c.watches.disturb(r.Name, func(w *watching) { w.end() })
		}
		c.until("requests fail", func() bool { return f.struck.Load() > 10 })
		f.lift()
	}
	c.goes(waste...)
	c.stays(kept)
}
