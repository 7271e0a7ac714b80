package interpose

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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
