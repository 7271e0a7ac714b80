package finalizer

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// Usage describes which objects count as users of an object that a finalizer holds while it is in
// use.
type Usage struct {
	// Kinds are the kinds of possible users. Empty: the kinds are unknown, or not served.
	Kinds []schema.GroupKind
	// By reports whether an object of these kinds uses o. It is nil if only a field of the user
	// that a snapshot may lack shows that. Then the use of o is unknown while a possible user
	// exists without evidence about that field.
	By func(o, user *object.Object) bool
	// Referring is true if the users are those with a field that package uses knows.
	Referring bool
	// MayHideMore is true if something outside of the cluster may use the object.
	MayHideMore bool
	// UntilDeletion is true if a user no longer counts once it is being deleted.
	UntilDeletion bool
	// Bound is true if Users has all objects of these kinds that use o. Otherwise it is empty.
	Bound bool
	Users []*object.Object
}

// The finalizers of the snapshots of volumes.
const (
	snapshotBound        = "snapshot.storage.kubernetes.io/volumesnapshot-bound-protection"
	snapshotAsSource     = "snapshot.storage.kubernetes.io/volumesnapshot-as-source-protection"
	snapshotInGroup      = "snapshot.storage.kubernetes.io/volumesnapshot-in-group-protection"
	contentBound         = "snapshot.storage.kubernetes.io/volumesnapshotcontent-bound-protection"
	groupSnapshotBound   = "groupsnapshot.storage.kubernetes.io/volumegroupsnapshot-bound-protection"
	groupSnapshotContent = "groupsnapshot.storage.kubernetes.io/volumegroupsnapshotcontent-bound-protection"
)

const (
	cephGroup    = "ceph.rook.io"
	gatewayGroup = "gateway.networking.k8s.io"
	kueueGroup   = "kueue.x-k8s.io"
	workloadKind = "Workload"
	// longhornGroup and gardenerName are also the names of finalizers.
	longhornGroup = "longhorn.io"
	gardenerName  = "gardener"
)

// UsageOf returns what counts as use of an object; false if the finalizer holds it for another
// reason.
func (v *Bindings) UsageOf(o *object.Object, name string) (Usage, bool) {
	k, known := Of(name)
	kinds := v.snap.Resources
	if b := bindingOf(o, name); b != nil {
		return v.usageOf(b, o)
	}
	switch {
	case !known:
		return Usage{}, false
	case name == "cephcluster."+cephGroup:
		return Usage{Kinds: kindsOf(kinds, cephGroup, o.Kind), By: func(o, user *object.Object) bool { return user.Namespace == o.Namespace }}, true
	// Source: rook, pkg/operator/ceph/pool/controller.go, pkg/operator/ceph/file/controller.go reconcile: a pool with
	// images or snapshots stays, and so does a file system with subvolumes. Those of deleted volumes may be left.
	case name == "cephblockpool."+cephGroup, name == "cephfilesystem."+cephGroup:
		return Usage{Kinds: []schema.GroupKind{object.PV.GroupKind}, Referring: true, MayHideMore: true}, true
	// Source: longhorn-manager, controller/backing_image_controller.go syncBackingImage: every volume has replicas.
	case name == longhornGroup && o.Kind == "BackingImage":
		return Usage{Kinds: kindsOf(kinds, longhornGroup, "", "Volume"), Referring: true}, true
	// Source: gardener, pkg/controllermanager/controller/secretbinding/reconciler.go Reconciler.Reconcile, and
	// credentialsbinding.
	case name == gardenerName && (o.Kind == "SecretBinding" || o.Kind == "CredentialsBinding"):
		return Usage{Kinds: kindsOf(kinds, "core.gardener.cloud", "", "Shoot"), Referring: true}, true
	// Source: argo-cd, controller/appcontroller.go finalizeProjectDeletion. Applications of other namespaces
	// count, because they have to be permitted to use the project.
	case name == argoFinalizer && o.Kind == "AppProject":
		return Usage{Kinds: []schema.GroupKind{object.ArgoApplication.GroupKind}}, true
	// Source: karpenter-provider-aws, pkg/controllers/nodeclass/controller.go Finalize: nothing outside of the
	// cluster is deleted before.
	case name == "karpenter.k8s.aws/termination":
		return Usage{Kinds: kindsOf(kinds, karpenterGroup, "", "NodeClaim")}, true
	case k.Class != Protection || name == groupSnapshotBound || name == kueueGroup+"/resource-in-use" && o.Kind == workloadKind:
		return Usage{}, false
	}
	switch name {
	// Source: external-snapshotter, pkg/common-controller/snapshot_controller.go
	// isVolumeBeingCreatedFromSnapshot: nothing is done with the snapshot until then.
	case snapshotBound, snapshotAsSource:
		if o.HasFinalizer(snapshotInGroup) {
			return v.UsageOf(o, snapshotInGroup)
		}
		return Usage{Kinds: []schema.GroupKind{object.PVC.GroupKind}}, true
	// Source: external-snapshotter, pkg/common-controller/snapshot_controller.go
	// checkandRemoveSnapshotFinalizersAndCheckandDeleteContent: nothing is done before the group is gone.
	case snapshotInGroup:
		return Usage{Kinds: []schema.GroupKind{object.VolumeGroupSnapshot.GroupKind}, By: func(o, user *object.Object) bool { return o.RefersTo(user.UID) }}, true
	// Source: kubernetes-sigs/gateway-api apis/v1/gatewayclass_types.go GatewayClassFinalizerGatewaysExist.
	case "gateway-exists-finalizer." + gatewayGroup, "gateway.k8s.aws/gatewayclass":
		return Usage{Kinds: kindsOf(kinds, gatewayGroup, "", "Gateway")}, true
	case kueueGroup + "/resource-in-use":
		// Source: kueue, the Reconcile functions of pkg/controller/core/resourceflavor_controller.go,
		// admissioncheck_controller.go and clusterqueue_controller.go, and of pkg/controller/tas/topology_controller.go.
		if o.Kind == "ResourceFlavor" {
			return Usage{Kinds: kindsOf(kinds, kueueGroup, "", "ClusterQueue")}, true
		}
		if user := map[string]string{"AdmissionCheck": "ClusterQueue", "Topology": "ResourceFlavor"}[o.Kind]; user != "" {
			return Usage{Kinds: kindsOf(kinds, kueueGroup, "", user), Referring: true}, true
		}
		return Usage{Kinds: kindsOf(kinds, kueueGroup, "", workloadKind)}, true
	// Source: kamaji, controllers/datastore_controller.go DataStore.Reconcile.
	case "kamaji.clastix.io/TenantControlPlane":
		return Usage{Kinds: kindsOf(kinds, o.Group(), "", "TenantControlPlane"), Referring: true}, true
	// Source: crossplane/crossplane-runtime pkg/reconciler/providerconfig/reconciler.go Reconciler.Reconcile.
	case "in-use.crossplane.io":
		return Usage{Kinds: kindsOf(kinds, o.Group(), o.Kind, "ProviderConfigUsage", "ClusterProviderConfigUsage"), By: func(o, user *object.Object) bool {
			config, _ := user.Labels.Lookup("crossplane.io/provider-config")
			_, controlled := user.Controller() // the provider deletes a usage without one, and does not count it
			return config == o.Name && controlled
		}}, true
	}
	return Usage{}, true
}

// refusers are webhooks that refuse to delete an object while one of another kind refers to it by a field that
// package uses knows.
//
// Source: metallb, internal/k8s/webhooks/webhookv1beta1/bfdprofile_webhook.go validateBFDDelete; cluster-api,
// core/webhooks/admission/clusterclass.go ClusterClass.ValidateDelete; volcano,
// pkg/webhooks/admission/queues/validate/validate_queue.go validateQueueDeleting.
var refusers = []struct {
	webhook           string
	group, of, usedBy string
}{
	{"bfdprofilevalidationwebhook.metallb.io", "metallb.io", "BFDProfile", "BGPPeer"},
	{"validation.clusterclass.cluster.x-k8s.io", object.CAPICluster.Group, "ClusterClass", object.CAPICluster.Kind},
	{"validatequeue.volcano.sh", "scheduling.volcano.sh", "Queue", "Queue"},
}

// RefusedInUse returns the webhook that refuses to delete an object of a kind in use, and what counts as use. The name
// is empty if no such webhook is known.
func RefusedInUse(o *object.Object, served *object.Resources) (webhook string, use Usage) {
	for _, r := range refusers {
		if r.of == o.Kind && r.group == o.Group() {
			return r.webhook, Usage{Kinds: kindsOf(served, r.group, "", r.usedBy), Referring: true}
		}
	}
	return "", Usage{}
}

// refersTo reports whether the content of a snapshot refers to the object. Another snapshot of the same name,
// such as one that was restored from a backup, is not bound to it, and neither is one to which the content is
// reserved and not yet bound. One whose uid a dump lacks may be.
//
// Source: external-snapshotter, pkg/utils/util.go IsVolumeSnapshotRefSet.
func refersTo(content *object.InventoryFacts, o *object.Object) bool {
	return slices.ContainsFunc(content.Entries, func(e object.InventoryEntry) bool {
		return e.Coordinates == o.Coordinates() && (e.UID == o.UID || strings.HasPrefix(string(o.UID), snapshot.MissingUID))
	})
}

// kindsOf returns the served kinds of a group with these names, or all of them if there are no
// names. It leaves out the kind but.
func kindsOf(served *object.Resources, group, but string, names ...string) []schema.GroupKind {
	var list []schema.GroupKind
	for _, r := range served.All() {
		if r.Group == group && r.Kind != but && (len(names) == 0 || slices.Contains(names, r.Kind)) {
			list = append(list, schema.GroupKind{Group: group, Kind: r.Kind})
		}
	}
	return list
}
