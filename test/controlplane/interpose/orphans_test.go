package interpose

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

// A dependent is created right before its owner is deleted with the policy Orphan,
// and its event comes too late: the owner is gone when the collector first sees it.
//
// Shows: S132
func orphanNotObserved(t *testing.T, c *collector) {
	w := c.world(t, "s132")
	a := w.owner("a")
	open := w.shut("/api/v1/secrets")
	t.Cleanup(open)
	w.create("Secret", "b", ref("v1", "ConfigMap", "a", a))
	w.delete("ConfigMap", "a", "Orphan")
	w.gone("ConfigMap", "a")
	w.fence()
	w.stays("Secret", "b")
	open()
	w.asks("s132_orphan_not_observed.txt", 1, writes)
	w.gone("Secret", "b")
}

// One of three dependents must not be patched, twice. Meanwhile the collector does
// not see what became of the others.
//
// Shows: S133
func orphanRefused(t *testing.T, c *collector) {
	w := c.world(t, "s133")
	a := ref("v1", "ConfigMap", "a", w.owner("a"))
	for _, name := range []string{"b1", "b2", "b3"} {
		w.create("Secret", name, a)
	}
	w.fenceOf("Secret")
	open := w.shut("/api/v1/secrets")
	t.Cleanup(open)
	w.answer(pattern{http.MethodPatch, w.at("Secret", "b2"), ""}, http.StatusForbidden, 2)
	last := w.hold(pattern{http.MethodPatch, w.at("ConfigMap", "a"), ""})
	w.delete("ConfigMap", "a", "Orphan")
	w.held(last)
	open()
	w.fenceOf("Secret") // otherwise it looks at them once more when a is gone
	close(last.released)
	// The three patches of a round are sent at the same time.
	w.asks("s133_orphan_refused.txt", 1, func(lines []string) []string {
		for i := 0; i+3 <= min(len(lines), 9); i += 3 {
			slices.Sort(lines[i : i+3])
		}
		return lines
	})
	w.gone("ConfigMap", "a")
	for _, name := range []string{"b1", "b2", "b3"} {
		w.stays("Secret", name)
	}
}

// A custom resource has changed, and the collector does not see it: its patch names
// an old version. The next try waits until the change is seen.
//
// Shows: S133
func orphanConflict(t *testing.T, c *collector) {
	w := c.world(t, "s133-conflict")
	a := w.owner("a")
	w.create("Widget", "b", ref("v1", "ConfigMap", "a", a))
	w.fenceOf("Widget")
	open := w.shut("/apis/widgets.held.example.com/v1/widgets")
	t.Cleanup(open)
	b := pattern{http.MethodPatch, w.at("Widget", "b"), "$patch"}
	first, second := w.hold(b), w.hold(b)
	w.patch("Widget", "b", `"labels":{"x":"y"}`)
	w.delete("ConfigMap", "a", "Orphan")
	w.held(first)
	close(first.released)
	w.held(second)
	w.stays("Widget", "b")
	open()
	w.fenceOf("Widget")
	close(second.released)
	w.asks("s133_orphan_conflict.txt", 1)
	w.gone("ConfigMap", "a")
	w.stays("Widget", "b")
}

// A user adds a second owner between the collector's last sight of the dependent
// and its patch.
//
// Shows: S141
func orphanRaced(t *testing.T, c *collector) {
	w := c.world(t, "s141")
	a, d := w.owner("a"), w.owner("d")
	w.create("Secret", "b", ref("v1", "ConfigMap", "a", a))
	w.fenceOf("Secret")
	patch := w.hold(pattern{http.MethodPatch, w.at("Secret", "b"), ""})
	w.delete("ConfigMap", "a", "Orphan")
	w.held(patch)
	w.patch("Secret", "b", `"ownerReferences":[`+ref("v1", "ConfigMap", "d", d)+","+ref("v1", "ConfigMap", "a", a)+"]")
	close(patch.released)
	w.asks("s141_orphan_raced.txt", 1)
	w.gone("ConfigMap", "a")
	if text := string(w.get("Secret", "b")); strings.Contains(text, a) || !strings.Contains(text, d) {
		t.Errorf("b has other owners than d: %s", text)
	}
}

// The owner is an Event: it can be read, and no collector watches Events.
//
// Shows: S174
func ownerNeverWatched(t *testing.T, c *collector) {
	w := c.world(t, "s174")
	e := w.create("Event", "e")
	w.create("Secret", "b", ref("events.k8s.io/v1", "Event", "e", e))
	reads := pattern{http.MethodGet, w.at("Event", "e"), ""}
	w.until("e is asked for five times", func() bool { return len(w.asked(reads)) >= 5 })
	w.stays("Secret", "b")
	w.delete("Event", "e", "")
	// The file wakes the attempt once; how often it wakes is a matter of time.
	w.asks("s174_kind_never_watched.txt", 1, slices.Compact[[]string], func(lines []string) []string {
		return slices.DeleteFunc(lines, func(l string) bool { return strings.HasPrefix(l, "GET v1 Secret") })
	})
	w.gone("Secret", "b")
}
