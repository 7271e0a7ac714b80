package finalizer

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// TestDeployers checks that the finalizers of each deployer are known, and that those whose inventories
// are listed by their objects have a kind that is read. So has an App, which says whether it has one.
func TestDeployers(t *testing.T) {
	var listed []object.Kind
	for _, d := range Deployers() {
		if !d.Searches() || d.Kind == object.KappApp {
			listed = append(listed, d.Kind)
		}
		for _, name := range d.Finalizers {
			if _, known := Of(name); !known || slices.Contains(deleteOthers, name) {
				t.Errorf("%s: known %v, simulated and not", name, known)
			}
		}
		if d.Inventory == "" || d.Source == "" {
			t.Errorf("%v has no inventory or no source", d.Finalizers)
		}
	}
	want := slices.Insert(object.DeployerKinds(), len(object.DeployerKinds())-1, object.VolumeSnapshot, object.VolumeGroupSnapshot)
	if !slices.Equal(listed, want) {
		t.Errorf("deployers of %v, kinds %v", listed, want)
	}
	for _, pattern := range slices.Concat(deleteOthers, runHooks) {
		if k, known := Of(pattern); !known || k.Name != pattern {
			t.Errorf("%s is not in the table", pattern)
		}
	}
	if RunsHooks(argoFinalizer) || !RunsHooks("post-delete-finalizer.argocd.argoproj.io/cleanup") || !DeletesOthers("wrangler.cattle.io/on-helm-chart-remove") {
		t.Error("hooks of Argo CD, or the jobs of K3s")
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
