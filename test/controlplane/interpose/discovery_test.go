package interpose

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

const (
	alphas = "/apis/alphas.disc.example.com/v2/alphas"
	blinds = "/apis/blinds.disc.example.com/v1/blinds"
	gammas = "/apis/gammas.disc.example.com/v1/gammas"
	news   = "/apis/news.disc.example.com/v1/news"
)

// One collector looks at discovery three times, and sees something else each time.
func TestDiscovery(t *testing.T) {
	t.Parallel()
	define(t, "disc", "Alpha", "v1", "v2")
	define(t, "disc", "Blind", "v1")
	define(t, "disc", "Gamma", "v1")
	define(t, "disc", "New", "v1")
	c := newCollector(t, "disc")
	c.see(view{
		hidden: []string{"news.news.disc.example.com"}, blind: []string{"blinds.blinds.disc.example.com"},
	})
	c.start(t)
	firstLook(t, c)
	foreground, orphaned := unseenBlocker(t, c), unseenOrphan(t, c)
	dropped := c.world(t, "s181")
	owner := dropped.alpha("o")
	dropped.create("Secret", "b", ref("alphas.disc.example.com/v2", "Alpha", "o", owner))

	c.see(view{hidden: []string{"alphas.alphas.disc.example.com"}, stale: []string{"gammas.disc.example.com/v1"}})
	secondLook(t, c)
	foreground.asks("s121_kind_not_watched.txt", 1, writes)
	foreground.gone("Blind", "w")
	orphaned.asks("s132_orphan_kind_not_watched.txt", 1, writes)
	orphaned.gone("Blind", "b")
	leftDiscovery(t, dropped)

	c.see(view{broken: map[string]int{"/api": http.StatusNotFound}})
	thirdLook(t, c)
	c.nothingButAggregated(t)
}

// alpha makes an instance of the kind with two versions.
func (w *world) alpha(name string) string {
	w.t.Helper()
	place := "/apis/alphas.disc.example.com/v2/namespaces/" + w.namespace + "/alphas"
	return w.post(place, `{"apiVersion":"alphas.disc.example.com/v2","kind":"Alpha","metadata":{"name":"`+name+`"}}`)
}

// The collector starts. What it watches is what discovery says, as we read it: the
// preferred version of Alpha alone, and no Blind, which offers no watch.
//
// Shows: S186, S188, S256
func firstLook(t *testing.T, c *collector) {
	want := c.monitored(t)
	if !slices.Contains(want, alphas) || slices.Contains(want, blinds) || len(want) < 40 {
		t.Fatalf("we would watch %v", want)
	}
	// Workers begin when everything is watched, or after half a minute.
	c.world(t, "first").fence()
	cluster.Until(t, "as much is watched as we would watch", func() bool { return len(c.ours(c.watching())) >= len(want) })
	if diff := cmp.Diff(want, c.ours(c.watching())); diff != "" {
		t.Errorf("what we would watch, and what the garbage collector watches (+):\n%s", diff)
	}
	for _, path := range []string{"/apis/alphas.disc.example.com/v1/alphas", blinds, news} {
		if n := len(c.asked(pattern{path: path})); n > 0 {
			t.Errorf("%s was asked for %d times", path, n)
		}
	}
}

// A group has an impossible name. It is left out of what is to be watched; but the
// collector then looks up the kinds of all that is left, with another reader of
// discovery, which accepts nothing when there is such a group. So nothing is
// watched, and nothing collected.
//
// Shows: S187
func TestImpossibleGroup(t *testing.T) {
	t.Parallel()
	c := newCollector(t, "odd")
	c.see(view{extra: "foo//whatever"})
	if want := c.monitored(t); len(want) < 40 {
		t.Fatalf("we would watch %v", want)
	}
	c.start(t)
	cluster.Until(t, "it says what it could not do", func() bool { return len(c.logged("failed to sync resource monitors")) > 0 })
	if lines := c.logged("ignoring invalid discovered resource"); len(lines) == 0 || !strings.Contains(lines[0], "foo//whatever/v1") {
		t.Errorf("it says nothing of the impossible group: %q", lines)
	}
	if first := c.changes()[0]; !slices.Contains(first.added, "v1 configmaps") || slices.ContainsFunc(first.added, func(r string) bool { return strings.Contains(r, "whatever") }) {
		t.Errorf("to be watched: %v", first.added)
	}
	const why = "couldn't look up resource \\\"/v1, Resource=configmaps\\\": failed to parse group version (foo//whatever/v1)"
	if lines := c.logged("failed to sync resource monitors"); !strings.Contains(lines[0], why) {
		t.Errorf("%s", lines[0])
	}
	if list := c.watching(); len(list) > 0 {
		t.Errorf("it watches %v", list)
	}
}

// A blocking dependent of a kind that is not watched: the owner goes without it.
// Later, when the kind is watched, it is collected.
//
// Shows: S121
func unseenBlocker(t *testing.T, c *collector) *world {
	w := c.world(t, "s121")
	w.create("Blind", "w", blocking(ref("v1", "ConfigMap", "a", w.owner("a"))))
	w.delete("ConfigMap", "a", "Foreground")
	w.gone("ConfigMap", "a")
	w.fence()
	w.stays("Blind", "w")
	return w
}

// A dependent of a kind that is not watched is not released from an owner that is
// deleted with the policy Orphan. Later, when the kind is watched, it is collected.
//
// Shows: S132
func unseenOrphan(t *testing.T, c *collector) *world {
	w := c.world(t, "s132-unseen")
	w.create("Blind", "b", ref("v1", "ConfigMap", "a", w.owner("a")))
	w.delete("ConfigMap", "a", "Orphan")
	w.gone("ConfigMap", "a")
	w.fence()
	w.stays("Blind", "b")
	return w
}

// The second look: a new kind, Blind with the verb it lacked, Alpha has left, and
// the group of Gamma fails. What fails and was watched is kept; what is new is
// watched; what has left is dropped.
//
// Shows: S182, S256
func secondLook(t *testing.T, c *collector) {
	cluster.Until(t, "the second look made a difference", func() bool { return len(c.changes()) == 2 })
	want := change{[]string{"blinds.disc.example.com/v1 blinds", "news.disc.example.com/v1 news"}, []string{"alphas.disc.example.com/v2 alphas"}}
	if diff := cmp.Diff(want, c.changes()[1], cmp.AllowUnexported(change{}), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("the second look (+):\n%s", diff)
	}
	cluster.Until(t, "what is new is watched", func() bool {
		list := c.watching()
		return slices.Contains(list, blinds) && slices.Contains(list, news)
	})
	if !slices.Contains(c.watching(), gammas) {
		t.Error("the kind whose group fails is not watched any more")
	}
}

// Alpha has left discovery. The collector counts its watch as ended, but it goes
// on, and is begun anew when the server ends it. The owner is still known: what
// depends on it is collected when it is deleted.
//
// Shows: S181
func leftDiscovery(t *testing.T, w *world) {
	watches := pattern{http.MethodGet, alphas, ""}
	before := len(w.asked(watches))
	if err := w.cut(alphas); err != nil {
		t.Fatal(err)
	}
	w.until("the watch that was cut is begun anew", func() bool {
		return len(w.asked(watches)) > before && slices.Contains(w.watching(), alphas)
	})
	w.stays("Secret", "b")
	// Told of the Secret before its owner, the collector asked for the owner then.
	owner := pattern{path: w.namespace + "/alphas/o"}
	early := len(w.answered(owner))
	w.must(http.MethodDelete, "/apis/alphas.disc.example.com/v2/namespaces/"+w.namespace+"/alphas/o", "")
	w.gone("Secret", "b")
	if n := len(w.answered(owner)) - early; n != 0 {
		t.Errorf("the owner, which the garbage collector had seen, was asked for %d times", n)
	}
}

// The third look: /api is answered with 404, which counts as an answer without
// kinds. All kinds of the core group are dropped, and what refers to them is not
// judged any more; others are.
//
// Shows: S184
func thirdLook(t *testing.T, c *collector) {
	cluster.Until(t, "the third look made a difference", func() bool { return len(c.changes()) == 3 })
	got := c.changes()[2]
	for _, kind := range []string{"v1 configmaps", "v1 pods", "v1 secrets"} {
		if !slices.Contains(got.removed, kind) {
			t.Errorf("%s was not dropped: %v", kind, got)
		}
	}
	if slices.ContainsFunc(got.removed, func(r string) bool { return !strings.HasPrefix(r, "v1 ") }) {
		t.Errorf("more than the core group was dropped: %v", got)
	}
	w := c.world(t, "s184")
	group := "news.disc.example.com/v1"
	w.create("Secret", "b", ref("v1", "ConfigMap", "absent", "absent-core"))
	w.create("New", "n", ref(group, "New", "absent", "absent-new"))
	w.gone("New", "n")
	w.stays("Secret", "b")
	for _, line := range w.script() {
		if strings.HasPrefix(line, "DELETE v1 ") {
			t.Error(line)
		}
	}
}

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

// define has a custom resource served, in a group that is called like it and the
// realm, in these versions, of which the first is stored.
func define(t *testing.T, realm, kind string, versions ...string) string {
	t.Helper()
	plural := strings.ToLower(kind) + "s"
	group := plural + "." + realm + ".example.com"
	var list []string
	for i, v := range versions {
		list = append(list, fmt.Sprintf(`{"name":%q,"served":true,"storage":%t,"schema":{"openAPIV3Schema":{"type":"object"}}}`, v, i == 0))
	}
	body := fmt.Sprintf(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"%s.%s"},`+
		`"spec":{"group":%q,"scope":"Namespaced","names":{"plural":%q,"singular":%q,"kind":%q,"listKind":"%sList"},"versions":[%s]}}`,
		plural, group, group, plural, strings.ToLower(kind), kind, kind, strings.Join(list, ","))
	if _, err := shared.Do(t.Context(), http.MethodPost, definitions, "application/json", []byte(body)); err != nil {
		t.Fatal(err)
	}
	if err := shared.Serves(t.Context(), group, plural, versions...); err != nil {
		t.Fatal(err)
	}
	return plural + "." + group
}

// A definition is deleted twice with the policy Foreground, while a finalizer holds
// an instance. The first delete finds no finalizer of a policy to set; the second
// sets the one of its policy, which the collector takes off again.
//
// Shows: S195
func definitionDeletedTwice(t *testing.T, c *collector) {
	w := c.world(t, "s195")
	name := define(t, "s195-held", "Gadget", "v1") // no kind that the next tests count on
	const gadgets = "/apis/gadgets.s195-held.example.com/v1/namespaces/held-s195/gadgets"
	w.must(http.MethodPost, gadgets, `{"apiVersion":"gadgets.s195-held.example.com/v1","kind":"Gadget","metadata":{"name":"w","finalizers":["x/y"]}}`)
	const cleanup, foreground = "customresourcecleanup.apiextensions.k8s.io", "foregroundDeletion"
	patch := w.hold(pattern{http.MethodPatch, definitions + "/" + name, "finalizers"})
	w.delete("CustomResourceDef", name, "Foreground")
	if text := string(w.get("CustomResourceDef", name)); !strings.Contains(text, cleanup) || strings.Contains(text, foreground) {
		t.Errorf("after the first delete: %s", text)
	}
	w.until("the instance is being deleted", func() bool {
		return strings.Contains(string(w.must(http.MethodGet, gadgets+"/w", "")), "deletionTimestamp")
	})
	w.delete("CustomResourceDef", name, "Foreground")
	if text := string(w.get("CustomResourceDef", name)); !strings.Contains(text, cleanup) || !strings.Contains(text, foreground) {
		t.Errorf("after the second delete: %s", text)
	}
	w.held(patch)
	close(patch.released)
	w.until("the garbage collector takes its finalizer off", func() bool {
		text := string(w.get("CustomResourceDef", name))
		return strings.Contains(text, cleanup) && !strings.Contains(text, foreground)
	})
	list := w.answered(pattern{http.MethodPatch, definitions + "/" + name, ""})
	if len(list) != 1 || list[0].code != http.StatusOK ||
		!strings.Contains(string(list[0].body), `"finalizers":["`+cleanup+`"]`) || !strings.Contains(string(list[0].body), `"resourceVersion":"`) {
		t.Errorf("the garbage collector's patches: %+v", list)
	}
	w.must(http.MethodPatch, gadgets+"/w", `{"metadata":{"finalizers":null}}`)
	w.gone("CustomResourceDef", name)
}
