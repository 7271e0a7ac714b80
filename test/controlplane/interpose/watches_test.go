package interpose

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
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

// aggregated is the media type of discovery in one document.
const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

// monitored are the collections that the collector watches after our own reading
// of the discovery documents that it is shown now, sorted.
func (c *collector) monitored(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	for _, path := range []string{"/api", "/apis"} { // one look, as the collector's
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.URL+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Accept", aggregated)
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		if err := answer.Body.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, path+".json"), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	snap, err := snapshot.ReadFiles([]string{dir}, snapshot.Options{})
	if err != nil || !snap.Source.Discovered {
		t.Fatalf("the discovery documents were not read: %v", err)
	}
	var paths []string
	for _, r := range snap.Resources.All() {
		if !snap.Resources.Monitored(r) {
			continue
		}
		prefix := "/apis/"
		if r.Group == "" {
			prefix = "/api/"
		}
		paths = append(paths, prefix+r.APIVersion()+"/"+r.Name)
	}
	slices.Sort(paths)
	return c.ours(paths)
}

// ours leaves out the custom resources of other tests.
func (c *collector) ours(list []string) []string {
	return slices.DeleteFunc(list, func(text string) bool {
		return strings.Contains(text, ".example.com") && !strings.Contains(text, "."+c.realm+".example.com")
	})
}

// change is what the collector says of one look at discovery that made a
// difference.
type change struct{ added, removed []string }

var inDiff = regexp.MustCompile(`diff="added: \[([^\]]*)\], removed: \[([^\]]*)\]"`)
var inList = regexp.MustCompile(`(\S*/\S+), Resource=(\S+)`)

// changes are the differences that the collector found so far in what is not of other
// tests. The first is everything.
func (c *collector) changes() []change {
	var list []change
	for _, line := range c.logged("syncing garbage collector with updated resources from discovery") {
		words := inDiff.FindStringSubmatch(line)
		if words == nil {
			continue
		}
		if is := (change{c.ours(resourcesIn(words[1])), c.ours(resourcesIn(words[2]))}); len(is.added)+len(is.removed) > 0 {
			list = append(list, is)
		}
	}
	return list
}

func resourcesIn(text string) []string {
	var list []string
	for _, r := range inList.FindAllStringSubmatch(text, -1) {
		list = append(list, strings.TrimPrefix(r[1]+" "+r[2], "/"))
	}
	return list
}

// nothingButAggregated makes sure that the collector asked for the two documents
// of aggregated discovery and for no other.
func (c *collector) nothingButAggregated(t *testing.T) {
	t.Helper()
	for _, q := range c.asked(pattern{method: http.MethodGet}) {
		if words := strings.Split(strings.Trim(q.path, "/"), "/"); words[0] == "apis" && (len(words) == 2 || len(words) == 3) {
			t.Errorf("the garbage collector asked for %s", q.path)
		}
	}
}
