package interpose

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/internal/release"
)

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
