package finalizer

import (
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// Pause is why the controller of a finalizer leaves it, although it runs. The zero value is none.
type Pause struct {
	// By names what pauses the controller: an annotation, a label or a field of the object On. It is empty
	// if something else keeps it from removing the finalizer. On then shows more about that, or is zero.
	By string
	On object.Ref
	// Why is a clause.
	Why string
	// Until is the object whose deletion ends the pause. It is zero for none.
	Until object.Ref
	// MayEnd is true if another controller is to end the pause, so that it is unknown whether it lasts.
	MayEnd bool
}

// PauseOf returns why the controller of a finalizer leaves it on an object, as far as that is known. facts
// are fields of the object, if these were read apart from the snapshot. Otherwise they are nil.
func (v *Bindings) PauseOf(o *object.Object, facts *object.OutsideFacts, finalizer string) Pause {
	if facts == nil {
		facts = o.Outside()
	}
	for i := range pauses {
		if !fitsAny(pauses[i].finalizers, finalizer) {
			continue
		}
		if p := pauses[i].of(v.snap, o, facts); p.Why != "" {
			return p
		}
	}
	if why := v.stranded(o, finalizer); why != "" {
		return Pause{Why: why}
	}
	return Pause{}
}

// pause is a reason for which the controller of some finalizers does nothing with an object that has one.
type pause struct {
	finalizers []string
	of         func(snap *snapshot.Snapshot, o *object.Object, facts *object.OutsideFacts) Pause
}

// pauses are those that also keep a controller from finishing a deletion. These do not: the suspend of Flux
// (other than for Terraform), of Grafana and of MariaDB, the pause of Strimzi, of VictoriaMetrics and of
// Crunchy Postgres, the skip-reconcile of the Redis operator, eck.k8s.elastic.co/managed (ECK has no
// finalizers), suspended Works of Karmada, the pauses of KEDA, of the Prometheus operator and of the cluster
// operator of Strimzi, cnpg.io/reconciliationLoop, cluster.redpanda.com/managed (which removes the finalizer), and
// the reconcile interval of Config Connector. Their controllers handle a deletion first. KubeVirt, cert-manager
// and the Postgres operator of Zalando have no pause.
//
// Source: argo-cd, controller/appcontroller.go canProcessApp; crossplane, the Reconcile functions of
// claims, composites and package revisions; crossplane-runtime, pkg/reconciler/managed/reconciler.go
// Reconcile and policies.go IsPaused; cluster-api, util/paused/paused.go EnsurePausedCondition;
// tofu-controller, controllers/tf_controller.go Reconcile; hive, pkg/controller/clusterdeployment
// /clusterdeployment_controller.go Reconcile and syncDeletedClusterDeployment; kamaji, controllers
// /utils/is_paused.go IsPaused; rook, pkg/operator/ceph/controller/predicate.go WatchControllerPredicate
// and cluster/predicate.go watchControllerPredicate: until the operator restarts.
// Source: strimzi, topic-operator BatchingTopicController.java updateInternal; mariadb-operator,
// internal/controller/maxscale_controller.go and pkg/controller/sql/controller.go Reconcile; grafana-operator,
// controllers/dashboard_controller.go Reconcile; VictoriaMetrics operator, internal/controller/operator
// /vmsingle_controller.go Reconcile; CrunchyData postgres-operator, internal/controller/postgrescluster
// /controller.go Reconcile; redis-operator, internal/controller/rediscluster/rediscluster_controller.go
// Reconcile; karmada, pkg/controllers/execution/execution_controller.go Reconcile; keda,
// controllers/keda/scaledobject_controller.go and scaledjob_controller.go Reconcile; prometheus-operator,
// pkg/prometheus/server/operator.go sync; cloudnative-pg, internal/controller/cluster_controller.go Reconcile;
// redpanda-operator, operator/internal/controller/redpanda/redpanda_controller.go and nodepool_controller.go
// Reconcile; k8s-config-connector, pkg/controller/resourceactuation/resourceactuation.go ShouldSkip;
// postgres-operator of Zalando, pkg/controller/postgresql.go queueClusterEvent.
var pauses = []pause{
	{[]string{argoFinalizer + "*", "pre-delete-finalizer.argocd.argoproj.io*", "post-delete-finalizer.argocd.argoproj.io*"}, annotation(object.ArgoPausedKey)},
	{[]string{"finalizer.apiextensions.crossplane.io", "composite.apiextensions.crossplane.io", managedFinalizer, "revision.pkg.crossplane.io"},
		annotation(object.CrossplanePausedKey)},
	{[]string{managedFinalizer}, field("spec.managementPolicies", "")},
	{ofClusterAPI, annotation(object.ClusterAPIPausedKey)},
	{ofClusterAPI, pausedCluster},
	{[]string{"finalizers.tf.contrib.fluxcd.io"}, field("spec.suspend", "true")},
	{[]string{"hive.openshift.io/deprovision"}, annotation(object.HivePausedKey)},
	{[]string{"hive.openshift.io/deprovision"}, annotation(object.HiveProtectedKey)},
	{[]string{"finalizer.kamaji.clastix.io*"}, annotation(object.KamajiPausedKey)},
	{[]string{"cephcluster.ceph.rook.io", "ceph*.ceph.rook.io"}, label("do_not_reconcile", "true")},
	{[]string{"cephcluster.ceph.rook.io"}, label("ceph.rook.io/do-not-reconcile", "")},
	{[]string{kappFinalizer}, lacksKappAccount},
	{[]string{"cnrm.cloud.google.com/finalizer"}, pausedConnector},
	{[]string{contentBound}, annotation(object.SnapshotBegunKey)},
	{[]string{groupSnapshotContent}, annotation(object.GroupSnapshotBegunKey)},
}

const managedFinalizer = "finalizer.managedresource.crossplane.io"

var ofClusterAPI = []string{"*.cluster.x-k8s.io", "cluster.x-k8s.io/*"}

func pausedBy(on *object.Object, what string) Pause {
	return Pause{By: what, On: on.Ref, Why: "its " + what + " pauses its controller"}
}

// annotation returns a pause by one of object.FinalizerAnnotations.
func annotation(key string) func(*snapshot.Snapshot, *object.Object, *object.OutsideFacts) Pause {
	by := object.ProtectionBy(key, "true")
	return func(_ *snapshot.Snapshot, o *object.Object, _ *object.OutsideFacts) Pause {
		if !o.Protection().Has(by) {
			return Pause{}
		}
		return pausedBy(o, "annotation "+key)
	}
}

// label returns a pause by a label with a value; with any, if that is empty.
func label(key, value string) func(*snapshot.Snapshot, *object.Object, *object.OutsideFacts) Pause {
	return func(_ *snapshot.Snapshot, o *object.Object, _ *object.OutsideFacts) Pause {
		if v, ok := o.Labels.Lookup(key); !ok || value != "" && v != value {
			return Pause{}
		}
		return pausedBy(o, "label "+key)
	}
}

// field returns a pause by a field of object.OutsideFacts.
func field(name, value string) func(*snapshot.Snapshot, *object.Object, *object.OutsideFacts) Pause {
	return func(_ *snapshot.Snapshot, o *object.Object, facts *object.OutsideFacts) Pause {
		if facts == nil {
			return Pause{}
		}
		if v, ok := facts.Value(name); !ok || v != value {
			return Pause{}
		}
		return pausedBy(o, name)
	}
}

// clusterLabel is on all parts of a Cluster.
//
// Source: cluster-api, api/core/v1beta2/common_types.go ClusterNameLabel.
const clusterLabel = "cluster.x-k8s.io/cluster-name"

// ClusterOf returns the Cluster of Cluster API that an object is or is a part of; nil if the snapshot lacks it.
func (v *Bindings) ClusterOf(o *object.Object) *object.Object { return clusterOf(v.snap, o) }

// clusterOf returns the Cluster of Cluster API that an object is or is a part of; nil if the snapshot lacks it.
//
// Source: cluster-api, util/util.go GetClusterFromMetadata, GetOwnerCluster.
func clusterOf(snap *snapshot.Snapshot, o *object.Object) *object.Object {
	if o.Is(object.CAPICluster) {
		return o
	}
	name := o.Labels.Get(clusterLabel)
	for _, ref := range o.Owners {
		if name == "" && ref.Kind == object.CAPICluster.Kind && object.GroupOf(ref.APIVersion) == object.CAPICluster.Group {
			name = ref.Name
		}
	}
	if name == "" {
		return nil
	}
	return snap.FindKind(object.CAPICluster, o.Namespace, name)
}

// pausedCluster returns the pause by spec.paused of a Cluster.
func pausedCluster(snap *snapshot.Snapshot, o *object.Object, _ *object.OutsideFacts) Pause {
	cluster := clusterOf(snap, o)
	if cluster == nil || cluster.Outside() == nil {
		return Pause{}
	}
	if v, _ := cluster.Outside().Value("spec.paused"); v != "true" {
		return Pause{}
	}
	by := "spec.paused of " + cluster.Ref.ShortName()
	return Pause{By: by, On: cluster.Ref, Why: by + " pauses its controller"}
}

// pausedConnector returns the pause by the settings of Config Connector: those of the namespace take precedence if
// its mode is namespaced.
//
// Source: k8s-config-connector, operator/pkg/kccstate/kccstate.go FetchLiveKCCState,
// pkg/controller/resourceactuation/resourceactuation.go DecideActuationMode, pkg/controller/tf/controller.go Reconcile.
func pausedConnector(snap *snapshot.Snapshot, o *object.Object, _ *object.OutsideFacts) Pause {
	const field = "spec.actuationMode"
	settings := snap.FindKind(object.ConfigConnector, "", "configconnector."+object.ConfigConnector.Group)
	if settings == nil || settings.Outside() == nil {
		return Pause{}
	}
	if mode, _ := settings.Outside().Value("spec.mode"); mode == "namespaced" {
		own := snap.FindKind(object.ConfigConnectorContext, o.Namespace, "configconnectorcontext."+object.ConfigConnector.Group)
		if own == nil || own.Outside() == nil {
			return Pause{}
		}
		if _, set := own.Outside().Value(field); set {
			settings = own
		}
	}
	if v, _ := settings.Outside().Value(field); v != "Paused" {
		return Pause{}
	}
	by := field + " of " + settings.Ref.ShortName()
	return Pause{By: by, On: settings.Ref, Why: by + " pauses its controller"}
}

// clusterUnread reports whether the snapshot lacks the field that may pause the Cluster of an object.
func clusterUnread(snap *snapshot.Snapshot, o *object.Object) bool {
	cluster := clusterOf(snap, o)
	return cluster == nil || cluster.Outside() == nil
}
