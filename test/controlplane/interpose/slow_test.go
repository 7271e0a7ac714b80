package interpose

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

// One collector whose watches of PersistentVolumes and of Deltas do not begin.
func TestSlowWatches(t *testing.T) {
	t.Parallel()
	define(t, "slow", "Gamma", "v1")
	define(t, "slow", "Delta", "v1")
	c := newCollector(t, "slow")
	w := c.world(t, "s168")
	const pv = "slow-pv"
	uid := w.post(w.at("PersistentVolume", ""), `{"metadata":{"name":"`+pv+`"},"spec":{"capacity":{"storage":"1"},"accessModes":["ReadWriteOnce"],"hostPath":{"path":"/x"}}}`)
	w.create("ConfigMap", "valid", ref("v1", "PersistentVolume", pv, uid))
	w.create("ConfigMap", "missing", ref("v1", "PersistentVolume", "slow-no-pv", "slow-no-pv"))
	w.create("ConfigMap", "invalid", ref("example.org/v1", "Unknown", "x", "x"))
	volumes := c.shut("/api/v1/persistentvolumes")
	t.Cleanup(volumes)
	t.Cleanup(c.shut("/apis/deltas.slow.example.com/v1/deltas"))
	c.start(t)
	ownerKindSlow(t, w, pv, volumes)

	c.see(view{stale: []string{"gammas.slow.example.com/v1", "deltas.slow.example.com/v1"}})
	neverSynced(t, c)
}

// A kind cannot be read. For half a minute the collector waits; then it collects
// what is there to be collected, and says that something is missing. An owner of
// the kind is asked for, and nothing goes that is alive.
//
// Shows: S168, S185
func ownerKindSlow(t *testing.T, w *world, pv string, open func()) {
	const waiting = "not all resource monitors could be synced, proceeding anyways"
	w.until("the garbage collector does not wait any more", func() bool { return len(w.logged(waiting)) > 0 })
	w.gone("ConfigMap", "missing")
	// Lines of the log come to be read later than they were written.
	if said, first := w.logged(waiting)[0], w.first(); first < said[1:] {
		t.Errorf("at %s, before it gave up waiting, it asked: %s", first, said)
	}
	reads := pattern{http.MethodGet, w.at("PersistentVolume", pv), ""}
	w.until("the owner that it does not see is asked for again", func() bool { return len(w.asked(reads)) >= 5 })
	w.asks("s168_watch_delayed.txt", 1, writes)
	if n := len(w.asked(pattern{http.MethodGet, w.at("PersistentVolume", "slow-no-pv"), ""})); n == 0 {
		t.Error("the owner that does not exist was not asked for")
	}
	w.until("it says that it timed out", func() bool {
		return len(w.logged("timed out waiting for dependency graph builder sync during GC sync")) > 0
	})
	open()
	w.until("the owner is seen", func() bool { return len(w.logged("replacing virtual item with observed item")) > 0 })
	seen := len(w.asked(reads))
	w.fence()
	for _, name := range []string{"valid", "invalid"} {
		w.stays("ConfigMap", name)
	}
	w.stays("PersistentVolume", pv)
	if more := len(w.asked(reads)) - seen; more > 1 { // one may have been on its way
		t.Errorf("the owner was asked for %d times after it had been seen", more)
	}
	w.asks("s168_watch_delayed.txt", 1, writes)
}

// first is when the collector first asked for an object of the world, as its log writes
// times.
func (w *world) first() string {
	for _, q := range w.asked(pattern{}) {
		if strings.Contains(q.path, "/namespaces/"+w.namespace+"/") {
			return q.at.Format("0102 15:04:05.000000")
		}
	}
	return "nothing was asked"
}

// Two groups fail. Gamma was watched and is kept; Delta was to be watched, but
// never arrived, and is dropped.
//
// Shows: S182, S183
func neverSynced(t *testing.T, c *collector) {
	cluster.Until(t, "the second look made a difference", func() bool { return len(c.changes()) == 2 })
	want := change{removed: []string{"deltas.slow.example.com/v1 deltas"}}
	if diff := cmp.Diff(want, c.changes()[1], cmp.AllowUnexported(change{}), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("the second look (+):\n%s", diff)
	}
	if !slices.Contains(c.watching(), "/apis/gammas.slow.example.com/v1/gammas") {
		t.Error("the kind that was watched is not watched any more")
	}
}
