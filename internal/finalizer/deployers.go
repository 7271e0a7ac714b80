package finalizer

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Deployer is a controller that deletes what it has applied (object.InventoryFacts) before it removes
// its finalizer.
type Deployer struct {
	// Kind is the kind of its objects. Finalizer is the one behind which it deletes; a `*` matches any
	// text.
	Kind      object.Kind
	Finalizer string
	// Waits is true if the finalizer stays until everything is gone that was deleted.
	Waits bool
	// Assumption must hold for its deletes: a sentence without a full stop.
	Assumption string

	// policy returns the propagation policy of its deletes for a finalizer.
	policy func(finalizer string) metav1.DeletionPropagation
	// keeps reports whether it leaves an object of its inventory.
	keeps func(o *object.Object) bool
}

// deployers are the deployers whose inventories are read, one for each of object.DeployerKinds. The sources of what they delete are named
// in manifest/facts_inventory.go.
var deployers = []Deployer{
	{
		Kind: object.ArgoApplication, Finalizer: "resources-finalizer.argocd.argoproj.io*", Waits: true,
		Assumption: "Argo CD tracks what status.resources lists, and its project permits all of it",
		// Source: argo-cd, pkg/apis/application/v1alpha1/types.go Application.GetPropagationPolicy.
		policy: func(finalizer string) metav1.DeletionPropagation {
			if strings.HasSuffix(finalizer, "/background") {
				return metav1.DeletePropagationBackground
			}
			return metav1.DeletePropagationForeground
		},
		// Source: argo-cd, controller/appcontroller.go shouldBeDeleted.
		keeps: func(o *object.Object) bool {
			return o.Is(object.CRD) || o.Protection()&(object.ArgoKeep|object.HelmKeep) != 0
		},
	},
	{
		Kind: object.FluxKustomization, Finalizer: "finalizers.fluxcd.io",
		Assumption: "the service account that Flux uses for it exists and may delete everything that it has applied",
		policy:     background,
		// Source: kustomize-controller, internal/controller/kustomization_manager.go: excludes objects with these
		// labels or annotations.
		keeps: func(o *object.Object) bool {
			disabled := func(key string) bool { return strings.EqualFold(o.Labels.Get(key), "disabled") }
			return o.Protection().Has(object.FluxKeep) || disabled(object.FluxPruneKey) || disabled(object.FluxReconcileKey)
		},
	},
	{
		Kind: object.FluxHelmRelease, Finalizer: "finalizers.fluxcd.io", Waits: true,
		Assumption: "Flux can uninstall the release; its hooks are not simulated",
		policy:     background,
		keeps:      func(o *object.Object) bool { return o.Protection().Has(object.HelmKeep) },
	},
}

func background(string) metav1.DeletionPropagation { return metav1.DeletePropagationBackground }

// DeployerOf returns the deployer that deletes the inventory of an object before it removes a
// finalizer; nil if there is none.
func DeployerOf(of object.Ref, finalizer string) *Deployer {
	for i := range deployers {
		if d := &deployers[i]; of.Is(d.Kind) && fits(d.Finalizer, finalizer) {
			return d
		}
	}
	return nil
}

// DeployerAssumption returns the Assumption of the deployer of an object; empty if it has none.
func DeployerAssumption(of object.Ref) string {
	for i := range deployers {
		if of.Is(deployers[i].Kind) {
			return deployers[i].Assumption
		}
	}
	return ""
}

// Deletes reports whether the deployer deletes an object of the inventory of the object from.
func (d *Deployer) Deletes(from, o *object.Object) bool {
	return o.Ref.WithoutUID() != from.Ref.WithoutUID() && !d.keeps(o)
}

// Policy returns the propagation policy of the deletes behind a finalizer.
func (d *Deployer) Policy(finalizer string) metav1.DeletionPropagation { return d.policy(finalizer) }

// DeletesOthers reports whether the controller of a finalizer is known to delete other objects before
// it removes it, by rules that are not simulated.
func DeletesOthers(finalizer string) bool {
	return slices.ContainsFunc(deleteOthers, func(pattern string) bool { return fits(pattern, finalizer) })
}

// deleteOthers are finalizers of Of behind which controllers delete objects of the cluster that
// neither their owner references nor an inventory that is read name.
var deleteOthers = []string{
	"composite.apiextensions.crossplane.io", "finalizer.apiextensions.crossplane.io",
	"defined.apiextensions.crossplane.io", "offered.apiextensions.crossplane.io",
	"finalizers.kapp-ctrl.k14s.io/delete", "kro.run/finalizer",
	"fleet.cattle.io/gitrepo-finalizer", "fleet.cattle.io/bundle-finalizer", "fleet.cattle.io/bundle-deployment-finalizer",
	"helm.sdk.operatorframework.io/uninstall-release", "uninstall-helm-release",
	"cluster.cluster.x-k8s.io", "provider.cluster.x-k8s.io",
}
