package controllers

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/release"
)

// Recreation says that a deleted object will be created again.
type Recreation struct {
	// Controller is the name of the controller that creates it.
	Controller string
	// For is the object that causes this: the ReplicaSet of a pod, the namespace of a default
	// ServiceAccount. Its name is empty if there is none, and its UID if it is not in the snapshot.
	For object.Ref
	// When is the moment of the re-creation, such as "when it restarts". "" means at once.
	When string
	// If must hold, too, and is not known to: a clause. Empty if the object surely comes back.
	If string
	// Assumption is what must hold for the re-creation: a sentence without a full stop.
	Assumption string
}

// Standing is the state of an object at the end of a simulation.
type Standing uint8

// The standings.
const (
	// Unseen: the snapshot doesn't show whether the object exists.
	Unseen Standing = iota
	// Gone: it doesn't exist, or it is being deleted.
	Gone
	// Lives: it exists and is not being deleted.
	Lives
)

// Outlook is the state of the world at the end of a simulation.
type Outlook interface {
	// Find looks up an object by its coordinates. The object is nil unless it lives.
	Find(ref object.Ref) (*object.Object, Standing)
	// Definition returns the CustomResourceDefinition that serves an API version. Its name is empty
	// if no such definition is known to live.
	Definition(apiVersion string) object.Ref
	// Rules returns the rules of the cluster's release.
	Rules() release.Rules
}

// ComesBack reports whether a part of Kubernetes creates the object again after its deletion.
// Operators and other controllers are not known. o is the object before the simulation.
//
// An object doesn't come back if its cause is deleted, too: a pod of a ReplicaSet that is being
// deleted stays deleted. A cause that the snapshot doesn't show counts as existing, because the
// result false must not be a guess.
//
// Rule: spec §9, S065, S242.
func ComesBack(w Outlook, o *object.Object) (Recreation, bool) {
	switch kind := (schema.GroupKind{Group: o.Group(), Kind: o.Kind}); kind {
	case object.Pod.GroupKind:
		return podComesBack(w, o)
	case object.ReplicaSet.GroupKind:
		return replicaSetComesBack(w, o)
	case object.EndpointSlice.GroupKind, object.Endpoints.GroupKind:
		return endpointsComeBack(w, o)
	case object.PVC.GroupKind, object.ResourceClaim.GroupKind:
		return claimComesBack(w, o)
	case object.Lease.GroupKind, object.CSINode.GroupKind, object.Node.GroupKind:
		return nodeComesBack(w, o)
	case object.ControllerRevision.GroupKind:
		return revisionComesBack(w, o)
	case object.IPAddress.GroupKind:
		return addressComesBack(w, o)
	case object.ServiceAccount.GroupKind, object.ConfigMap.GroupKind:
		return namespaceFillsUp(w, o)
	default:
		return serverBringsBack(w, kind, o)
	}
}

// controllerOf returns the controlling owner of the object if it is of the kind and isn't gone.
// owner is nil if the snapshot doesn't show it.
func controllerOf(w Outlook, o *object.Object, kind object.Kind) (owner *object.Object, ref object.Ref, ok bool) {
	by, controlled := o.Controller()
	if !controlled || !by.Is(kind) {
		return nil, ref, false
	}
	ref = by.In(o.Namespace)
	owner, standing := w.Find(ref)
	if standing == Gone || standing == Lives && owner.UID != by.UID {
		return nil, ref, false
	}
	return owner, ref, true
}

// workload is a kind of object with a controller that creates pods.
type workload struct {
	kind       object.Kind
	controller string
	// alike is true if a pod comes back under its own name. Other controllers have already replaced
	// the pods that are being deleted or finished.
	alike      bool
	assumption string
}

// workloads are the kinds with controllers that replace pods.
//
// Upstream: pkg/controller/replicaset/replica_set.go manageReplicas.
// Upstream: pkg/controller/statefulset/stateful_set_control.go processReplica.
// Upstream: pkg/controller/daemon/daemon_controller.go podsShouldBeOnNode.
// Upstream: pkg/controller/job/job_controller.go manageJob.
var workloads = []workload{
	{object.ReplicaSet, "replicaset-controller", false, "the ReplicaSet controller runs, and the ReplicaSet still wants as many pods"},
	{object.ReplicationController, "replicationcontroller-controller", false, "the ReplicationController controller runs, and still wants as many pods"},
	{object.StatefulSet, "statefulset-controller", true, "the StatefulSet controller runs, and the StatefulSet still wants as many pods"},
	{object.DaemonSet, "daemonset-controller", true, "the DaemonSet controller runs, and the node still fits the pod"},
	{object.Job, JobName, false, "the Job controller runs, and the Job still wants the pod and has not failed too often"},
}

// podComesBack handles pods of workloads and mirror pods. The new pod may have another name.
//
// Upstream: pkg/kubelet/kubelet.go tryReconcileMirrorPods.
func podComesBack(w Outlook, o *object.Object) (Recreation, bool) {
	facts := o.Pod()
	if facts != nil && facts.Mirror && goes(w, nodeNamed(facts.NodeName)) {
		return Recreation{
			Controller: KubeletName, When: whenRestarted,
			Assumption: "the kubelet of the node is started again, registers the node and shows its static pods again; their containers run on until then",
		}, true
	}
	if facts != nil && facts.Mirror {
		return ofKubelet(w, facts.NodeName, "the kubelet of the node runs and still has the manifest of the pod")
	}
	for _, x := range workloads {
		owner, ref, ok := controllerOf(w, o, x.kind)
		switch {
		case !ok:
			continue
		case !x.alike && (o.BeingDeleted() || facts != nil && facts.Finished()):
			return Recreation{}, false
		case x.kind == object.DaemonSet && facts != nil && facts.NodeName != "" && goes(w, nodeNamed(facts.NodeName)):
			return Recreation{}, false
		case owner != nil && owner.Job() != nil && (owner.Job().Finished || owner.Job().Elsewhere() || owner.Job().NoRetry):
			return Recreation{}, false
		}
		return Recreation{Controller: x.controller, For: ref, Assumption: x.assumption}, true
	}
	return Recreation{}, false
}

// replicaSetComesBack handles the ReplicaSet of a Deployment's current revision. Older ones are
// history and don't come back. If either revision is unknown, it may be the current one.
//
// Upstream: pkg/controller/deployment/sync.go getNewReplicaSet.
func replicaSetComesBack(w Outlook, o *object.Object) (Recreation, bool) {
	owner, ref, ok := controllerOf(w, o, object.Deployment)
	if !ok {
		return Recreation{}, false
	}
	again := Recreation{Controller: "deployment-controller", For: ref, Assumption: "the Deployment controller runs, and the Deployment is not paused"}
	switch {
	case owner == nil || owner.Revision() == 0 || o.Revision() == 0:
		again.Assumption = "the ReplicaSet is that of the current revision, the Deployment controller runs, and the Deployment is not paused"
	case owner.Revision() != o.Revision():
		return Recreation{}, false
	}
	return again, true
}

// The labels of endpoints that name their manager.
const (
	sliceManager     = "endpointslice.kubernetes.io/managed-by"
	endpointsManager = "endpoints.kubernetes.io/managed-by"
)

// endpointsComeBack handles EndpointSlices and Endpoints that a controller maintains for a Service.
// Those made by people or other programs don't come back.
//
// Upstream: pkg/controller/endpoint/endpoints_controller.go syncService.
// Upstream: pkg/controller/endpointslice/endpointslice_controller.go syncService.
// Upstream: pkg/controller/endpointslicemirroring/endpointslicemirroring_controller.go syncEndpoints.
func endpointsComeBack(w Outlook, o *object.Object) (Recreation, bool) {
	const assumption = "the controller runs, and the Service still has a selector"
	if o.Namespace == "default" && o.Name == "kubernetes" {
		return ofServer("kube-apiserver runs")
	}
	if o.Is(object.Endpoints) {
		service := object.Service.Ref(o.Namespace, o.Name)
		if o.Labels.Get(endpointsManager) != "endpoint-controller" && w.Rules().Follow(release.EndpointsLabelled) {
			return Recreation{}, false
		}
		return sake(w, service, "endpoints-controller", assumption)
	}
	switch o.Labels.Get(sliceManager) {
	case "endpointslice-controller.k8s.io":
		if _, ref, ok := controllerOf(w, o, object.Service); ok {
			return Recreation{Controller: "endpointslice-controller", For: ref, Assumption: assumption}, true
		}
	case "endpointslicemirroring-controller.k8s.io":
		if _, ref, ok := controllerOf(w, o, object.Endpoints); ok {
			return Recreation{Controller: MirroringName, For: ref, Assumption: "the controller runs"}, true
		}
	}
	return Recreation{}, false
}

// claimComesBack handles claims that are created for a single pod, if that pod lives on.
//
// Upstream: pkg/controller/volume/ephemeral/controller.go handleVolume.
// Upstream: pkg/controller/resourceclaim/controller.go handleClaim.
func claimComesBack(w Outlook, o *object.Object) (Recreation, bool) {
	pod, ref, ok := controllerOf(w, o, object.Pod)
	if !ok || pod != nil && pod.Pod() != nil && pod.Pod().Finished() {
		return Recreation{}, false
	}
	controller := "ephemeral-volume-controller"
	if o.Is(object.ResourceClaim) {
		controller = resourceClaimName
	}
	return Recreation{Controller: controller, For: ref, Assumption: "the controller runs, and the pod does not end"}, true
}

// nodeComesBack handles the objects that a kubelet maintains: the lease and the CSINode of the
// node's name, and the node, which it registers when it starts.
//
// Upstream: pkg/kubelet/kubelet_node_status.go registerWithAPIServer.
// Upstream: pkg/volume/csi/nodeinfomanager/nodeinfomanager.go CreateCSINode.
// Upstream: component-helpers/apimachinery/lease/controller.go ensureLease.
// Source: karpenter, pkg/controllers/node/termination/controller.go finalize: the finalizer goes after the
// machine.
func nodeComesBack(w Outlook, o *object.Object) (Recreation, bool) {
	switch {
	case o.Is(object.Node) && o.HasFinalizer("karpenter.sh/termination"):
		return Recreation{}, false
	case o.Is(object.Node):
		return Recreation{Controller: KubeletName, When: whenRestarted, Assumption: "the kubelet of the node is started again and registers it"}, true
	case o.Is(object.CSINode), o.Namespace == "kube-node-lease":
		return ofKubelet(w, o.Name, "the kubelet of the node runs")
	case o.Namespace == "kube-system" && o.Labels.Get("apiserver.kubernetes.io/identity") != "":
		return ofServer("the API server that holds the lease runs")
	}
	return Recreation{}, false
}

// revisionComesBack handles the ControllerRevisions of DaemonSets and StatefulSets. Only the
// current one comes back; older ones are history. The snapshot doesn't show which one is current.
//
// Upstream: pkg/controller/daemon/update.go constructHistory.
// Upstream: pkg/controller/statefulset/stateful_set_control.go getStatefulSetRevisions.
func revisionComesBack(w Outlook, o *object.Object) (Recreation, bool) {
	for _, kind := range []object.Kind{object.DaemonSet, object.StatefulSet} {
		if _, ref, ok := controllerOf(w, o, kind); ok {
			return Recreation{
				Controller: strings.ToLower(kind.Kind) + "-controller", For: ref, Assumption: "it is the current revision, and the " + kind.Kind + " controller runs",
			}, true
		}
	}
	return Recreation{}, false
}

// addressComesBack handles the address of a Service that lives.
//
// Upstream: pkg/registry/core/service/ipallocator/controller/repairip.go syncService.
func addressComesBack(w Outlook, o *object.Object) (Recreation, bool) {
	service, ok := leaderOf(o)
	if !ok {
		return Recreation{}, false
	}
	return sake(w, service.Ref(), serverName, serverRuns)
}

// namespaceFillsUp handles the objects that every active namespace has.
//
// Upstream: pkg/controller/serviceaccount/serviceaccounts_controller.go syncNamespace.
// Upstream: pkg/controller/certificates/rootcacertpublisher/publisher.go syncNamespace.
func namespaceFillsUp(w Outlook, o *object.Object) (Recreation, bool) {
	namespace := object.Namespace.Ref("", o.Namespace)
	switch {
	case o.Is(object.ConfigMap) && o.Namespace == "kube-system" && slices.Contains(configOfServer, o.Name):
		return ofServer(serverRuns)
	case o.Is(object.ServiceAccount) && o.Name == "default":
		return sake(w, namespace, "serviceaccount-controller", "the ServiceAccount controller runs, and the namespace is active")
	case o.Is(object.ConfigMap) && o.Name == "kube-root-ca.crt":
		return sake(w, namespace, "root-ca-certificate-publisher-controller", "the controller that publishes the root certificate runs, and the namespace is active")
	}
	return Recreation{}, false
}

// whenRestarted is when a kubelet creates its node and the node's mirror pods again: it registers
// the node only at its start, and creates mirror pods only for an existing node. An API server creates its
// roles only then.
//
// Upstream: pkg/kubelet/kubelet_node_status.go registerWithAPIServer.
// Upstream: pkg/kubelet/kubelet.go tryReconcileMirrorPods.
const whenRestarted = "when it restarts"

func nodeNamed(name string) object.Ref { return object.Node.Ref("", name) }

// goes reports whether an object doesn't exist at the end, or is being deleted.
func goes(w Outlook, ref object.Ref) bool {
	_, standing := w.Find(ref)
	return standing == Gone
}

// sake returns the Recreation of an object that a controller maintains for ref, such as Endpoints
// for a Service. It returns false if ref is gone.
func sake(w Outlook, ref object.Ref, controller, assumption string) (Recreation, bool) {
	o, standing := w.Find(ref)
	switch standing {
	case Gone:
		return Recreation{}, false
	case Lives:
		ref = o.Ref
	case Unseen:
	}
	return Recreation{Controller: controller, For: ref, Assumption: assumption}, true
}

func ofKubelet(w Outlook, node, assumption string) (Recreation, bool) {
	return sake(w, nodeNamed(node), KubeletName, assumption)
}

// autoManaged is the label of the APIServices that API servers register.
const autoManaged = "kube-aggregator.kubernetes.io/automanaged"

const (
	serverName   = "kube-apiserver"
	serverRuns   = "kube-apiserver runs"
	serverStarts = "kube-apiserver is started again"
)

// keptByServer are the objects that an API server creates whenever they are missing, by kind and
// name. Only the Service is namespaced.
//
// Upstream: pkg/controlplane/controller/systemnamespaces/system_namespaces_controller.go Controller.sync.
// Upstream: pkg/controlplane/controller/kubernetesservice/controller.go CreateOrUpdateMasterServiceIfNeeded.
// Upstream: pkg/controlplane/controller/defaultservicecidr/default_servicecidr_controller.go Controller.sync.
// Upstream: apiserver/pkg/apis/flowcontrol/bootstrap/default.go MandatoryPriorityLevelConfigurations,
// MandatoryFlowSchemas, SuggestedPriorityLevelConfigurations, SuggestedFlowSchemas.
var keptByServer = map[schema.GroupKind][]string{
	object.Namespace.GroupKind:   {"default", "kube-node-lease", "kube-public", "kube-system"},
	object.Service.GroupKind:     {"kubernetes"},
	object.ServiceCIDR.GroupKind: {"kubernetes"},
	{Group: "flowcontrol.apiserver.k8s.io", Kind: "PriorityLevelConfiguration"}: {
		"catch-all", "exempt", "global-default", "leader-election", "node-high", "system", "workload-high", "workload-low",
	},
	flowSchema: {
		"catch-all", "exempt", "global-default", "kube-controller-manager", "kube-scheduler", "kube-system-service-accounts",
		"probes", "service-accounts", "system-leader-election", "system-node-high", "system-nodes",
	},
}

var flowSchema = schema.GroupKind{Group: "flowcontrol.apiserver.k8s.io", Kind: "FlowSchema"}

// onceKeptFlowSchemas are those that only API servers of older releases create.
var onceKeptFlowSchemas = []string{"endpoint-controller", "workload-leader-election"}

// The bundle of serving certificates of the API server, and the controller that publishes it.
//
// Upstream: pkg/controller/certificates/clustertrustbundlepublisher/publisher.go syncClusterTrustBundle.
const (
	servingBundle   = "kubernetes.io:kube-apiserver-serving:"
	bundlePublisher = "kube-apiserver-serving-clustertrustbundle-publisher-controller"
)

// configOfServer are the ConfigMaps in kube-system that an API server creates whenever they are
// missing.
//
// Upstream: pkg/controlplane/controller/clusterauthenticationtrust/cluster_authentication_trust_controller.go syncConfigMap.
// Upstream: pkg/controlplane/controller/legacytokentracking/controller.go syncConfigMap.
var configOfServer = []string{"extension-apiserver-authentication", "kube-apiserver-legacy-service-account-token-tracking"}

// serverBringsBack handles the objects that API servers maintain, or create at their start.
//
// Upstream: pkg/registry/rbac/rest/storage_rbac.go ensureRBACPolicy.
func serverBringsBack(w Outlook, kind schema.GroupKind, o *object.Object) (Recreation, bool) {
	switch {
	case slices.Contains(keptByServer[kind], o.Name) && (o.Namespace == "" || o.Namespace == "default"):
		return ofServer(serverRuns)
	case kind == flowSchema && slices.Contains(onceKeptFlowSchemas, o.Name) && !w.Rules().Follow(release.FewerFlowSchemas):
		return ofServer(serverRuns)
	case kind.Group == "certificates.k8s.io" && kind.Kind == "ClusterTrustBundle" && strings.HasPrefix(o.Name, servingBundle):
		return Recreation{Controller: bundlePublisher, Assumption: "the controller runs"}, true
	case kind.Group == "rbac.authorization.k8s.io" && o.Labels.Get("kubernetes.io/bootstrapping") == "rbac-defaults":
		return ofServerStart()
	case kind == object.APIService.GroupKind:
		return apiServiceComesBack(w, o)
	}
	return Recreation{}, false
}

// apiServiceComesBack handles the APIServices that API servers register: those of custom resources
// while a definition serves the version, their own ones at their start. APIServices of other origin
// lack the label.
//
// Upstream: kube-aggregator/pkg/controllers/autoregister/autoregister_controller.go checkAPIService.
func apiServiceComesBack(w Outlook, o *object.Object) (Recreation, bool) {
	version, group, _ := strings.Cut(o.Name, ".")
	switch o.Labels.Get(autoManaged) {
	case "onstart":
		return ofServerStart()
	case "true":
		if definition := w.Definition(group + "/" + version); definition.Name != "" {
			return Recreation{Controller: serverName, For: definition, Assumption: serverRuns}, true
		}
	}
	return Recreation{}, false
}

// ofServerStart is for objects that an API server creates at its start alone.
func ofServerStart() (Recreation, bool) {
	return Recreation{Controller: serverName, When: whenRestarted, Assumption: serverStarts}, true
}

func ofServer(assumption string) (Recreation, bool) {
	return Recreation{Controller: serverName, Assumption: assumption}, true
}

// AdoptionAssumption is the assumption that no controller adopts an orphaned object. Selectors are
// not read, so it is unknown which controllers select the object.
const AdoptionAssumption = "no other controller selects what is orphaned; one that does takes it over, and deletes what it then has too many of"

var adopters = map[schema.GroupKind][]object.Resource{
	object.Pod.GroupKind: {
		object.DaemonSet.Resource(), object.ReplicaSet.Resource(), object.StatefulSet.Resource(),
		object.Job.Resource(), object.ReplicationController.Resource(),
	},
	object.ReplicaSet.GroupKind: {object.Deployment.Resource()},
	object.ControllerRevision.GroupKind: {
		object.DaemonSet.Resource(), object.StatefulSet.Resource(),
	},
}

// Adopters lists the resources of the controllers that adopt an object of their namespace without a
// controller, if their selector matches it and neither is being deleted. It returns nil for an
// object that no built-in controller adopts.
//
// Upstream: pkg/controller/controller_ref_manager.go ClaimObject.
// Rule: spec §8, §9, S243.
func Adopters(o *object.Object) []object.Resource {
	if _, controlled := o.Controller(); controlled || o.BeingDeleted() {
		return nil
	}
	return adopters[schema.GroupKind{Group: o.Group(), Kind: o.Kind}]
}
