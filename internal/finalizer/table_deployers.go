package finalizer

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

const (
	argoFinalizer = "resources-finalizer.argocd.argoproj.io"
	fluxFinalizer = "finalizers.fluxcd.io"
	kappFinalizer = "finalizers.kapp-ctrl.k14s.io/delete"
	fluxGroup     = "kustomize.toolkit.fluxcd.io/"
	nextInterval  = "at its next interval"
)

// KarpenterDrains is the finalizer behind which Karpenter drains a node, of a Node and of its NodeClaim.
const KarpenterDrains = "karpenter.sh/termination"

// deployers are the controllers that delete other objects by rules that are simulated. The lists that
// objects keep of their inventories are read by manifest/facts_inventory.go.
var deployers = []Deployer{
	{
		Kind: object.ArgoApplication, Finalizers: []string{argoFinalizer, argoFinalizer + "/background", argoFinalizer + "/foreground"}, Waves: true,
		Inventory:  "`status.resources`, without CRDs and what asks to be kept; waves",
		Source:     "argo-cd, controller/appcontroller.go finalizeApplicationDeletion",
		Assumption: "Argo CD tracks what status.resources lists, and its project permits all of it",
		Restored:   "at its next sync",
		// Source: argo-cd, cmd/argocd/commands/app.go NewApplicationDeleteCommand.
		DeleteAlone: "argocd app delete NAMESPACE/NAME --cascade=false",
		// Source: argo-cd, pkg/apis/application/v1alpha1/types.go Application.GetPropagationPolicy.
		policy: func(finalizer string) metav1.DeletionPropagation {
			if strings.HasSuffix(finalizer, "/background") {
				return metav1.DeletePropagationBackground
			}
			return metav1.DeletePropagationForeground
		},
		// Source: gitops-engine, pkg/cache/cluster.go GetManagedLiveObjs.
		tracks: func(from, o *object.Object) bool { return len(o.Owners) == 0 && !otherTracks(from, o) },
		doubts: func(from, o *object.Object) string {
			if len(o.Owners) > 0 || !otherTracks(from, o) {
				return ""
			}
			return "it lists " + o.Ref.ShortName() + ", which another Application tracks by its annotation " + object.TrackerAnnotation + ": " + o.Tracker()
		},
		// Source: argo-cd, controller/appcontroller.go shouldBeDeleted.
		keeps: func(o *object.Object) bool {
			return o.Is(object.CRD) || o.Protection()&(object.ArgoKeep|object.ArgoHelmKeep) != 0
		},
	},
	{
		Kind: object.FluxKustomization, Finalizers: []string{fluxFinalizer},
		Inventory:  "`status.inventory`, unless `spec.prune`, `deletionPolicy` or `suspend` keeps it",
		Source:     "kustomize-controller, internal/controller/kustomization_controller.go finalizerShouldDeleteResources",
		Assumption: "Flux may delete everything that it has applied",
		Restored:   nextInterval,
		Suspend:    "flux suspend kustomization NAME -n NAMESPACE",
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
		Inventory:  "`status.inventory`, unless `spec.suspend`; without `helm.sh/resource-policy: keep`",
		Source:     "helm-controller, internal/controller/helmrelease_controller.go reconcileDelete",
		Assumption: "Flux can uninstall the release; its hooks are not simulated",
		Restored:   nextInterval,
		Suspend:    "flux suspend helmrelease NAME -n NAMESPACE",
		// A CRD of the chart's directory crds stays, and one of its templates does not: what the inventory
		// has is unknown, and the plan is not complete.
		keeps: func(o *object.Object) bool { return o.Is(object.CRD) || o.Protection().Has(object.HelmKeep) },
		more:  (*Inventories).otherRecords,
	},
	{
		Kind: object.K3sHelmChart, Finalizers: []string{"wrangler.cattle.io/on-helm-chart-remove"}, Waits: true,
		Inventory:  "the record of the Helm release of its name in `spec.targetNamespace`",
		Source:     "helm-controller of K3s, pkg/controllers/chart/chart.go OnRemove",
		Assumption: "K3s can uninstall the release and manages the chart; its hooks are not simulated",
		keeps:      func(o *object.Object) bool { return o.Is(object.CRD) || o.Protection().Has(object.HelmKeep) },
		more:       (*Inventories).otherRecords,
	},
	snapshotDeployer(object.VolumeSnapshot, "status.boundVolumeSnapshotContentName", "snapshot_controller.go checkandRemoveSnapshotFinalizersAndCheckandDeleteContent",
		snapshotBound, snapshotAsSource),
	// Its VolumeSnapshots have owner references to it.
	snapshotDeployer(object.VolumeGroupSnapshot, "status.boundVolumeGroupSnapshotContentName", "groupsnapshot_controller_helper.go processGroupSnapshotWithDeletionTimestamp",
		groupSnapshotBound),
	{
		// The composed resources have controller references to the composite. A composite that is deleted
		// only loses its finalizer (internal/controller/apiextensions/composite/reconciler.go).
		Finalizers: []string{"finalizer.apiextensions.crossplane.io"},
		Inventory:  "the composite with its name in the labels `crossplane.io/claim-name`, `claim-namespace`",
		Source:     "crossplane, internal/controller/apiextensions/claim/reconciler.go Reconcile",
		Assumption: "the claim does not wait for its composite: its compositeDeletePolicy is Background, the default",
		members:    (*Inventories).compositeOf,
	},
	{
		Finalizers: []string{"defined.apiextensions.crossplane.io", "offered.apiextensions.crossplane.io"}, Waits: true,
		Inventory: "objects of the kinds whose CRDs it controls",
		Source:    "crossplane, internal/controller/apiextensions/definition/reconciler.go and offered/reconciler.go Reconcile",
		members:   (*Inventories).instancesOf,
	},
	{
		Finalizers: []string{"kro.run/finalizer"}, Waits: true,
		Inventory: "objects with its uid in the label `kro.run/instance-id`",
		Source:    "kro, pkg/controller/instance/deletion.go reconcileDeletion",
		members:   (*Inventories).partsOf,
	},
	{
		// A Cluster deletes its machines before its control plane and its infrastructure: all have owner
		// references to it.
		Finalizers: []string{
			"cluster.cluster.x-k8s.io", "machine.cluster.x-k8s.io", "machinepool.cluster.x-k8s.io",
			"cluster.x-k8s.io/machinedeployment", "cluster.x-k8s.io/machineset", "kubeadm.controlplane.cluster.x-k8s.io",
		}, Waits: true,
		Inventory:  "objects of Cluster API, except templates, with owner references to it",
		Source:     "cluster-api, core/reconcilers/cluster/cluster_controller.go reconcileDelete, and those of machines",
		Assumption: "the cluster is not paused by its spec.paused",
		assumes:    clusterUnread,
		members:    (*Inventories).machinesOf,
	},
	{
		// The NodeClaim waits for the Node, and not the other way round.
		Kind: object.Node, Finalizers: []string{KarpenterDrains},
		Inventory: "the NodeClaim that owns it",
		Source:    "karpenter, pkg/controllers/node/termination/controller.go deleteAllNodeClaims",
		members:   (*Inventories).nodeClaimsOf,
	},
	{
		Finalizers: []string{KarpenterDrains}, Waits: true,
		Inventory: "the Node with an owner reference to it",
		Source:    "karpenter, pkg/controllers/nodeclaim/lifecycle/controller.go finalize",
		members:   (*Inventories).nodesOf,
	},
	{
		Finalizers: []string{"operators.coreos.com/csv-cleanup"}, Waits: true,
		Inventory: "ClusterRoles, their bindings and webhook configurations with its name in the labels `olm.owner`, `olm.owner.namespace`; its copies in other namespaces",
		Source:    "operator-lifecycle-manager, pkg/controller/operators/olm/operator.go processFinalizer",
		members:   (*Inventories).cleanedUpWith,
	},
	{
		Finalizers: []string{"fleet.cattle.io/gitrepo-finalizer"}, Waits: true,
		Inventory: "Bundles with its name in the label `fleet.cattle.io/repo-name`, in its namespace",
		Source:    "fleet, internal/cmd/controller/gitops/reconciler/gitjob_controller.go handleDelete",
		members:   bundlesWith(repoLabel, "it also deletes its ImageScans, and its target namespace if its spec says so"),
	},
	{
		Finalizers: []string{"fleet.cattle.io/helmop-finalizer"},
		Inventory:  "Bundles with its name in the label `fleet.cattle.io/fleet-helm-name`, in its namespace",
		Source:     "fleet, internal/cmd/controller/finalize/finalize.go PurgeBundles",
		members:    bundlesWith(helmLabel, "it also deletes its target namespace if its spec says so"),
	},
	{
		Finalizers: []string{"fleet.cattle.io/bundle-finalizer"}, Waits: true,
		Inventory: "BundleDeployments with its name in the labels `fleet.cattle.io/bundle-name`, `bundle-namespace`",
		Source:    "fleet, internal/cmd/controller/reconciler/bundle_controller.go handleDelete",
		members:   (*Inventories).bundleDeploymentsOf,
	},
	{
		Finalizers: []string{"cluster.open-cluster-management.io/applied-manifest-work-cleanup"}, Waits: true,
		Inventory:  "objects with owner references to it, and to no other AppliedManifestWork",
		Source:     "open-cluster-management.io/ocm, pkg/work/helper/helpers.go DeleteAppliedResources",
		Assumption: "status.appliedResources of the AppliedManifestWork lists what it owns",
		members:    (*Inventories).appliedWith,
	},
	{
		Finalizers: []string{"cluster.open-cluster-management.io/manifest-work-cleanup"}, Waits: true,
		Inventory: "objects in the managed cluster, by the AppliedManifestWork of its name there",
		Source:    "open-cluster-management.io/ocm, pkg/work/spoke/controllers/finalizercontroller/manifestwork_finalize_controller.go sync",
		members:   (*Inventories).appliedElsewhere,
	},
	{
		Finalizers: []string{"work.open-cluster-management.io/manifest-work-cleanup"},
		Inventory:  "ManifestWorks with its namespace and name in the label `work.open-cluster-management.io/manifestworkreplicaset`",
		Source:     "open-cluster-management.io/ocm, pkg/work/hub/controllers/manifestworkreplicasetcontroller/manifestworkreplicaset_finalize_reconcile.go",
		Assumption: "the ManifestWorkReplicaSet does not wait for its ManifestWorks: its cascadeDeletionPolicy is Background, the default",
		members:    (*Inventories).worksOf,
	},
	{
		Finalizers: []string{"karmada.io/binding-controller", "karmada.io/cluster-resource-binding-controller"},
		Inventory:  "Works with its permanent id in the label `resourcebinding.karmada.io/permanent-id` or `clusterresourcebinding.karmada.io/permanent-id`",
		Source:     "karmada, pkg/controllers/binding/binding_controller.go ResourceBindingController.Reconcile, and that of ClusterResourceBindings",
		members:    (*Inventories).worksOfBinding,
	},
	{
		Finalizers: []string{"karmada.io/cluster-controller"}, Waits: true,
		Inventory:  "Namespace `karmada-es-NAME`",
		Source:     "karmada, pkg/controllers/cluster/cluster_controller.go Controller.removeCluster",
		Assumption: "Karmada takes the cluster out of all bindings",
		members:    (*Inventories).executionSpaceOf,
	},
	{
		Finalizers: []string{"configsync.gke.io/reconciler"}, Waits: true,
		Inventory:  "objects with its label `applyset.kubernetes.io/id` in the label `applyset.kubernetes.io/part-of`, if its annotation `configsync.gke.io/deletion-propagation-policy` is Foreground",
		Source:     "kpt-config-sync, pkg/reconciler/finalizer/rootsync_finalizer.go Finalize, pkg/applier/applier.go destroyInner",
		Assumption: "the ResourceGroup of the sync lists exactly the objects with its label applyset.kubernetes.io/part-of, as of Config Sync v1.20",
		policy:     func(string) metav1.DeletionPropagation { return metav1.DeletePropagationForeground },
		// Source: cli-utils, pkg/common/common.go NoDeletion.
		keeps:   func(o *object.Object) bool { return o.Protection().Has(object.ConfigSyncKeep) },
		members: (*Inventories).syncedBy,
	},
	{
		Kind: object.KappApp, Finalizers: []string{kappFinalizer}, Waits: true,
		Inventory:  "objects with the label `kapp.k14s.io/app` that the ConfigMaps of its changes name, unless `spec.noopDelete`",
		Source:     "kapp-controller, pkg/app/app_deploy.go delete; kapp, pkg/kapp/cmd/app/delete.go Run",
		Assumption: "no option in spec.deploy of the App filters what kapp deletes",
		keeps:      keptByKapp,
		members: func(v *Inventories, app *object.Object) object.InventoryFacts {
			// Source: kapp-controller, pkg/deploy/factory.go NewKapp, pkg/deploy/kapp.go oldManagedName.
			return v.appliedByKapp(app, app.Inventory(), app.Name+".app", app.Name+"-ctrl")
		},
	},
	{
		Kind: object.KappRepository, Finalizers: []string{kappFinalizer}, Waits: true,
		Inventory: "the same for the app `NAME.pkgr`",
		Source:    "kapp-controller, pkg/pkgrepository/app_deploy.go delete, pkg/deploy/factory.go NewKappPrivilegedForPackageRepository",
		keeps:     keptByKapp,
		members: func(v *Inventories, repository *object.Object) object.InventoryFacts {
			return v.appliedByKapp(repository, &object.InventoryFacts{}, repository.Name+".pkgr", repository.Name+"-ctrl")
		},
	},
	{
		Kind: object.KappPackage, Finalizers: []string{kappFinalizer}, Waits: true,
		Inventory: "App of its name",
		Source:    "kapp-controller, pkg/packageinstall/packageinstall.go reconcileDelete",
		members: func(_ *Inventories, from *object.Object) object.InventoryFacts {
			return object.InventoryFacts{Entries: []object.InventoryEntry{{Coordinates: object.Coordinates{
				Group: object.KappApp.Group, Kind: object.KappApp.Kind, Namespace: from.Namespace, Name: from.Name,
			}}}}
		},
	},
	{
		// The Secret and the ConfigMap of the claim have owner references to it.
		Kind: object.ObjectBucketClaim, Finalizers: []string{"objectbucket.io/finalizer"},
		Inventory: "ObjectBucket `obc-NAMESPACE-NAME`",
		Source:    "lib-bucket-provisioner, pkg/provisioner/resourcehandlers.go deleteObjectBucket",
		members:   (*Inventories).bucketOf,
	},
}

// otherTracks reports whether the annotation of an object says that another Application tracks it. Argo CD may
// be configured to track by a label instead.
//
// Source: argo-cd, util/argo/resource_tracking.go GetAppName.
func otherTracks(app, o *object.Object) bool {
	by := o.Tracker()
	return by != "" && by != app.Name && by != app.Namespace+"_"+app.Name
}

// snapshotDeployer returns the deployer that deletes the content of a snapshot.
func snapshotDeployer(kind object.Kind, field, function string, finalizers ...string) Deployer {
	return Deployer{
		Kind: kind, Finalizers: finalizers, Waits: true,
		Inventory:  "`" + field + "`, if that refers back and its `deletionPolicy` is Delete",
		Source:     "external-snapshotter, pkg/common-controller/" + function,
		refersBack: true,
		tracks: func(from, o *object.Object) bool {
			return o.Inventory() == nil || refersTo(o.Inventory(), from)
		},
		keeps: func(o *object.Object) bool { return o.Inventory() != nil && o.Inventory().Keeps },
	}
}

// deleteOthers are finalizers of Of behind which controllers delete objects of the cluster by rules
// that are not simulated, other than dependents of the object. Known.Without names these objects.
var deleteOthers = []string{
	// What was deployed or installed with the object.
	"configsync.gke.io/reconciler-manager", "app.oam.dev/resource-tracker-finalizer", "template.openshift.io/finalizer",
	"fleet.cattle.io/bundle-deployment-finalizer", "fleet.cattle.io/cluster-finalizer", "vcluster.loft.sh/cleanup",
	"controller.projectcapsule.dev/finalize", "capsule.clastix.io/resources",
	"helm.sdk.operatorframework.io/uninstall-release", "uninstall-helm-release", "tektoninstallersets.operator.tekton.dev",
	"machine.machine.openshift.io", "provider.cluster.x-k8s.io", "machinedeployment.topology.cluster.x-k8s.io", "machine-node-delete-finalizer", "argoproj.io/finalizer",
	"foregroundDeleteKubeVirt", "kubevirt.io/foregroundDeleteKubeVirt", "operator.cdi.kubevirt.io", hierarchyGroup, "kubevirt.io/hyperconverged", "storagecluster.ocs.openshift.io",
	"sailoperator.io/sail-operator", "kubewarden.io/finalizer", "kubewarden", "finalizer.dell.emc.com", "finalizer.request.ibm.com", "helmchartproxy.addons.cluster.x-k8s.io",
	"istio-finalizer.install.istio.io", "maistra.io/istio-operator", "kiali.io/finalizer", "tigera.io/operator-cleanup",
	"configconnector.cnrm.cloud.google.com/finalizer", "kyverno.io/policywebhooks", "kyverno.io/ttlwebhooks", "kyverno.io/exceptionwebhooks",
	"resources.gardener.cloud/gardener-resource-manager*",
	"cluster.open-cluster-management.io/api-resource-cleanup", "open-cluster-management.io/managedclusterrole",
	// Workloads and PVCs of databases.
	"postgres-operator.acid.zalan.do", "percona.com/delete-pxc-pvc", "percona.com/delete-proxysql-pvc", "percona.com/delete-mysql-pvc",
	"percona.com/delete-psmdb-pvc", "percona.com/delete-pvc", "percona.com/delete-ssl", "percona.com/delete-backups", "moco.cybozu.com/mysqlcluster",
	"finalizer.cassandra.datastax.com", "k8ssandracluster.k8ssandra.io/finalizer", "finalizer.clickhouseinstallation.altinity.com",
	"finalizer.clickhousekeeperinstallation.altinity.com", "enterprise.splunk.com/delete-pvc", "deletepvc.finalizers.druid.apache.org", "finalizer.infinispan.org", "*.finalizers.platform.confluent.io",
	"fluid-dataset-controller-finalizer", "stork.libopenstorage.org/finalizer-cleanup",
	"asdb.aerospike.com/storage-finalizer", "storage.finalizers.solr.apache.org", "cleanUpZookeeperPVC", "redisFinalizer", "redisClusterFinalizer",
	"hazelcast.com/finalizer", "cluster.kubeblocks.io/finalizer", "kubedb.com", "Opster", "operator.redpanda.com/finalizer", "druid.gardener.cloud/etcd-druid",
	"finalizer.kafkaclusters.kafka.banzaicloud.io", "topics.kafkaclusters.kafka.banzaicloud.io", "users.kafkaclusters.kafka.banzaicloud.io",
	// Parts in other namespaces, or of the whole cluster.
	"autoscalingrunnerset.actions.github.com/finalizer", "autoscalinglistener.actions.github.com/finalizer",
	"*.finalizers.compliance.openshift.io", "*.finalizers.che.eclipse.org", "netattdef.finalizers.sriovnetwork.openshift.io",
	"snapshot.kubevirt.io/vmsnapshot-protection", "snapshot.kubevirt.io/vmsnapshotcontent-protection",
	"cdi.kubevirt.io/dataImportCronFinalizer", "cdi.kubevirt.io/cloneSource", "cdi.kubevirt.io/clonePopulator", "cdi.kubevirt.io/importImageStream", "cdi.kubevirt.io/dataVolumeFinalizer", "*.networking.internal.knative.dev", "inferenceservice.finalizers",
	"chaosengine.litmuschaos.io/finalizer", "onepassword.com/finalizer.secret", "apps.victoriametrics.com/finalizer",
	"opentelemetrycollector.opentelemetry.io/finalizer", "finalizer.agent.datadoghq.com", "gateway-operator.konghq.com/cleanup-*",
	"svccontroller.k3s.cattle.io/daemonset",
	// Whatever the operator or hook does that uses the framework.
	"kopf.zalando.org/KopfFinalizerMarker", "metacontroller.io/compositecontroller-*", "metacontroller.io/decoratorcontroller-*",
	"operatorkit.giantswarm.io/*", "controller.cattle.io/*", "controller.cattle.io/namespace-auth", "clusterscoped.controller.cattle.io/*", "wrangler.cattle.io/*",
}

// orphaner is a controller that may remove the owner references of dependents while it deletes their owner,
// so that these stay.
type orphaner struct {
	owner, dependents schema.GroupKind
	// finalizer is one that it removes from the owner. condition says what decides whether it removes the
	// references, which a snapshot lacks: a sentence without a full stop.
	finalizer, condition string
}

// orphaners are the controllers. An owner without finalizers is gone at once, and its dependents go with it.
//
// Source: argo-cd, applicationset/controllers/applicationset_controller.go Reconcile,
// removeOwnerReferencesOnDeleteAppSet (since v2.10), applicationset/utils/policy.go DefaultPolicy. Installations
// take the flag from a ConfigMap: manifests/base/applicationset-controller. With the flag, the field counts only
// with --enable-policy-override.
var orphaners = []orphaner{
	{
		schema.GroupKind{Group: object.ArgoApplication.Group, Kind: "ApplicationSet"}, object.ArgoApplication.GroupKind, argoFinalizer,
		"it does if spec.syncPolicy.applicationsSync, or its flag --policy, is create-only or create-update",
	},
}

// runHooks are finalizers of Of behind which a controller runs pods of its users.
var runHooks = []string{"pre-delete-finalizer.argocd.argoproj.io*", "post-delete-finalizer.argocd.argoproj.io*"}
