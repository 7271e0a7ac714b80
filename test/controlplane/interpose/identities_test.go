package interpose

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/graph"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

// A collector starts in a world in which owners are called by several names.
func TestIdentities(t *testing.T) {
	t.Parallel()
	c := newCollector(t, "known")
	round, alike, elsewhere := ringOf(t, c), alikeOf(t, c), elsewhereOf(t, c)
	// The dependents without a namespace are seen first, so that the identity of
	// their owners is theirs.
	open := c.shut("/api/v1/secrets")
	t.Cleanup(open)
	var own []*rule
	for i := range ring {
		own = append(own, c.hold(pattern{http.MethodGet, round.at("Secret", fmt.Sprintf("d%d", i)), ""}))
	}
	e := []*rule{c.hold(pattern{http.MethodGet, "known-s170/secrets/e", ""}), c.hold(pattern{http.MethodGet, "known-s170-too/secrets/e", ""})}
	f := c.hold(pattern{http.MethodGet, elsewhere.at("Secret", "f"), ""})
	c.start(t)
	cluster.Until(t, "the cluster-scoped dependents are seen", func() bool {
		seen := c.logged("add virtual item")
		return slices.ContainsFunc(seen, func(l string) bool { return strings.Contains(l, "uid-s170") }) &&
			slices.ContainsFunc(seen, func(l string) bool { return strings.Contains(l, "uid-s171") })
	})
	open()
	t.Run("round and round", func(t *testing.T) { round.t = t; roundAndRound(t, round, own) })
	t.Run("the same in two namespaces", func(t *testing.T) { alike.t = t; sameInTwoNamespaces(t, alike, e) })
	t.Run("another kind", func(t *testing.T) { elsewhere.t = t; anotherKind(t, elsewhere, f) })
}

// alternate is the next identity of an absent owner, after our own reading.
func alternate(dependents []*object.Object, absent object.Ref) string {
	next, ok := graph.Alternate(dependents, absent)
	if !ok {
		return "none"
	}
	return next.Kind + " " + next.Namespace + "/" + next.Name
}

// dependent is an object that refers to one owner, for [alternate].
func dependent(namespace, kind, name, uid string) *object.Object {
	return &object.Object{Ref: object.Ref{Namespace: namespace}, Owners: []object.OwnerReference{
		{APIVersion: "v1", Kind: kind, Name: name, UID: types.UID(uid)},
	}}
}

// ring are the names of one owner that does not exist.
var ring = []struct{ kind, name string }{{"Secret", "x1"}, {"ConfigMap", "x3"}, {"ConfigMap", "x1"}, {"Secret", "x0"}, {"ConfigMap", "x2"}}

// ringOf makes a dependent for every name.
func ringOf(t *testing.T, c *collector) *world {
	t.Helper()
	w := c.world(t, "s169")
	for i, r := range ring {
		w.create("Secret", fmt.Sprintf("d%d", i), ref("v1", r.kind, r.name, "uid-s169"))
	}
	return w
}

// Five dependents call one absent owner by five names. The collector asks for them
// in their order, round and round, as long as the dependents are there: they are
// held when the collector looks at them.
//
// Shows: S169
func roundAndRound(t *testing.T, w *world, own []*rule) {
	candidates := func() []string {
		var list []string
		for _, q := range w.asked(pattern{method: http.MethodGet}) {
			for _, r := range ring {
				if q.path == w.at(r.kind, r.name) {
					list = append(list, r.kind+" "+w.namespace+"/"+r.name)
				}
			}
		}
		return list
	}
	w.until("three rounds are complete", func() bool { return len(candidates()) > 3*len(ring) })
	var dependents []*object.Object
	for _, r := range ring {
		dependents = append(dependents, dependent(w.namespace, r.kind, r.name, "uid-s169"))
	}
	list := candidates()
	for i, asked := range list[1:] {
		kind, name, _ := strings.Cut(list[i], " "+w.namespace+"/")
		absent := object.Ref{APIVersion: "v1", Kind: kind, Namespace: w.namespace, Name: name, UID: "uid-s169"}
		if want := alternate(dependents, absent); asked != want {
			t.Fatalf("after %s it asked for %s, not for %s, in\n%s", list[i], asked, want, strings.Join(list, "\n"))
		}
	}
	for i, r := range own {
		w.held(r)
		w.stays("Secret", fmt.Sprintf("d%d", i))
		close(r.released)
		w.gone("Secret", fmt.Sprintf("d%d", i))
	}
}

// alikeOf makes dependents of one absent cluster-scoped owner: two of them in two
// namespaces, and one in none.
func alikeOf(t *testing.T, c *collector) *world {
	t.Helper()
	owner := ref("v1", "PersistentVolume", "known-x", "uid-s170")
	first, second := c.world(t, "s170"), c.world(t, "s170-too")
	first.create("Secret", "e", owner)
	second.create("Secret", "e", owner)
	first.create("ClusterRole", "known-s170", owner)
	return first
}

// An owner without a namespace is absent. That its dependents are in several
// namespaces makes no other identity of it: it is asked for once, and all of them
// go. Those in namespaces, which would ask for it themselves, are held meanwhile.
//
// Shows: S170
func sameInTwoNamespaces(t *testing.T, w *world, own []*rule) {
	second := *w
	second.namespace += "-too"
	w.gone("ClusterRole", "known-s170")
	w.fence()
	for _, r := range own {
		w.held(r)
		close(r.released)
	}
	w.gone("Secret", "e")
	second.gone("Secret", "e")
	list := w.answered(pattern{http.MethodGet, w.at("PersistentVolume", "known-x"), ""})
	if len(list) != 1 || list[0].code != http.StatusNotFound {
		t.Errorf("the owner was asked for %d times", len(list))
	}
	all := []*object.Object{dependent("", "PersistentVolume", "known-x", "u"), dependent("ns1", "PersistentVolume", "known-x", "u"), dependent("ns2", "PersistentVolume", "known-x", "u")}
	if next := alternate(all, object.Ref{APIVersion: "v1", Kind: "PersistentVolume", Name: "known-x", UID: "u"}); next != "none" {
		t.Errorf("we would ask for %s", next)
	}
}

// elsewhereOf makes dependents that call one absent owner a PersistentVolume and a
// ConfigMap.
func elsewhereOf(t *testing.T, c *collector) *world {
	t.Helper()
	w := c.world(t, "s171")
	w.create("Secret", "f", ref("v1", "ConfigMap", "known-y", "uid-s171"))
	w.create("ClusterRole", "known-s171", ref("v1", "PersistentVolume", "known-y", "uid-s171"))
	return w
}

// An owner without a namespace is absent, and a dependent calls it by another
// kind: it is looked for in the namespace of the dependent. The dependent itself,
// which would ask for the same, is held.
//
// Shows: S171
func anotherKind(t *testing.T, w *world, f *rule) {
	alternative := pattern{http.MethodGet, w.at("ConfigMap", "known-y"), ""}
	w.held(f)
	w.until("the other kind is asked for", func() bool { return len(w.asked(alternative)) > 0 })
	w.stays("Secret", "f")
	close(f.released)
	w.gone("Secret", "f")
	w.gone("ClusterRole", "known-s171")
	volumes := w.asked(pattern{http.MethodGet, w.at("PersistentVolume", "known-y"), ""})
	if len(volumes) == 0 || volumes[0].at.After(w.asked(alternative)[0].at) {
		t.Errorf("the PersistentVolume was asked for %d times, at first or not", len(volumes))
	}
	all := []*object.Object{dependent("", "PersistentVolume", "known-y", "u"), dependent(w.namespace, "ConfigMap", "known-y", "u")}
	want := "ConfigMap " + w.namespace + "/known-y"
	if next := alternate(all, object.Ref{APIVersion: "v1", Kind: "PersistentVolume", Name: "known-y", UID: "u"}); next != want {
		t.Errorf("we would ask for %s", next)
	}
}

// crossing makes the world of the scenario file: dependents that name an owner
// rightly, and others in another namespace that do not.
func crossing(t *testing.T, c *collector) (good, bad *world) {
	t.Helper()
	good, bad = c.world(t, "s167-good"), c.world(t, "s167-bad")
	uid := good.create("ConfigMap", "owner")
	right, wrong := ref("v1", "ConfigMap", "owner", uid), ref("v1", "Secret", "owner", uid)
	bad.names[uid] = "u"
	var unknown []string
	for i := range 25 {
		unknown = append(unknown, ref("example.org/v1", fmt.Sprintf("Unknown%d", i), "x", fmt.Sprintf("uid-s167-%d", i)))
	}
	good.create("Secret", "a", right)
	good.create("Secret", "b", right)
	bad.create("Secret", "only-wrong-1", wrong)
	bad.create("Secret", "only-wrong-2", wrong)
	bad.create("Secret", "unknown", unknown...)
	bad.create("Secret", "unknown-and-wrong", append(slices.Clone(unknown), wrong)...)
	return good, bad
}

// A collector starts and finds references to kinds that nobody serves, and one
// reference that calls a ConfigMap a Secret of another namespace. What has no other
// reference goes, also when it comes later; nothing else does, not even when the
// collector starts anew.
//
// Shows: S167
func acrossNamespaces(t *testing.T, c *collector) {
	c.end()
	good, bad := crossing(t, c)
	c.start(t)
	bad.gone("Secret", "only-wrong-1")
	bad.gone("Secret", "only-wrong-2")
	uid := ""
	for id, name := range bad.names {
		if name == "u" {
			uid = id
		}
	}
	bad.create("Secret", "late", ref("v1", "Secret", "owner", uid))
	bad.gone("Secret", "late")
	bad.end()
	bad.start(t)
	bad.fence()
	inOrder := func(lines []string) []string {
		for i, l := range lines {
			lines[i] = strings.Replace(l, " bad/", " n/", 1)
		}
		slices.Sort(lines)
		return lines
	}
	bad.asks("s167_cross_namespace_references.txt", 1, writes, inOrder)
	for _, name := range []string{"unknown", "unknown-and-wrong"} {
		bad.stays("Secret", name)
	}
	for _, name := range []string{"a", "b"} {
		good.stays("Secret", name)
	}
	good.stays("ConfigMap", "owner")
}

// The collector remembers 500 absent owners. Two of them are r1, which has two
// dependents, and r2. The dependents can be looked at again and again: their other
// owner can never be judged, and the collector gives them up each time. r1 is asked
// for once, although one of its dependents marks its reference as controller. When
// 650 others have been found absent, and r1 was used meanwhile, r2 is asked for
// again and r1 is not.
//
// Shows: S087, S088
func absenceRemembered(t *testing.T, c *collector) {
	w := c.world(t, "s087")
	r1, r2 := volume("r1"), volume("r2")
	controller := strings.TrimSuffix(r1, "}") + `,"controller":true}`
	first := w.hold(pattern{http.MethodGet, w.at("PersistentVolume", "held-r1"), ""})
	w.create("ClusterRole", "held-p1", r1, never)
	w.create("ClusterRole", "held-p2", controller, never)
	w.held(first)
	w.until("both dependents of r1 are seen", func() bool { return len(w.logged(`object="held-p2"`)) > 0 })
	close(first.released)
	w.create("ClusterRole", "held-p3", r2, never)
	reads := func(name string) int {
		return len(w.asked(pattern{http.MethodGet, w.at("PersistentVolume", "held-"+name), ""}))
	}
	for _, name := range []string{"held-p1", "held-p2", "held-p3"} {
		w.until(name+" has been judged", func() bool { return w.judged(name) > 0 })
	}
	w.look("held-p1", r1)
	w.look("held-p2", controller)
	w.look("held-p3", r2)
	if reads("r1") != 1 || reads("r2") != 1 {
		t.Errorf("r1 was asked for %d times, r2 %d times", reads("r1"), reads("r2"))
	}
	w.fill("first", 450)
	w.look("held-p1", r1)
	w.fill("second", 200)
	w.look("held-p2", controller)
	if n := reads("r1"); n != 1 {
		t.Errorf("r1, used not long ago, was asked for %d times", n)
	}
	w.look("held-p3", r2)
	w.until("r2, not used for long, is asked for again", func() bool { return reads("r2") == 2 })
}

// volume refers to a PersistentVolume that does not exist.
func volume(name string) string { return ref("v1", "PersistentVolume", "held-"+name, "uid-"+name) }

// never cannot be judged when a cluster-scoped object refers to it: it would have
// to be in a namespace.
var never = ref("v1", "ConfigMap", "m", "uid-m")

// judged is how often the collector has come to the end with a dependent: to the owner
// that cannot be judged, which follows the one that matters.
func (w *world) judged(dependent string) int {
	n := 0
	for _, line := range w.logged("item is cluster-scoped, but refers to a namespaced owner") {
		if strings.Contains(line, "name: "+dependent+", ") {
			n++
		}
	}
	return n
}

// look has the collector look at a dependent: it gets one more owner, which does not
// exist. What the collector asks for first is the first owner.
func (w *world) look(dependent, first string) {
	w.t.Helper()
	w.fences++
	before := w.judged(dependent)
	w.patch("ClusterRole", dependent, `"ownerReferences":[`+first+","+never+","+volume(fmt.Sprintf("look-%d", w.fences))+"]")
	w.until(dependent+" is judged again", func() bool { return w.judged(dependent) > before })
}

// fill has the collector find owners absent.
func (w *world) fill(name string, owners int) {
	w.t.Helper()
	var list []string
	for i := range owners {
		of := fmt.Sprintf("%s-%d", name, i)
		list = append(list, ref("v1", "ConfigMap", of, "uid-"+of))
	}
	w.create("ConfigMap", name, list...)
	w.gone("ConfigMap", name)
}
