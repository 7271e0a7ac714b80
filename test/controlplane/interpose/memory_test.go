package interpose

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

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
