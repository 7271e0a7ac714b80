package interpose

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/internal/release"
)

// One collector, and one request after the other that is held or refused.
func TestRequests(t *testing.T) {
	t.Parallel()
	c := newCollector(t, "held")
	define(t, "held", "Widget", "v1")
	c.start(t)
	for _, part := range []struct {
		name string
		run  func(*testing.T, *collector)
	}{
		{"recreated in between", recreatedInBetween},
		{"changed in between", changedInBetween},
		{"adopted in between", adoptedInBetween},
		{"delete refused", deleteRefused},
		{"owner changed in between", ownerChangedInBetween},
		{"orphan not observed", orphanNotObserved},
		{"orphan refused", orphanRefused},
		{"orphan conflict", orphanConflict},
		{"orphan raced", orphanRaced},
		{"owner never watched", ownerNeverWatched},
		{"CRD deleted twice", definitionDeletedTwice},
		{"discovery fails", discoveryFails},
		// This makes every collector forget which owners it found absent.
		{"absence is remembered", absenceRemembered},
		// Last, since what it leaves behind keeps every collector busy.
		{"across namespaces", acrossNamespaces},
	} {
		t.Run(part.name, func(t *testing.T) { part.run(t, c) })
	}
}

// Discovery fails altogether when the collector looks at it for the second time.
// All watches stay, and none begins. When it is back, the collector goes on.
//
// Shows: S180
func discoveryFails(t *testing.T, c *collector) {
	w := c.world(t, "s180")
	w.fence()
	before, looks := c.ours(c.watching()), len(c.changes())
	c.see(view{broken: map[string]int{"/api": http.StatusServiceUnavailable, "/apis": http.StatusServiceUnavailable}})
	c.forget()
	w.until("it notices that discovery fails", func() bool {
		return len(c.logged("no resources reported by discovery, skipping garbage collector sync")) > 0
	})
	if diff := cmp.Diff(before, c.ours(c.watching())); diff != "" {
		t.Errorf("what was watched, and what is (+):\n%s", diff)
	}
	if n := len(c.changes()); n != looks {
		t.Errorf("%d looks at discovery made a difference; before it was %d", n, looks)
	}
	for _, q := range c.asked(pattern{method: http.MethodGet}) {
		// A watch that the server ends is begun anew where it was; none begins at
		// the beginning.
		if len(c.ours([]string{q.path})) > 0 && collection(q.path) && (!strings.Contains(q.query, "watch=true") || strings.Contains(q.query, "sendInitialEvents=true")) {
			t.Errorf("begun meanwhile: %s?%s", q.path, q.query)
		}
	}
	c.see(view{})
	w.fence()
}

// beingCollected makes a Secret b whose owner, the ConfigMap a, is deleted, and
// holds the collector right before it deletes b.
func beingCollected(t *testing.T, c *collector, name string) (*world, *rule) {
	t.Helper()
	w := c.world(t, name)
	a := w.owner("a")
	w.create("Secret", "b", ref("v1", "ConfigMap", "a", a))
	w.fenceOf("Secret")
	deletes := w.hold(pattern{http.MethodDelete, w.at("Secret", "b"), ""})
	w.delete("ConfigMap", "a", "Background")
	w.held(deletes)
	return w, deletes
}

// Between the GET of the collector and its DELETE the user deletes the object and
// creates it anew, without owners.
//
// Shows: S081
func recreatedInBetween(t *testing.T, c *collector) {
	w, deletes := beingCollected(t, c, "s081")
	w.delete("Secret", "b", "")
	w.create("Secret", "b")
	close(deletes.released)
	w.asks("s081_recreated_during_the_attempt.txt", 1)
	w.stays("Secret", "b")
}

// Between GET and DELETE somebody labels the object.
//
// Shows: S082
func changedInBetween(t *testing.T, c *collector) {
	w, deletes := beingCollected(t, c, "s082")
	w.patch("Secret", "b", `"labels":{"app":"web"}`)
	close(deletes.released)
	w.asks("s082_changed_during_the_attempt.txt", 1)
	w.gone("Secret", "b")
}

// Between GET and DELETE the object gets another owner: one that exists, and keeps
// it, or one that does not. An older release deletes it either way.
//
// Shows: S083
func adoptedInBetween(t *testing.T, c *collector) {
	w, deletes := beingCollected(t, c, "s083")
	d := w.owner("d")
	w.adopt("b", ref("v1", "ConfigMap", "d", d))
	close(deletes.released)
	if !release.Of(shared.Minor()).Follow(release.DeletesPinned) {
		w.asks("release_deletes_pinned.txt", 1)
		w.gone("Secret", "b")
		return
	}
	w.asks("s083_adopted_during_the_attempt.txt", 1)
	w.stays("Secret", "b")
	if text := string(w.get("Secret", "b")); strings.Contains(text, `"name":"a"`) || !strings.Contains(text, d) {
		t.Errorf("b has other owners than d: %s", text)
	}

	w, deletes = beingCollected(t, c, "s083-ghost")
	w.adopt("b", ref("v1", "ConfigMap", "ghost", "uid-s083"))
	close(deletes.released)
	w.asks("s083_adopted_during_the_attempt.txt", 2, writes)
	w.gone("Secret", "b")
}

// adopt adds an owner to a Secret whose owner was the ConfigMap a.
func (w *world) adopt(name, owner string) {
	w.t.Helper()
	a := ""
	for uid, called := range w.names {
		if called == "a" {
			a = uid
		}
	}
	w.patch("Secret", name, `"ownerReferences":[`+ref("v1", "ConfigMap", "a", a)+","+owner+"]")
}

// The deletes of the collector are refused three times, as by a webhook, and then
// let through. Refused without end they are repeated, each time after a pause that
// is twice as long, and the object stays.
//
// Shows: S086
func deleteRefused(t *testing.T, c *collector) {
	w := c.world(t, "s086")
	a := w.owner("a")
	w.create("Secret", "b", ref("v1", "ConfigMap", "a", a))
	w.fenceOf("Secret")
	b := pattern{http.MethodDelete, w.at("Secret", "b"), ""}
	w.answer(b, http.StatusForbidden, 3)
	w.delete("ConfigMap", "a", "Background")
	w.asks("s086_delete_denied.txt", 1)
	w.gone("Secret", "b")

	w = c.world(t, "s086-again")
	a = w.owner("a")
	w.create("Secret", "b", ref("v1", "ConfigMap", "a", a))
	w.fenceOf("Secret")
	b.path = w.at("Secret", "b")
	never := w.answer(b, http.StatusForbidden, -1)
	w.delete("ConfigMap", "a", "Background")
	const tries = 9
	w.until("b is tried nine times", func() bool { return len(w.asked(b)) >= tries })
	w.stays("Secret", "b")
	list := w.asked(b)
	for i := 1; i < tries; i++ {
		if least, gap := 5*time.Millisecond<<(i-1), list[i].at.Sub(list[i-1].at); gap < least {
			t.Errorf("try %d came %s after the one before, sooner than %s", i+1, gap, least)
		}
	}
	w.lift(never)
	w.gone("Secret", "b")
}

// Somebody writes to the owner before each of the first four patches of its
// finalizers: the attempt is given up, and repeated. Three are within one attempt.
//
// Shows: S125
func ownerChangedInBetween(t *testing.T, c *collector) {
	// A fault of the simulation leaves the version as it was; here it is another
	// one for every try.
	conflicts(t, c, "s125", 4).asks("s125_conflicts.txt", 1, withoutVersions)
	conflicts(t, c, "s125-three", 3).asks("s125_conflicts.txt", 2, writes, withoutVersions)
}

// conflicts deletes an owner whose patches meet a newer version that often.
func conflicts(t *testing.T, c *collector, name string, times int) *world {
	t.Helper()
	w := c.world(t, name)
	w.owner("a")
	a := pattern{http.MethodPatch, w.at("ConfigMap", "a"), "finalizers"}
	var patches []*rule
	for range times {
		patches = append(patches, w.hold(a))
	}
	w.delete("ConfigMap", "a", "Foreground")
	for i, p := range patches {
		w.held(p)
		w.patch("ConfigMap", "a", fmt.Sprintf(`"labels":{"round":"%d"}`, i))
		close(p.released)
	}
	w.gone("ConfigMap", "a")
	seen := map[string]bool{}
	for _, q := range w.asked(a) {
		seen[string(q.body)] = true
	}
	if len(seen) != times+1 {
		t.Errorf("%d patches name %d versions: %v", times+1, len(seen), seen)
	}
	return w
}

// withoutVersions leaves out which version a request names or gets.
func withoutVersions(lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = version.ReplaceAllString(line, "${1}0")
	}
	return out
}

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
