package finalizer

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Recreator is a controller that creates the parts of its objects again: what they own, or what it finds by a
// label or a field. The Secret of an ExternalSecret is such a part, and the pod of a finished TaskRun is not.
type Recreator struct {
	Controller
	// When says when it does so: a phrase. Empty for at once.
	When string
	// If is what decides whether it does so, and is not read: a clause. Empty for nothing.
	If string
	// Assumption must hold, too: a sentence without a full stop.
	Assumption string

	// owners are the kinds of its objects. `*` in a group matches any text, and `*` for a kind any kind.
	owners []schema.GroupKind
	// parts are the kinds of what it creates again; nil for all.
	parts []string
	// paused are the annotations of an owner that pause it. One is enough.
	paused object.Protection
	// label is one that a part has.
	label string
	// untilFinished: it creates no pod again that has finished.
	untilFinished bool
}

// keepsSource is the Assumption of operators that copy.
const keepsSource = "its source still has what it was made of, and it is not immutable"

// groupKinds returns kinds of a group.
func groupKinds(group string, kinds ...string) (list []schema.GroupKind) {
	for _, kind := range kinds {
		list = append(list, schema.GroupKind{Group: group, Kind: kind})
	}
	return list
}

// recreators are the known ones. The first that fits decides.
//
// Source: external-secrets, pkg/controllers/externalsecret/externalsecret_controller.go Reconciler.Reconcile:
// a missing Secret is not valid, whatever refreshPolicy says. cert-manager, pkg/controller/certificates
// /trigger/policies/checks.go SecretDoesNotExist; pkg/controller/certificate-shim/sync.go SyncFnFor.
// sealed-secrets, pkg/controller/controller.go watchSecrets.
// Source: strimzi, cluster-operator KafkaReconciler.java, StrimziPodSetController.java reconcile; operator-common
// ReconciliationUtils.java isPaused. cloudnative-pg, internal/controller/cluster_controller.go reconcile.
// eck, pkg/controller/common/annotation/pause.go. prometheus-operator, pkg/prometheus/server/operator.go sync.
// Source: knative serving, pkg/reconciler, the ReconcileKind functions of service, configuration, revision and
// route. keda, controllers/keda/hpa.go ensureHPAForScaledObjectExists. argo-rollouts, rollout/sync.go
// getAllReplicaSetsAndSyncRevision. tekton pipeline, pkg/reconciler/taskrun/taskrun.go Reconciler.reconcile.
// Source: argo-cd, applicationset/controllers/applicationset_controller.go createOrUpdateInCluster. crossplane,
// internal/controller/apiextensions/composite/reconciler.go Reconcile. kro, pkg/controller/instance. operator-lifecycle
// -manager, pkg/controller/operators/olm/operator.go updateInstallStatus. cluster-api, internal/controllers
// /machineset/machineset_controller.go syncReplicas, machinedeployment/machinedeployment_sync.go.
// kubevirt, pkg/virt-controller/watch/vm/vm.go sync.
var recreators = []Recreator{
	{Controller: Controller{Name: "the External Secrets operator"}, Assumption: keepsSource, owners: groupKinds("external-secrets.io", "ExternalSecret"), parts: []string{"Secret"}},
	{Controller: Controller{Name: "cert-manager"}, Assumption: "its issuer issues it again", owners: groupKinds("cert-manager.io", "Certificate"), parts: []string{"Secret"}},
	{Controller: Controller{Name: "cert-manager"}, Assumption: "its issuer still exists", owners: append(groupKinds("networking.k8s.io", "Ingress"), groupKinds(gatewayGroup, "Gateway")...), parts: []string{"Certificate"}},
	{
		Controller: Controller{Name: "Sealed Secrets", Programs: []string{"sealed-secrets", "sealed-secrets-controller"}},
		Assumption: "it still has the key, and runs without --skip-recreate", owners: groupKinds("bitnami.com", "SealedSecret"), parts: []string{"Secret"},
	},
	{Controller: strimzi, owners: groupKinds("core.strimzi.io", "StrimziPodSet"), parts: []string{"Pod"}},
	{Controller: strimzi, When: "at its next reconciliation", owners: groupKinds("kafka.strimzi.io", "Kafka", "KafkaNodePool", "KafkaConnect", "KafkaMirrorMaker2", "KafkaBridge"), paused: object.OperatorPaused},
	{
		Controller: Controller{Name: "CloudNativePG"}, owners: groupKinds("postgresql.cnpg.io", "Cluster", "Pooler"), paused: object.OperatorPaused,
		parts: []string{"Pod", "Service", "Secret", "ConfigMap", "PodDisruptionBudget", "ServiceAccount", "Role", "RoleBinding", "Deployment"},
	},
	{
		Controller: Controller{Name: "Elastic Cloud on Kubernetes"}, owners: groupKinds("*.k8s.elastic.co", "*"), paused: object.OperatorPaused,
		parts: []string{"StatefulSet", "Deployment", "DaemonSet", "Service", "Secret", "ConfigMap", "PodDisruptionBudget"},
	},
	{
		Controller: Controller{Name: "the Prometheus operator"}, If: "spec.paused is not true",
		owners: groupKinds("monitoring.coreos.com", "Prometheus", "PrometheusAgent", "Alertmanager", "ThanosRuler"),
		parts:  []string{"StatefulSet", "DaemonSet", "Service", "Secret", "ConfigMap"},
	},
	{Controller: knative, If: "it is the current revision", owners: groupKinds("serving.knative.dev", "Configuration"), parts: []string{"Revision"}},
	{Controller: knative, owners: append(groupKinds("serving.knative.dev", "Service", "Revision", "Route"), groupKinds("autoscaling.internal.knative.dev", "PodAutoscaler")...)},
	{Controller: Controller{Name: "KEDA"}, owners: groupKinds("keda.sh", "ScaledObject"), parts: []string{"HorizontalPodAutoscaler"}, paused: object.OperatorPaused},
	{
		Controller: Controller{Name: "Argo Rollouts", Programs: []string{"argo-rollouts"}}, If: "it is the current revision",
		owners: groupKinds("argoproj.io", "Rollout"), parts: []string{"ReplicaSet"},
	},
	{
		Controller: Controller{Name: "Tekton Pipelines", Programs: []string{"tekton-pipelines-controller"}},
		If:         "it has not finished", owners: groupKinds("tekton.dev", "TaskRun"), parts: []string{"Pod"}, untilFinished: true,
	},
	{Controller: Controller{Name: "Argo CD"}, Assumption: "its generators still yield it", owners: groupKinds("argoproj.io", "ApplicationSet"), parts: []string{"Application"}},
	{Controller: Controller{Name: "the operator of Argo CD"}, owners: groupKinds("argoproj.io", "ArgoCD")},
	{Controller: Controller{Name: "Crossplane"}, When: "at its next reconciliation", Assumption: "its composition still has it", owners: groupKinds("*", "*"), label: "crossplane.io/composite", paused: object.CrossplanePaused},
	{Controller: Controller{Name: "kro"}, Assumption: "its definition still has it", owners: groupKinds("*", "*"), label: instanceLabel},
	{
		Controller: Controller{Name: "the Operator Lifecycle Manager"}, owners: groupKinds("operators.coreos.com", csvKind),
		parts: []string{"Deployment", "ServiceAccount", "Role", "RoleBinding", "Service"},
	},
	{Controller: Controller{Name: "Cluster API"}, Assumption: "its MachineSet still wants as many", owners: groupKinds(capiGroup, "MachineSet"), parts: []string{"Machine"}, paused: object.ClusterAPIPaused},
	{Controller: Controller{Name: "Cluster API"}, If: "it is the current revision", owners: groupKinds(capiGroup, "MachineDeployment"), parts: []string{"MachineSet"}, paused: object.ClusterAPIPaused},
	{Controller: Controller{Name: "KubeVirt"}, If: "its run strategy starts it", owners: groupKinds("kubevirt.io", "VirtualMachine"), parts: []string{"VirtualMachineInstance"}},
	{Controller: Controller{Name: "KubeVirt"}, Assumption: "it still wants as many", owners: groupKinds("kubevirt.io", "VirtualMachineInstanceReplicaSet")},
	{Controller: Controller{Name: "the Tigera operator"}, owners: groupKinds("operator.tigera.io", "*")},
}

// knative has a program with a name that many have: that it runs is not seen.
var knative = Controller{Name: "Knative Serving", Programs: []string{"knative-serving-controller"}}

// strimzi is the program that handles clusters of Kafka. It removes no finalizer.
var strimzi = Controller{Name: "Strimzi", Programs: []string{"strimzi-cluster-operator"}}

// RecreatorOf returns the operator that creates an object again for another one that owns or names it; nil if
// none is known.
func RecreatorOf(owner, part *object.Object) *Recreator {
	for i := range recreators {
		op := &recreators[i]
		if (op.parts == nil || slices.Contains(op.parts, part.Kind)) && (op.label == "" || part.Labels.Has(op.label)) && slices.ContainsFunc(op.owners, func(k schema.GroupKind) bool {
			return fits(k.Group, owner.Group()) && (k.Kind == "*" || k.Kind == owner.Kind)
		}) {
			return op
		}
	}
	return nil
}

// Ends reports whether an object that ran to its end is not created again, such as the pod of a TaskRun.
func (op *Recreator) Ends(part *object.Object) bool {
	return op.untilFinished && part.Pod() != nil && part.Pod().Finished()
}

// ControllersFor returns the programs of the operator that work on an object.
func (op *Recreator) ControllersFor(owner *object.Object) []*Controller {
	if op.Programs != nil {
		return []*Controller{&op.Controller}
	}
	return ControllersOf(Known{RemovedBy: op.Name}, owner)
}

// ConditionOf returns what has to hold, and is not known to, so that an operator creates the parts of an object
// again: a clause. It is empty for nothing.
func (v *Inventories) ConditionOf(op *Recreator, owner *object.Object) string {
	capi := op.paused == object.ClusterAPIPaused
	switch {
	case owner.Protection()&op.paused != 0, capi && pausedCluster(v.snap, owner, nil).Why != "":
		return "its pause ends"
	case capi && clusterUnread(v.snap, owner):
		return strings.TrimPrefix(op.If+" and its Cluster is not paused", " and ")
	}
	return op.If
}

// InstanceOf returns the instance of kro that an object was made for; nil if there is none.
func (v *Inventories) InstanceOf(o *object.Object) *object.Object {
	id := o.Labels.Get(instanceLabel)
	if id == "" {
		return nil
	}
	if v.instances == nil {
		v.instances = map[string]*object.Object{}
		for _, x := range v.snap.Objects {
			if x.HasFinalizer("kro.run/finalizer") {
				v.instances[string(x.UID)] = x
			}
		}
	}
	return v.instances[id]
}
