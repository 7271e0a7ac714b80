package finalizer

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// Inventories finds what deployers delete with the objects of a snapshot. It is not safe for
// concurrent use.
type Inventories struct {
	snap *snapshot.Snapshot
	// labelled has the objects by the value of each label in memberLabels, owned those with owner
	// references by the uid of the owner. Both are computed on first use.
	labelled map[string]map[string][]*object.Object
	owned    map[types.UID][]*object.Object
	// restored maps each entry that a deployer creates again to the object that lists it. It is computed on
	// first use.
	restored map[object.Coordinates]*object.Object
	// instances are the instances of kro by uid, computed on first use.
	instances map[string]*object.Object
	// groups are the served API groups, computed on first use.
	groups map[string]bool
}

// NewInventories returns the inventories of the objects of a snapshot.
func NewInventories(snap *snapshot.Snapshot) *Inventories { return &Inventories{snap: snap} }

// Of returns what a deployer may delete with an object; nil if the snapshot lacks it.
func (v *Inventories) Of(from *object.Object, d *Deployer) *object.InventoryFacts {
	if d.members != nil {
		inventory := d.members(v, from)
		return &inventory
	}
	listed := from.Inventory()
	if d.more == nil || listed == nil {
		return listed
	}
	more := d.more(v, listed)
	if len(more) == 0 {
		return listed
	}
	all := *listed
	all.Entries = slices.Concat(listed.Entries, more)
	return &all
}

// otherRecords returns the records of a Helm release that are not listed. Helm deletes all of them, and the
// status of a HelmRelease has only the newest.
//
// Source: helm, pkg/action/uninstall.go Uninstall.Run: purges the whole history.
func (v *Inventories) otherRecords(listed *object.InventoryFacts) (more []object.InventoryEntry) {
	for _, at := range listed.Entries {
		release, record := strings.CutPrefix(at.Name, object.HelmRecordPrefix)
		end := strings.LastIndex(release, ".v")
		if at.Kind != object.Secret.Kind || !record || end < 0 {
			continue
		}
		for _, o := range v.snap.In(object.Secret.GroupResource(), at.Namespace) {
			name, revision, ok := object.HelmRecordOf(o)
			entry := object.InventoryEntry{Coordinates: o.Coordinates()}
			if ok && revision > 0 && name == release[:end] && !listed.Lists(o.Coordinates()) && !slices.Contains(more, entry) {
				more = append(more, entry)
			}
		}
	}
	return more
}

// DeletedWith returns the existing objects that a deployer deletes before it removes its finalizer from
// the object from.
func (v *Inventories) DeletedWith(from *object.Object) []*object.Object {
	d := DeployerOfObject(from)
	return slices.DeleteFunc(v.MayDelete(from), func(o *object.Object) bool { return !d.Tracks(from, o) })
}

// MayDelete returns the objects of DeletedWith, and those that join them if their owners go first.
func (v *Inventories) MayDelete(from *object.Object) (list []*object.Object) {
	d := DeployerOfObject(from)
	if d == nil {
		return nil
	}
	inventory := v.Of(from, d)
	if inventory == nil || inventory.Keeps || inventory.Remote || v.lacksAccount(from, inventory.Account) {
		return nil
	}
	for _, at := range inventory.Entries {
		if o := v.snap.ObjectAt(at.Coordinates); o != nil && o != from && !d.Keeps(o) {
			list = append(list, o)
		}
	}
	return list
}

// lacksAccount reports whether a ServiceAccount is known not to exist in the namespace of an object.
func (v *Inventories) lacksAccount(from *object.Object, name string) bool {
	return name != "" && v.snap.Covers(object.ServiceAccount.Resource(), from.Namespace) && v.snap.FindKind(object.ServiceAccount, from.Namespace, name) == nil
}

// Deciding returns the existing objects that a deployer does not delete with the object from, but that
// decide what it deletes and when: the account that it deletes as, the Cluster that may pause it, and
// objects that it waits for while they are being deleted.
func (v *Inventories) Deciding(from *object.Object) (list []*object.Object) {
	d := DeployerOfObject(from)
	if d == nil {
		return nil
	}
	inventory := v.Of(from, d)
	if inventory == nil {
		return nil
	}
	if inventory.Account != "" {
		if account := v.snap.FindKind(object.ServiceAccount, from.Namespace, inventory.Account); account != nil {
			list = append(list, account)
		}
	}
	if cluster := clusterOf(v.snap, from); cluster != nil && cluster != from {
		list = append(list, cluster)
	}
	if !d.Waves {
		return list
	}
	for _, at := range inventory.Entries {
		if o := v.snap.ObjectAt(at.Coordinates); o != nil && d.Tracks(from, o) && !d.Deletes(from, o) {
			list = append(list, o)
		}
	}
	return list
}

// The labels by which deployers find what they delete.
const (
	// claimLabel is on composites, and on everything that they compose.
	//
	// Source: crossplane, internal/controller/apiextensions/claim/syncer_ssa.go Sync.
	claimLabel          = "crossplane.io/claim-name"
	claimNamespaceLabel = "crossplane.io/claim-namespace"
	// instanceLabel has the uid of an instance.
	//
	// Source: kro, pkg/metadata/labels.go NewInstanceLabeler.
	instanceLabel = "kro.run/instance-id"
	// csvLabel and csvNamespaceLabel have the name and namespace of a ClusterServiceVersion, copyLabel has
	// the namespace of the original of a copy.
	//
	// Source: operator-lifecycle-manager, pkg/lib/ownerutil/util.go OwnerLabel.
	csvLabel          = "olm.owner"
	csvNamespaceLabel = "olm.owner.namespace"
	csvKindLabel      = "olm.owner.kind"
	copyLabel         = "olm.copiedFrom"
	// bundleLabel and bundleNamespaceLabel have the name and namespace of a Bundle of Fleet, repoLabel and
	// helmLabel the name of the GitRepo or HelmOp of a Bundle in the same namespace.
	//
	// Source: fleet, pkg/apis/fleet.cattle.io/v1alpha1/gitrepo_types.go, helmop_types.go.
	bundleLabel          = "fleet.cattle.io/bundle-name"
	bundleNamespaceLabel = "fleet.cattle.io/bundle-namespace"
	repoLabel            = "fleet.cattle.io/repo-name"
	helmLabel            = "fleet.cattle.io/fleet-helm-name"
	// workSetLabel has the namespace and name of a ManifestWorkReplicaSet.
	workSetLabel = "work.open-cluster-management.io/manifestworkreplicaset"
	// bindingLabel and clusterBindingLabel have, on a binding of Karmada and on its Works, the permanent id of the
	// binding.
	//
	// Source: karmada, pkg/apis/work/v1alpha2/well_known_constants.go.
	bindingLabel        = "resourcebinding.karmada.io/permanent-id"
	clusterBindingLabel = "clusterresourcebinding.karmada.io/permanent-id"
	// applySetLabel is on the objects of an apply set, applySetIDLabel on the object that stands for it. Config
	// Sync labels what it manages.
	//
	// Source: kpt-config-sync, pkg/applier/inventory/inventory_converter.go, pkg/metadata/metadata.go.
	applySetLabel     = "applyset.kubernetes.io/part-of"
	applySetIDLabel   = "applyset.kubernetes.io/id"
	managedByLabel    = "app.kubernetes.io/managed-by"
	configSyncManages = "configmanagement.gke.io"
)

// memberLabels are the labels of which one must be on an object that a deployer finds by its labels. The
// function reports whether an object with the label may be in an inventory.
var memberLabels = map[string]func(o *object.Object) bool{
	claimLabel: func(o *object.Object) bool {
		_, composed := o.Controller()
		return o.Namespace == "" && !composed
	},
	instanceLabel: func(*object.Object) bool { return true },
	csvLabel: func(o *object.Object) bool {
		return slices.ContainsFunc([]object.Kind{
			object.ClusterRole, object.ClusterRoleBinding, object.MutatingWebhookConfiguration, object.ValidatingWebhookConfiguration,
		}, o.Is)
	},
	copyLabel:   func(o *object.Object) bool { return o.Kind == csvKind },
	bundleLabel: func(o *object.Object) bool { return o.GroupKind() == fleetKind("BundleDeployment") },
	repoLabel:   func(o *object.Object) bool { return o.GroupKind() == fleetKind("Bundle") },
	helmLabel:   func(o *object.Object) bool { return o.GroupKind() == fleetKind("Bundle") },
	workSetLabel: func(o *object.Object) bool {
		return o.GroupKind() == schema.GroupKind{Group: workGroup, Kind: "ManifestWork"}
	},
	bindingLabel:        isKarmadaWork,
	clusterBindingLabel: isKarmadaWork,
	applySetLabel:       func(o *object.Object) bool { return o.Labels.Get(managedByLabel) == configSyncManages },
	kappLabel: func(o *object.Object) bool {
		_, controlled := o.Controller() // it has the label of its template
		return !controlled
	},
	kappChangeLabel: func(o *object.Object) bool { return o.Is(object.ConfigMap) },
	kappNameLabel:   func(o *object.Object) bool { return o.Is(object.ConfigMap) },
}

func isKarmadaWork(o *object.Object) bool {
	return o.GroupKind() == schema.GroupKind{Group: "work.karmada.io", Kind: "Work"}
}

func fleetKind(kind string) schema.GroupKind {
	return schema.GroupKind{Group: "fleet.cattle.io", Kind: kind}
}

// FoundByLabel reports whether a deployer may delete an object that it finds by a label.
func FoundByLabel(o *object.Object) bool {
	for key := range o.Labels.All {
		if may := memberLabels[key]; may != nil && may(o) {
			return true
		}
	}
	return false
}

// labelledWith returns the objects that may be in an inventory and have a label of memberLabels with a
// value.
func (v *Inventories) labelledWith(key, value string) []*object.Object {
	if v.labelled == nil {
		v.labelled = map[string]map[string][]*object.Object{}
		for key := range memberLabels {
			v.labelled[key] = map[string][]*object.Object{}
		}
		for _, o := range v.snap.Objects {
			for key, value := range o.Labels.All {
				if may := memberLabels[key]; may != nil && may(o) {
					v.labelled[key][value] = append(v.labelled[key][value], o)
				}
			}
		}
	}
	return v.labelled[key][value]
}

// ownedBy returns the objects with owner references to an object.
func (v *Inventories) ownedBy(owner *object.Object) []*object.Object {
	if v.owned == nil {
		v.owned = map[types.UID][]*object.Object{}
		for _, o := range v.snap.Objects {
			for _, ref := range o.Owners {
				v.owned[ref.UID] = append(v.owned[ref.UID], o)
			}
		}
	}
	return v.owned[owner.UID]
}

// inventoryOf returns an inventory of those objects that are in it.
func inventoryOf(objects []*object.Object, in func(o *object.Object) bool) (f object.InventoryFacts) {
	for _, o := range objects {
		if in(o) {
			f.Entries = append(f.Entries, object.InventoryEntry{Coordinates: o.Coordinates()})
		}
	}
	return f
}

// compositeOf returns the composite that is bound to a claim. The definitions of both kinds have the same
// controller. If that is not known, several may look bound: claims of two kinds have the same name.
func (v *Inventories) compositeOf(claim *object.Object) object.InventoryFacts {
	xrd := v.definerOf(claim)
	unsure := false
	f := inventoryOf(v.labelledWith(claimLabel, claim.Name), func(o *object.Object) bool {
		if o.Labels.Get(claimNamespaceLabel) != claim.Namespace || o.Group() != claim.Group() {
			return false
		}
		by := v.definerOf(o)
		unsure = unsure || by == "" || xrd == ""
		return by == xrd || by == "" || xrd == ""
	})
	if unsure && len(f.Entries) > 1 {
		f.Unread = "more than one composite has its name in the labels"
	}
	return f
}

// definerOf returns the uid of the controller of the definition of an object's kind; empty if it is
// unknown.
func (v *Inventories) definerOf(o *object.Object) types.UID {
	r, err := v.snap.Resources.For(o.APIVersion, o.Kind)
	if err != nil {
		return ""
	}
	crd := v.snap.FindKind(object.CRD, "", r.Name+"."+r.Group)
	if crd == nil {
		return ""
	}
	by, _ := crd.Controller()
	return by.UID
}

// instancesOf returns the objects of the kinds whose definitions an object controls.
func (v *Inventories) instancesOf(xrd *object.Object) (f object.InventoryFacts) {
	for _, crd := range v.ownedBy(xrd) {
		by, _ := crd.Controller()
		if !crd.Is(object.CRD) || by.UID != xrd.UID {
			continue
		}
		for same := range v.snap.ByKind() {
			if r, err := v.snap.Resources.For(same[0].APIVersion, same[0].Kind); err == nil && r.Name+"."+r.Group == crd.Name {
				f.Entries = append(f.Entries, inventoryOf(same, func(*object.Object) bool { return true }).Entries...)
			}
		}
	}
	return f
}

// partsOf returns the objects that kro has applied for an instance.
func (v *Inventories) partsOf(instance *object.Object) object.InventoryFacts {
	f := inventoryOf(v.labelledWith(instanceLabel, string(instance.UID)), func(*object.Object) bool { return true })
	// Source: kro, pkg/controller/resourcegraphdefinition/controller_cleanup.go.
	if instance.Kind == "ResourceGraphDefinition" {
		f.Unread = "it deletes the CRD, with all instances, if it runs with --allow-crd-deletion"
	}
	return f
}

// worksOfBinding returns the Works of a binding of Karmada.
func (v *Inventories) worksOfBinding(binding *object.Object) (f object.InventoryFacts) {
	for _, key := range []string{bindingLabel, clusterBindingLabel} {
		if id := binding.Labels.Get(key); id != "" {
			return inventoryOf(v.labelledWith(key, id), func(*object.Object) bool { return true })
		}
	}
	f.Unread = "it has no permanent id that its Works have, too"
	return f
}

// executionSpaceOf returns the namespace with the Works of a cluster of Karmada.
//
// Source: karmada, pkg/util/names/names.go GenerateExecutionSpaceName.
func (v *Inventories) executionSpaceOf(cluster *object.Object) object.InventoryFacts {
	return object.InventoryFacts{Entries: []object.InventoryEntry{{Coordinates: object.Namespace.Ref("", "karmada-es-"+cluster.Name).Coordinates()}}}
}

// machinesOf returns the objects of Cluster API with owner references to an object. Templates are
// collected after it.
func (v *Inventories) machinesOf(owner *object.Object) object.InventoryFacts {
	return inventoryOf(v.ownedBy(owner), func(o *object.Object) bool {
		return (o.Group() == capiGroup || strings.HasSuffix(o.Group(), "."+capiGroup)) && !strings.HasSuffix(o.Kind, "Template")
	})
}

// nodeClaimsOf returns the NodeClaims that own a Node.
func (v *Inventories) nodeClaimsOf(node *object.Object) (f object.InventoryFacts) {
	for _, ref := range node.Owners {
		if ref.Kind == "NodeClaim" && object.GroupOf(ref.APIVersion) == karpenterGroup {
			f.Entries = append(f.Entries, object.InventoryEntry{Coordinates: ref.In("").Coordinates(), UID: ref.UID})
		}
	}
	return f
}

// nodesOf returns the Nodes of a NodeClaim.
func (v *Inventories) nodesOf(claim *object.Object) object.InventoryFacts {
	return inventoryOf(v.snap.In(object.Node.GroupResource(), ""), func(o *object.Object) bool { return o.RefersTo(claim.UID) })
}

// cleanedUpWith returns what the Operator Lifecycle Manager deletes with a ClusterServiceVersion.
//
// Source: operator-lifecycle-manager, pkg/lib/ownerutil/util.go CSVOwnerSelector.
func (v *Inventories) cleanedUpWith(csv *object.Object) object.InventoryFacts {
	f := inventoryOf(v.labelledWith(csvLabel, csv.Name), func(o *object.Object) bool {
		return o.Labels.Get(csvNamespaceLabel) == csv.Namespace && o.Labels.Get(csvKindLabel) == csvKind
	})
	if csv.Labels.Has(copyLabel) {
		return f
	}
	copies := inventoryOf(v.labelledWith(copyLabel, csv.Namespace), func(o *object.Object) bool {
		return o.Name == csv.Name && o.Group() == csv.Group()
	})
	f.Entries = append(f.Entries, copies.Entries...)
	return f
}

// bundleDeploymentsOf returns the BundleDeployments of a Bundle.
func (v *Inventories) bundleDeploymentsOf(bundle *object.Object) object.InventoryFacts {
	return inventoryOf(v.labelledWith(bundleLabel, bundle.Name), func(o *object.Object) bool {
		return o.Labels.Get(bundleNamespaceLabel) == bundle.Namespace
	})
}

// bundlesWith returns a function that finds the Bundles with the name of an object in a label.
func bundlesWith(label, unread string) func(*Inventories, *object.Object) object.InventoryFacts {
	return func(v *Inventories, from *object.Object) object.InventoryFacts {
		f := inventoryOf(v.labelledWith(label, from.Name), func(o *object.Object) bool { return o.Namespace == from.Namespace })
		f.Unread = unread
		return f
	}
}

// appliedWith returns what an AppliedManifestWork owns, unless another one owns it, too.
func (v *Inventories) appliedWith(work *object.Object) object.InventoryFacts {
	return inventoryOf(v.ownedBy(work), func(o *object.Object) bool {
		return !slices.ContainsFunc(o.Owners, func(ref object.OwnerReference) bool {
			return ref.UID != work.UID && ref.Kind == work.Kind && object.GroupOf(ref.APIVersion) == work.Group()
		})
	})
}

// worksOf returns the ManifestWorks of a ManifestWorkReplicaSet.
//
// Source: open-cluster-management.io/ocm, pkg/work/hub/controllers/manifestworkreplicasetcontroller
// /manifestworkreplicaset_controller.go getManifestWorkInReplicaSet.
func (v *Inventories) worksOf(set *object.Object) object.InventoryFacts {
	return inventoryOf(v.labelledWith(workSetLabel, set.Namespace+"."+set.Name), func(*object.Object) bool { return true })
}

// appliedElsewhere returns the inventory of a ManifestWork: that of an AppliedManifestWork with its name behind a
// hash of the hub, in the managed cluster. A hub may manage itself.
func (v *Inventories) appliedElsewhere(work *object.Object) object.InventoryFacts {
	const hash = 64
	for _, o := range v.snap.In(schema.GroupResource{Group: workGroup, Resource: "appliedmanifestworks"}, "") {
		if at, ok := strings.CutSuffix(o.Name, "-"+work.Name); ok && len(at) == hash {
			return object.InventoryFacts{Unread: "unknown whether " + o.Ref.ShortName() + " is deleted with it: a ManifestWork of its name may be in another namespace, or on another hub"}
		}
	}
	return object.InventoryFacts{Remote: true}
}

// syncedBy returns what Config Sync has applied for a RootSync or RepoSync.
func (v *Inventories) syncedBy(sync *object.Object) object.InventoryFacts {
	if !sync.Protection().Has(object.ConfigSyncDeletes) {
		return object.InventoryFacts{Keeps: true}
	}
	id := sync.Labels.Get(applySetIDLabel)
	f := inventoryOf(v.labelledWith(applySetLabel, id), func(*object.Object) bool { return id != "" })
	if len(f.Entries) == 0 {
		f.Unread = "nothing has its label " + applySetLabel + ", and the list in its ResourceGroup is not read"
	}
	return f
}

// bucketOf returns the ObjectBucket of a claim.
//
// Source: lib-bucket-provisioner, pkg/provisioner/helpers.go objectBucketNameFromClaimKey.
func (v *Inventories) bucketOf(claim *object.Object) object.InventoryFacts {
	return object.InventoryFacts{Entries: []object.InventoryEntry{{Coordinates: object.Coordinates{
		Group: objectBucket.Group, Kind: objectBucket.Kind, Name: bucketName(claim),
	}}}}
}

var objectBucket = schema.GroupKind{Group: object.ObjectBucketClaim.Group, Kind: "ObjectBucket"}

func bucketName(claim *object.Object) string { return "obc-" + claim.Namespace + "-" + claim.Name }

// BoundTo returns the kind of the objects that may have an object in their inventories because it is bound
// to one of them. It returns false for other kinds.
func BoundTo(o *object.Object) (object.Kind, bool) {
	for i := range bindings {
		if b := &bindings[i]; b.strands && b.kind == o.GroupKind() {
			return b.with, true
		}
	}
	return object.Kind{}, false
}

const (
	capiGroup      = "cluster.x-k8s.io"
	karpenterGroup = "karpenter.sh"
	workGroup      = "work.open-cluster-management.io"
	csvKind        = "ClusterServiceVersion"
)
