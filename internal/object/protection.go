package object

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Protection is a set of annotations that ask not to delete the object, that keep a controller from
// finishing its deletion, or that say what needs it. An annotation can only protect, never permit.
type Protection uint32

// The annotations that protect.
const (
	// Protect is the annotation kubectl-gc.io/protect.
	Protect Protection = 1 << iota
	// HelmKeep is Helm's annotation helm.sh/resource-policy with the value keep.
	HelmKeep
	// ArgoKeep is Argo CD's annotation argocd.argoproj.io/sync-options with Delete=false. It only keeps
	// Argo CD from deleting the object.
	ArgoKeep
	// FluxKeep is Flux's annotation kustomize.toolkit.fluxcd.io/prune or …/reconcile with the value
	// disabled, or …/ssa with the value Ignore. It only keeps Flux from deleting the object.
	FluxKeep
	// ArgoConfirm is Argo CD's annotation with Delete=confirm or Prune=confirm. Argo CD deletes nothing
	// of an Application with such an object until a person has confirmed it.
	ArgoConfirm
	// ArgoHelmKeep is Helm's annotation with keep as Argo CD reads it. It only keeps Argo CD from
	// deleting the object.
	ArgoHelmKeep
	// ArgoPaused, CrossplanePaused and ClusterAPIPaused are annotations that tell the controllers of these
	// projects to do nothing with the object: not even to remove a finalizer.
	ArgoPaused
	CrossplanePaused
	ClusterAPIPaused
	// ArgoApproved is Argo CD's confirmation of a deletion that has begun. One from before the deletion does
	// not count.
	ArgoApproved
	// HivePaused and KamajiPaused are such annotations, too. HiveProtected keeps Hive from finishing a deletion.
	HivePaused
	HiveProtected
	KamajiPaused
	// SnapshotGoes is on the content of a snapshot once that is being deleted. SnapshotBegun is on one that
	// the driver has not created yet.
	SnapshotGoes
	SnapshotBegun
	// KappKeep and ConfigSyncKeep keep kapp and Config Sync from deleting the object. ConfigSyncDeletes is on a
	// RootSync or RepoSync with which Config Sync deletes what it has applied.
	KappKeep
	ConfigSyncKeep
	ConfigSyncDeletes
	// KarpenterKeep keeps Karpenter from evicting the pod.
	KarpenterKeep
	// DefaultClass is on the StorageClass, IngressClass or VolumeSnapshotClass of new objects that name none.
	DefaultClass
	// NamedInDNS is on what ExternalDNS makes DNS records for.
	NamedInDNS
	// OperatorPaused tells an operator to leave the parts of the object as they are.
	OperatorPaused
)

// The keys of the annotations that protect.
const (
	ProtectAnnotation        = "kubectl-gc.io/protect"
	ResourcePolicyAnnotation = "helm.sh/resource-policy"
	SyncOptionsAnnotation    = "argocd.argoproj.io/sync-options"
	FluxPruneKey             = "kustomize.toolkit.fluxcd.io/prune"
	FluxReconcileKey         = "kustomize.toolkit.fluxcd.io/reconcile"
	FluxApplyKey             = "kustomize.toolkit.fluxcd.io/ssa"
)

// The keys of the annotations that decide whether a controller removes its finalizer from the object, deletes
// another one first, or needs the object.
const (
	ArgoPausedKey         = "argocd.argoproj.io/skip-reconcile"
	CrossplanePausedKey   = "crossplane.io/paused"
	ClusterAPIPausedKey   = "cluster.x-k8s.io/paused"
	HivePausedKey         = "hive.openshift.io/reconcile-pause"
	HiveProtectedKey      = "hive.openshift.io/protected-delete"
	KamajiPausedKey       = "kamaji.clastix.io/paused"
	snapshotGoesKey       = "snapshot.storage.kubernetes.io/volumesnapshot-being-deleted"
	SnapshotBegunKey      = "snapshot.storage.kubernetes.io/volumesnapshot-being-created"
	groupSnapshotGoesKey  = "groupsnapshot.storage.kubernetes.io/volumegroupsnapshot-being-deleted"
	kappKeepKey           = "kapp.k14s.io/delete-strategy"
	configSyncKeepKey     = "client.lifecycle.config.k8s.io/deletion"
	configSyncOnRemoveKey = "cli-utils.sigs.k8s.io/on-remove"
	configSyncPolicyKey   = "configsync.gke.io/deletion-propagation-policy"
	GroupSnapshotBegunKey = "groupsnapshot.storage.kubernetes.io/volumegroupsnapshot-being-created"
	KarpenterKeepKey      = "karpenter.sh/do-not-disrupt"
	DefaultStorageKey     = "storageclass.kubernetes.io/is-default-class"
	betaDefaultStorageKey = "storageclass.beta.kubernetes.io/is-default-class"
	DefaultIngressKey     = "ingressclass.kubernetes.io/is-default-class"
	DefaultSnapshotKey    = "snapshot.storage.kubernetes.io/is-default-class"
	dnsNameKey            = "external-dns.alpha.kubernetes.io/hostname"
)

// finalizerAnnotations has these annotations, and the values with which they decide. Package finalizer has
// the sources.
var finalizerAnnotations = map[string]struct {
	is    Protection
	holds func(value string) bool
}{
	ArgoPausedKey:         {ArgoPaused, isTrue},
	CrossplanePausedKey:   {CrossplanePaused, is("true")},
	ClusterAPIPausedKey:   {ClusterAPIPaused, exists},
	HivePausedKey:         {HivePaused, isTrue},
	HiveProtectedKey:      {HiveProtected, isTrue},
	KamajiPausedKey:       {KamajiPaused, exists},
	snapshotGoesKey:       {SnapshotGoes, exists},
	groupSnapshotGoesKey:  {SnapshotGoes, exists},
	SnapshotBegunKey:      {SnapshotBegun, exists},
	GroupSnapshotBegunKey: {SnapshotBegun, exists},
	kappKeepKey:           {KappKeep, is("orphan")},
	configSyncKeepKey:     {ConfigSyncKeep, is("detach")},
	configSyncOnRemoveKey: {ConfigSyncKeep, is("keep")},
	configSyncPolicyKey:   {ConfigSyncDeletes, is("Foreground")},
	KarpenterKeepKey:      {KarpenterKeep, is("true")},
	DefaultStorageKey:     {DefaultClass, is("true")},
	betaDefaultStorageKey: {DefaultClass, is("true")},
	DefaultIngressKey:     {DefaultClass, is("true")},
	DefaultSnapshotKey:    {DefaultClass, is("true")},
	dnsNameKey:            {NamedInDNS, exists},

	"strimzi.io/pause-reconciliation":        {OperatorPaused, is("true")},
	"eck.k8s.elastic.co/pause-orchestration": {OperatorPaused, isTrue},
	"eck.k8s.elastic.co/managed":             {OperatorPaused, is("false")},
	"cnpg.io/reconciliationLoop":             {OperatorPaused, is("disabled")},
	"autoscaling.keda.sh/paused":             {OperatorPaused, isTrue},
	"autoscaling.keda.sh/paused-replicas":    {OperatorPaused, exists},
}

func isTrue(value string) bool {
	yes, err := strconv.ParseBool(value)
	return err == nil && yes
}

func exists(string) bool { return true }

func is(want string) func(string) bool { return func(value string) bool { return value == want } }

// FinalizerAnnotations returns these keys, sorted.
func FinalizerAnnotations() []string { return slices.Sorted(maps.Keys(finalizerAnnotations)) }

// ProtectExpression is the rule of ProtectionBy for ProtectAnnotation in CEL, true for an
// unprotected object. oldObject is the object of a DELETE.
const ProtectExpression = `oldObject == null || !has(oldObject.metadata.annotations) || ` +
	`!("` + ProtectAnnotation + `" in oldObject.metadata.annotations) || oldObject.metadata.annotations["` + ProtectAnnotation + `"] == "false"`

// RevisionAnnotation holds the revision of a Deployment and of its ReplicaSets.
//
// Upstream: pkg/controller/deployment/util/deployment_util.go RevisionAnnotation.
const RevisionAnnotation = "deployment.kubernetes.io/revision"

// ApprovalAnnotation has the time at which a person confirmed a deletion by Argo CD.
const ApprovalAnnotation = "argocd.argoproj.io/deletion-approved"

// ApprovalBy returns the protection of an object that is being deleted, by the value of ApprovalAnnotation.
//
// Source: argo-cd, pkg/apis/application/v1alpha1/types.go Application.IsDeletionConfirmed.
func ApprovalBy(value string, deleted int64) Protection {
	var at metav1.Time
	if err := at.UnmarshalQueryParameter(value); err != nil || deleted == 0 || at.Unix() < deleted {
		return 0
	}
	return ArgoApproved
}

// TrackerAnnotation names the Application of Argo CD that tracks an object: web:apps/Deployment:shop/web.
const TrackerAnnotation = "argocd.argoproj.io/tracking-id"

// TrackerBy returns the Application in the value of TrackerAnnotation; empty if it has another form.
//
// Source: argo-cd, util/argo/resource_tracking.go ParseAppInstanceValue.
func TrackerBy[T ~string | ~[]byte](value T) T {
	for i := range len(value) {
		if value[i] == ':' {
			return value[:i]
		}
	}
	return value[:0]
}

// WaveAnnotation has the wave in which Argo CD applies an object. Without one, Argo CD reads WeightAnnotation.
//
// Source: argo-cd, gitops-engine pkg/sync/syncwaves/waves.go Wave, pkg/sync/hook/helm/weight.go Weight.
const (
	WaveAnnotation   = "argocd.argoproj.io/sync-wave"
	WeightAnnotation = "helm.sh/hook-weight"
)

// WaveBy returns the wave of an object by the values of WaveAnnotation and WeightAnnotation.
func WaveBy(wave, weight string) int32 {
	for _, value := range []string{wave, weight} {
		if n, err := strconv.ParseInt(value, 10, 32); err == nil {
			return int32(n)
		}
	}
	return 0
}

// RevisionBy parses the value of RevisionAnnotation; 0 if it is no number.
func RevisionBy(value string) uint32 {
	n, err := strconv.ParseUint(value, 10, 32)
	if err != nil {
		return 0
	}
	return uint32(n)
}

// ProtectionBy returns the protection by one annotation, 0 if it doesn't protect.
//
// ProtectAnnotation protects with every value except exactly `false`: a misspelled word must not
// cost the object, and `False` or ` false` may be misspelled, too.
func ProtectionBy(key, value string) Protection {
	switch {
	case key == ProtectAnnotation && value != "false":
		return Protect
	case key == ResourcePolicyAnnotation:
		return helmProtection(value)
	case key == SyncOptionsAnnotation:
		return argoProtection(value)
	case (key == FluxPruneKey || key == FluxReconcileKey) && strings.EqualFold(value, "disabled"),
		key == FluxApplyKey && strings.EqualFold(value, "ignore"):
		return FluxKeep
	}
	if a, ok := finalizerAnnotations[key]; ok && a.holds(value) {
		return a.is
	}
	return 0
}

// helmProtection returns the protection by Helm's annotation. Helm ignores case and surrounding space,
// Argo CD reads a comma-separated list in which case matters.
//
// Source: helm, pkg/action/resource_policy.go filterManifestsToKeep; argo-cd, gitops-engine
// pkg/sync/resource/annotations.go HasAnnotationOption.
func helmProtection(value string) (p Protection) {
	if strings.EqualFold(strings.TrimSpace(value), "keep") {
		p = HelmKeep
	}
	for option := range strings.SplitSeq(value, ",") {
		if strings.TrimSpace(option) == "keep" {
			p |= ArgoHelmKeep
		}
	}
	return p
}

// argoProtection returns the protection by a comma-separated list of sync options.
func argoProtection(options string) (p Protection) {
	for option := range strings.SplitSeq(options, ",") {
		switch strings.TrimSpace(option) {
		case "Delete=false":
			p |= ArgoKeep
		case "Delete=confirm", "Prune=confirm":
			p |= ArgoConfirm
		}
	}
	return p
}

// ProtectionOf returns the protection by a set of annotations.
func ProtectionOf(annotations map[string]string) (p Protection) {
	for key, value := range annotations {
		p |= ProtectionBy(key, value)
	}
	return p
}

// Has reports whether q contains all of p.
func (q Protection) Has(p Protection) bool { return q&p == p }

// Protection returns the protection by the object's annotations.
func (o *Object) Protection() Protection { return o.lifecycle().Protection }
