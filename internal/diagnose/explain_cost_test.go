package diagnose

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// TestCostOf: a simulation of deployers that delete one another costs more than one of as many objects.
func TestCostOf(t *testing.T) {
	part := &snapshot.Snapshot{}
	for _, name := range []string{"a", "b", "c", "d"} {
		app := &object.Object{Ref: object.ArgoApplication.Ref("argocd", name)}
		app.Edit().Finalizers = []string{"resources-finalizer.argocd.argoproj.io"}
		part.Objects = append(part.Objects, app, &object.Object{Ref: object.ConfigMap.Ref("argocd", name)})
	}
	for nearer, want := range map[int]int{0: 8, 2: 9, 4: 10, 100: 10} {
		if got := costOf(part, nearer); got != want {
			t.Errorf("with %d nearer objects: %d, want %d", nearer, got, want)
		}
	}
}
