package engine_test

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// twoLevels is a root, 50 owners below it, and dependents below those.
func twoLevels(n int) []*object.Object {
	objects := []*object.Object{numberedMap(0)}
	for i := 1; i <= 50; i++ {
		objects = append(objects, numberedMap(i, objects[0]))
	}
	for i := 51; i < n; i++ {
		objects = append(objects, numberedMap(i, objects[1+i%50]))
	}
	return objects
}

// widgets turns config maps into custom resources.
func widgets(objects []*object.Object) []*object.Object {
	for _, o := range objects {
		o.APIVersion, o.Kind = "example.com/v1", "Widget"
		for i := range o.Owners {
			o.Owners[i].APIVersion, o.Owners[i].Kind = "example.com/v1", "Widget"
		}
	}
	return objects
}

// The number of requests. Upstream sends 2 for an object that is deleted in the background, and 3
// if its owner waits.
func TestRunBudget(t *testing.T) {
	const n = 5001
	for _, c := range []struct {
		name   string
		world  []*object.Object
		policy metav1.DeletionPropagation
		// most is the maximum number of requests, left the number of remaining objects.
		most float64
		left int
	}{
		{"background", fanOut(n), background, 1.02 * (n - 1), 0},
		{"background in two levels", twoLevels(n + 50), background, 1.05 * (n + 49), 0},
		{"foreground", fanOut(n), foreground, 1.05*(n-1) + 1, 0},
		{"foreground in two levels", twoLevels(n + 50), foreground, 1.05*(n+49) + 51, 0},
		{"foreground of custom resources", widgets(fanOut(n)), foreground, 1.05*(n-1) + 1, 0},
		{"orphan", fanOut(n), orphan, n, n - 1},
		{"orphan of custom resources", widgets(fanOut(n)), orphan, n, n - 1},
	} {
		for _, rules := range []engine.Rules{engine.Upstream, engine.Strict} {
			t.Run(fmt.Sprint(c.name, " ", rules), func(t *testing.T) {
				w := newCluster(c.world, engine.WithEconomy(), engine.WithRules(rules))
				w.proofs = true
				if err := w.server.Delete(t.Context(), c.world[0].Ref, metav1.DeleteOptions{PropagationPolicy: &c.policy}); err != nil {
					t.Fatal(err)
				}
				w.untilRest(t, engine.RunOptions{})
				t.Logf("%d requests, %v", w.total, w.requests)
				if got := float64(w.total); got > c.most {
					t.Errorf("%.0f requests, at most %.0f: %v", got, c.most, w.requests)
				}
				if got := len(w.server.Objects()); got != c.left {
					t.Errorf("%d objects are left, want %d", got, c.left)
				}
				if w.pinless > 0 {
					t.Errorf("%d deletes were not pinned to a version", w.pinless)
				}
			})
		}
	}
}
