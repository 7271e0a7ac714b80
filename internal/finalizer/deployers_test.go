package finalizer

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// TestDeployers checks that each deployer has a kind that is read and a known finalizer.
func TestDeployers(t *testing.T) {
	var kinds []object.Kind
	for _, d := range deployers {
		kinds = append(kinds, d.Kind)
		for _, name := range d.Finalizers {
			if _, known := Of(name); !known || d.Assumption == "" {
				t.Errorf("%s: finalizer %s, assumes %q", d.Kind.Kind, name, d.Assumption)
			}
		}
	}
	if !slices.Equal(kinds, object.DeployerKinds()) {
		t.Errorf("deployers of %v, kinds %v", kinds, object.DeployerKinds())
	}
	for _, pattern := range deleteOthers {
		if _, known := Of(pattern); !known {
			t.Errorf("%s is not in the table", pattern)
		}
	}
}

// TestArgoPolicy checks the propagation policy behind each finalizer of an Application.
func TestArgoPolicy(t *testing.T) {
	app := &object.Object{Ref: object.ArgoApplication.Ref("argocd", "web")}
	app.Edit().Facts = &object.InventoryFacts{}
	for name, want := range map[string]metav1.DeletionPropagation{
		"resources-finalizer.argocd.argoproj.io":            metav1.DeletePropagationForeground,
		"resources-finalizer.argocd.argoproj.io/foreground": metav1.DeletePropagationForeground,
		"resources-finalizer.argocd.argoproj.io/background": metav1.DeletePropagationBackground,
	} {
		if got := DeployerOf(app.Ref, name).Policy(app, name); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
	if DeployerOf(app.Ref, "finalizers.fluxcd.io") != nil || DeployerOf(app.Ref, argoFinalizer+"/orphan") != nil || DeployerOf(object.ConfigMap.Ref("argocd", "web"), "resources-finalizer.argocd.argoproj.io") != nil {
		t.Error("a deployer of another kind, or behind another finalizer")
	}
}
