package engine_test

import (
	"context"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// hungHub is an owner with a chain of dependents that are deleted one by one from the bottom, and
// with many that are held. All of them block it.
func hungHub(chain, held int) []*object.Object {
	objects := []*object.Object{numberedMap(0)}
	for i := 1; i <= chain+held; i++ {
		o := numberedMap(i, objects[0])
		if i > chain {
			o.Edit().Finalizers = []string{scenario.Foreign}
		} else if i > 1 {
			o.Owners = append(o.Owners, numberedMap(0, objects[i-1]).Owners...)
			o.Owners[0].Controller = object.Unset
		}
		objects = append(objects, o)
	}
	return objects
}

// Nothing recurses over references and nothing is quadratic: the number of attempts stays a small
// multiple of the number of objects in deep, wide and circular worlds.
func TestLargeWorlds(t *testing.T) {
	const n = 12_000
	hub := hungHub(100, n-101)
	for _, c := range []struct {
		name     string
		objects  []*object.Object
		every    int
		policies []metav1.DeletionPropagation
		left     int
	}{
		{"chain", chainOf(n), n, []metav1.DeletionPropagation{background, foreground}, 0},
		{"fan", fanOut(n), n, []metav1.DeletionPropagation{background, foreground}, 0},
		{"orphaned fan", fanOut(n), n, []metav1.DeletionPropagation{orphan}, n - 1},
		{"levels", threeLevels(n), n, []metav1.DeletionPropagation{background, foreground}, 0},
		{"hung hub", hub, n, []metav1.DeletionPropagation{foreground}, n - 100},
		{"cycles", circles(n / 3), 3, []metav1.DeletionPropagation{background, foreground}, 0},
	} {
		for _, policy := range c.policies {
			t.Run(c.name+" "+string(policy), func(t *testing.T) {
				server := apisim.New(c.objects, scenario.Resources())
				collector := engine.New()
				observeAll(collector, c.objects)
				for i := 0; i < n; i += c.every {
					if err := server.Delete(context.Background(), c.objects[i].Ref, metav1.DeleteOptions{PropagationPolicy: &policy}); err != nil {
						t.Fatal(err)
					}
				}
				attempts := 0
				follow := engine.Follow{Decided: func(engine.Decision) { attempts++ }}
				if err := engine.Drain(context.Background(), collector, server, follow); err != nil {
					t.Fatal(err)
				}
				if left := len(server.Objects()); left != c.left || collector.Graph().Len() != c.left {
					t.Errorf("%d objects are left and %d nodes, want %d", left, collector.Graph().Len(), c.left)
				}
				if attempts > 3*n {
					t.Errorf("%d attempts for %d objects", attempts, n)
				}
			})
		}
	}
}
