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
	// Kind is the kind of its objects. Finalizers are those behind which it deletes.
	Kind       object.Kind
	Finalizers []string
	// Waves is true if it deletes one wave after the other, each when nothing that it has applied is
	// being deleted, and its finalizer stays until all of them are gone. Otherwise it deletes all at
	// once, and removes its finalizer unless a delete is refused.
	Waves bool
	// AllOrNone is true if it deletes nothing as long as the kind of an entry is not served. Otherwise it
	// deletes the others. Either way its finalizer stays.
	AllOrNone bool
	// Assumption must hold for its deletes: a sentence without a full stop.
	Assumption string

	// policy returns the propagation policy of its deletes for a finalizer.
	policy func(finalizer string) metav1.DeletionPropagation
	// tracks reports whether an object counts as applied for the object from; nil: every one.
	tracks func(from, o *object.Object) bool
	// keeps reports whether it leaves an object that counts as applied.
	keeps func(o *object.Object) bool
}

const argoFinalizer = "resources-finalizer.argocd.argoproj.io"

// deployers are the deployers whose inventories are read, one for each of object.DeployerKinds. The sources
// of what they list are named in manifest/facts_inventory.go.
var deployers = []Deployer{
	{
		Kind: object.ArgoApplication, Finalizers: []string{argoFinalizer, argoFinalizer + "/background", argoFinalizer + "/foreground"}, Waves: true,
		Assumption: "Argo CD tracks what status.resources lists, and its project permits all of it",
		// Source: argo-cd, pkg/apis/application/v1alpha1/types.go Application.GetPropagationPolicy.
		policy: func(finalizer string) metav1.DeletionPropagation {
			if strings.HasSuffix(finalizer, "/background") {
				return metav1.DeletePropagationBackground
			}
			return metav1.DeletePropagationForeground
		},
		// Source: gitops-engine, pkg/cache/cluster.go GetManagedLiveObjs.
		tracks: func(_, o *object.Object) bool { return len(o.Owners) == 0 },
		// Source: argo-cd, controller/appcontroller.go shouldBeDeleted.
		keeps: func(o *object.Object) bool {
			return o.Is(object.CRD) || o.Protection()&(object.ArgoKeep|object.HelmKeep) != 0
		},
	},
	{
		Kind: object.FluxKustomization, Finalizers: []string{fluxFinalizer},
		Assumption: "Flux may delete everything that it has applied",
		policy:     background,
		// Source: kustomize-controller, internal/controller/kustomization_controller.go finalize: an object
		// that it cannot read leaves the finalizer; deleteObjects: only objects with the labels of their owner.
		tracks: func(from, o *object.Object) bool {
			return o.Labels.Get(fluxGroup+"name") == from.Name && o.Labels.Get(fluxGroup+"namespace") == from.Namespace
		},
		keeps: func(o *object.Object) bool {
			return o.Protection().Has(object.FluxKeep) || slices.ContainsFunc(
				[]string{object.FluxPruneKey, object.FluxReconcileKey, object.FluxApplyKey},
				func(key string) bool { return object.ProtectionBy(key, o.Labels.Get(key)).Has(object.FluxKeep) })
		},
	},
	{
		// Source: helm, pkg/action/uninstall.go deleteRelease: fails if the manifest cannot be built.
		Kind: object.FluxHelmRelease, Finalizers: []string{fluxFinalizer}, AllOrNone: true,
		Assumption: "Flux can uninstall the release; its hooks are not simulated",
		policy:     background,
		// A CRD of the chart's directory crds stays, and one of its templates does not: what the inventory
		// has is unknown, and the plan is not complete.
		keeps: func(o *object.Object) bool { return o.Is(object.CRD) || o.Protection().Has(object.HelmKeep) },
	},
}

const (
	fluxFinalizer = "finalizers.fluxcd.io"
	fluxGroup     = "kustomize.toolkit.fluxcd.io/"
)

func background(string) metav1.DeletionPropagation { return metav1.DeletePropagationBackground }

// DeployerOf returns the deployer that deletes the inventory of an object before it removes a
// finalizer; nil if there is none.
func DeployerOf(of object.Ref, finalizer string) *Deployer {
	for i := range deployers {
		if d := &deployers[i]; of.Is(d.Kind) && slices.Contains(d.Finalizers, finalizer) {
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

// Tracks reports whether the deployer counts an object as applied for the object from.
func (d *Deployer) Tracks(from, o *object.Object) bool {
	return o.Ref.WithoutUID() != from.Ref.WithoutUID() && (d.tracks == nil || d.tracks(from, o))
}

// Deletes reports whether the deployer deletes an object of the inventory of the object from.
func (d *Deployer) Deletes(from, o *object.Object) bool { return d.Tracks(from, o) && !d.keeps(o) }

// DeletedWith returns the existing objects that a deployer deletes before it removes its finalizer from
// the object from. find returns the object with some coordinates; nil if there is none.
func DeletedWith(from *object.Object, find func(object.Coordinates) *object.Object) (list []*object.Object) {
	inventory := from.Inventory()
	if inventory == nil || inventory.Keeps || inventory.Remote {
		return nil
	}
	for _, name := range from.Finalizers() {
		d := DeployerOf(from.Ref, name)
		if d == nil {
			continue
		}
		for _, at := range inventory.Entries {
			if o := find(at.Coordinates); o != nil && d.Deletes(from, o) {
				list = append(list, o)
			}
		}
		break
	}
	return list
}

// Policy returns the propagation policy of the deletes behind a finalizer of an object.
func (d *Deployer) Policy(from *object.Object, finalizer string) metav1.DeletionPropagation {
	switch strings.ToLower(from.Inventory().Propagation) {
	case "background":
		return metav1.DeletePropagationBackground
	case "foreground":
		return metav1.DeletePropagationForeground
	case "orphan":
		return metav1.DeletePropagationOrphan
	default:
		return d.policy(finalizer)
	}
}

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
