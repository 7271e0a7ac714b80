package gctest

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/gctest"
	"github.com/kubectl-gc/kubectl-gc/test/extent"
)

// TestPreferredVersion has instances deleted while the version changes in which their kind is
// followed: who depended on them goes with them all the same.
func TestPreferredVersion(t *testing.T) {
	t.Parallel()
	s := enter(t)
	gc := gctest.Start(t, s.config)
	schema := map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}}
	r := s.define("preferred.example.com", map[string]any{"versions": []any{
		map[string]any{"name": "v1", "served": true, "storage": true, "schema": schema},
		map[string]any{"name": "v2", "served": true, "storage": false, "schema": schema},
	}})
	for round := range extent.Of(20, 200) {
		const instances = 5
		for i := range instances {
			w := s.widget(r, fmt.Sprint("w", i))
			s.configMap(fmt.Sprint("of-w", i), nil, metav1.OwnerReference{APIVersion: "preferred.example.com/v1", Kind: "Widget", Name: w.GetName(), UID: w.GetUID()})
		}
		s.settled(gc)
		patch := fmt.Appendf(nil, `[{"op":"replace","path":"/spec/versions/1/served","value":%v}]`, round%2 == 1)
		if _, err := s.dynamic.Resource(definitions).Patch(t.Context(), "widgets.preferred.example.com", types.JSONPatchType, patch, metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		for i := range instances {
			// The server has another handler for the kind from time to time, which may not know it yet.
			until(t, "an instance is deleted", func() bool {
				return s.dynamic.Resource(r).Namespace(s.namespace).Delete(t.Context(), fmt.Sprint("w", i), metav1.DeleteOptions{}) == nil
			})
			s.configMap(fmt.Sprintf("other-%d-%d", round, i), nil) // takes its time
		}
		s.settled(gc)
		for i := range instances {
			name := fmt.Sprintf("other-%d-%d", round, i)
			if err := s.client.CoreV1().ConfigMaps(s.namespace).Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		s.are("")
	}
}
