package deployers

import (
	"context"
	"slices"

	"github.com/fluxcd/cli-utils/pkg/object"
	"github.com/fluxcd/pkg/ssa"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

const (
	fluxGroup     = "kustomize.toolkit.fluxcd.io"
	fluxFinalizer = "finalizers.fluxcd.io"
)

var kustomizationKind = schema.GroupVersionKind{Group: fluxGroup, Version: "v1", Kind: "Kustomization"}

// finalize does what kustomize-controller does with a Kustomization that is being deleted: the code that
// reads entries and deletes objects is Flux'.
//
// Source: kustomize-controller, internal/controller/kustomization_controller.go finalize, deleteObjects;
// internal/inventory/inventory.go List.
func finalize(ctx context.Context, c client.Client, from *unstructured.Unstructured) error {
	if shouldDelete(from) {
		manager := ssa.NewResourceManager(c, nil, ssa.Owner{Field: "kustomize-controller", Group: fluxGroup})
		if _, err := manager.DeleteAll(ctx, inventoryOf(from), ssa.DeleteOptions{
			PropagationPolicy: "Background",
			Inclusions:        manager.GetOwnerLabels(from.GetName(), from.GetNamespace()),
			Exclusions:        map[string]string{fluxGroup + "/prune": "disabled", fluxGroup + "/reconcile": "disabled", fluxGroup + "/ssa": "Ignore"},
		}); err != nil {
			return err
		}
	}
	controllerutil.RemoveFinalizer(from, fluxFinalizer)
	return client.IgnoreNotFound(c.Update(ctx, from))
}

func shouldDelete(from *unstructured.Unstructured) bool {
	suspended, _, _ := unstructured.NestedBool(from.Object, "spec", "suspend")
	prune, _, _ := unstructured.NestedBool(from.Object, "spec", "prune")
	policy, _, _ := unstructured.NestedString(from.Object, "spec", "deletionPolicy")
	switch {
	case suspended:
		return false
	case policy == "" || policy == "MirrorPrune":
		return prune
	default:
		return slices.Contains([]string{"Delete", "WaitForTermination"}, policy)
	}
}

// inventoryOf returns the objects that an inventory names: none if an entry is malformed.
func inventoryOf(from *unstructured.Unstructured) []*unstructured.Unstructured {
	entries, _, _ := unstructured.NestedSlice(from.Object, "status", "inventory", "entries")
	var list []*unstructured.Unstructured
	for _, e := range entries {
		entry := e.(map[string]any)
		at, err := object.ParseObjMetadata(entry["id"].(string))
		if err != nil {
			return nil
		}
		o := &unstructured.Unstructured{}
		o.SetGroupVersionKind(at.GroupKind.WithVersion(entry["v"].(string)))
		o.SetNamespace(at.Namespace)
		o.SetName(at.Name)
		list = append(list, o)
	}
	return list
}
