package uses

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

const (
	networking  = "networking.k8s.io"
	flowControl = "flowcontrol.apiserver.k8s.io"
	// snapshotUnbound holds until the snapshot controller has made the content.
	//
	// Source: external-snapshotter, pkg/common-controller/snapshot_controller.go syncUnreadySnapshot.
	snapshotUnbound = "status.boundVolumeSnapshotContentName="
)

// The kinds of Kubernetes that only references name.
var (
	clusterRole           = object.ClusterRole
	scaler                = kindOf("autoscaling", "v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers", true)
	runtimeClass          = kindOf("node.k8s.io", "v1", "RuntimeClass", "runtimeclasses", false)
	replicationController = kindOf("", "v1", "ReplicationController", "replicationcontrollers", true)
	deviceClass           = kindOf("resource.k8s.io", "v1", "DeviceClass", "deviceclasses", false)
	attributesClass       = kindOf("storage.k8s.io", "v1", "VolumeAttributesClass", "volumeattributesclasses", false)
	claimTemplate         = kindOf("resource.k8s.io", "v1", "ResourceClaimTemplate", "resourceclaimtemplates", true)
	volumeSnapshot        = kindOf("snapshot.storage.k8s.io", "v1", "VolumeSnapshot", "volumesnapshots", true)
	SnapshotClass         = kindOf("snapshot.storage.k8s.io", "v1", "VolumeSnapshotClass", "volumesnapshotclasses", false)
	snapshotContent       = kindOf("snapshot.storage.k8s.io", "v1", "VolumeSnapshotContent", "volumesnapshotcontents", false)
	csiDriver             = kindOf("storage.k8s.io", "v1", "CSIDriver", "csidrivers", false)
	storageCapacity       = kindOf("storage.k8s.io", "v1", "CSIStorageCapacity", "csistoragecapacities", true)
	flowSchema            = kindOf(flowControl, "v1", "FlowSchema", "flowschemas", false)
	priorityLevel         = kindOf(flowControl, "v1", "PriorityLevelConfiguration", "prioritylevelconfigurations", false)
	configMap             = object.ConfigMap
	secret                = object.Secret
	service               = object.Service
)

func kindOf(group, version, kind, plural string, namespaced bool) object.Kind {
	return object.Kind{GroupKind: schema.GroupKind{Group: group, Kind: kind}, Version: version, Plural: plural, Namespaced: namespaced}
}

// The kinds of networking.k8s.io. A NetworkPolicy isolates pods.
var (
	NetworkPolicy = kindOf(networking, "v1", "NetworkPolicy", "networkpolicies", true)
	Ingress       = kindOf(networking, "v1", "Ingress", "ingresses", true)
	IngressClass  = kindOf(networking, "v1", "IngressClass", "ingressclasses", false)
)

// scopes has the kinds that references name, for their scope: those of the rules, and two that only guesses name.
var scopes = map[schema.GroupKind]object.Kind{object.Namespace.GroupKind: object.Namespace, object.CRD.GroupKind: object.CRD}

// The effects on workloads.
const (
	newPodsWait = "running pods go on, new ones don't start"
	// TokensInvalid is all that happens if the account is created again at once, with another uid.
	TokensInvalid  = "tokens of running pods become invalid"
	newPodsRefused = "running pods go on, new ones are refused"
)

// podTemplates has the kinds with pods, and the path to the spec of these.
var podTemplates = []struct {
	kind object.Kind
	path string
}{
	{object.Deployment, "spec.template.spec."},
	{object.StatefulSet, "spec.template.spec."},
	{object.DaemonSet, "spec.template.spec."},
	{object.ReplicaSet, "spec.template.spec."},
	{replicationController, "spec.template.spec."},
	{object.Job, "spec.template.spec."},
	{object.CronJob, "spec.jobTemplate.spec.template.spec."},
	{object.Pod, "spec."},
	{rollout, "spec.template.spec."},
	{knativeService, "spec.template.spec."},
	{deploymentConfig, "spec.template.spec."},
	{cloneSet, "spec.template.spec."},
	{jobSet, "spec.replicatedJobs[].template.spec.template.spec."},
	{workerSet, "spec.leaderWorkerTemplate.leaderTemplate.spec."},
	{workerSet, "spec.leaderWorkerTemplate.workerTemplate.spec."},
	{rayCluster, "spec.headGroupSpec.template.spec."},
	{rayCluster, "spec.workerGroupSpecs[].template.spec."},
}

// workloadRules returns the rules for the spec of a pod, for each kind that has one.
func workloadRules() []Rule {
	var list []Rule
	for _, t := range podTemplates {
		for _, r := range podRules() {
			if t.kind.GroupKind == object.Pod.GroupKind && (r.To.GroupKind == object.PriorityClass.GroupKind || r.To.GroupKind == claimTemplate.GroupKind) {
				r.When, r.Effect = report.BreaksNever, "" // only the creation of a pod needs them
			}
			if r.To.GroupKind == object.ServiceAccount.GroupKind && t.kind.GroupKind != object.Pod.GroupKind {
				r.Default, r.With = "default", t.path+"restartPolicy" // which every stored template has
			}
			r.User, r.Path = t.kind, t.path+r.Path
			list = append(list, r)
		}
	}
	return list
}

// podRules returns the rules for the spec of a pod.
//
// Source: kubernetes, pkg/kubelet/kuberuntime/kuberuntime_container.go startContainer: a container whose
// environment cannot be made waits with CreateContainerConfigError; pkg/volume/secret/secret.go
// SetUpAt: a pod without its volume waits; pkg/volume/csi/csi_mounter.go supportsVolumeLifecycleMode: so does one
// with a volume of its own, without the CSIDriver; plugin/pkg/admission/{serviceaccount,priority,runtimeclass}:
// a pod that names an absent object is refused; pkg/kubelet/kuberuntime/kuberuntime_manager.go computePodActions: an
// ephemeral container that has started is not started again; pkg/serviceaccount/claims.go Validate: a token is
// invalid once its account is deleted; plugin/pkg/admission/serviceaccount/admission.go Plugin.Admit: a pod
// without one has the account default.
// Source: secrets-store-csi-driver.sigs.k8s.io/getting-started/usage: secretProviderClass.
func podRules() []Rule {
	var list []Rule
	for _, c := range []string{"containers[]", "initContainers[]", "ephemeralContainers[]"} {
		list = append(
			list,
			Rule{Path: c + ".envFrom[].secretRef", Name: "name", To: secret, Label: "envFrom"},
			Rule{Path: c + ".envFrom[].configMapRef", Name: "name", To: configMap, Label: "envFrom"},
			Rule{Path: c + ".env[].valueFrom.secretKeyRef", Name: "name", To: secret, Label: "env"},
			Rule{Path: c + ".env[].valueFrom.configMapKeyRef", Name: "name", To: configMap, Label: "env"},
		)
	}
	for i := range list {
		list[i].Inexact = strings.HasPrefix(list[i].Path, "ephemeralContainers[]") // it starts only once, and may have
	}
	const volume = "volumes[]."
	list = append(
		list,
		Rule{Path: volume + "secret", Name: "secretName", To: secret, Label: "volume"},
		Rule{Path: volume + "configMap", Name: "name", To: configMap, Label: "volume"},
		Rule{Path: volume + "projected.sources[].secret", Name: "name", To: secret, Label: "volume"},
		Rule{Path: volume + "projected.sources[].configMap", Name: "name", To: configMap, Label: "volume"},
		Rule{Path: volume + "persistentVolumeClaim", Name: "claimName", To: object.PVC, Label: "volume"},
		Rule{Path: volume + "azureFile", Name: "secretName", To: secret, Label: "volume"},
		Rule{Path: volume + "csi.nodePublishSecretRef", Name: "name", To: secret, Label: "volume"},
		Rule{Path: volume + "csi.driver", To: csiDriver, Label: "volume"},
		Rule{Path: volume + "csi.volumeAttributes.secretProviderClass", To: secretProviderClass, Label: "volume"},
	)
	for _, driver := range []string{"cephfs", "flexVolume", "iscsi", "rbd", "scaleIO", "storageos"} {
		list = append(list, Rule{Path: volume + driver + ".secretRef", Name: "name", To: secret, Label: "volume"})
	}
	list = append(
		list,
		Rule{Path: volume + "ephemeral.volumeClaimTemplate.spec", Name: "storageClassName", Implied: true, To: object.StorageClass, Label: "volume"},
		Rule{Path: "resourceClaims[].resourceClaimName", To: object.ResourceClaim, Label: "resourceClaims"},
		Rule{Path: "resourceClaims[].resourceClaimTemplateName", To: claimTemplate, Label: "resourceClaims"},
	)
	for i := range list {
		list[i].When, list[i].Effect = report.BreaksNextStart, newPodsWait
	}
	return append(
		list,
		Rule{Path: "imagePullSecrets[]", Name: "name", To: secret, Label: "imagePullSecrets", When: report.BreaksNextStart, Effect: "running pods go on, new images are not pulled"},
		Rule{Path: "serviceAccountName", To: object.ServiceAccount, Label: "serviceAccountName", When: report.BreaksNow, Effect: TokensInvalid + ", new pods are refused"},
		Rule{Path: "priorityClassName", To: object.PriorityClass, Label: "priorityClassName", When: report.BreaksNextStart, Effect: newPodsRefused},
		Rule{Path: "runtimeClassName", To: runtimeClass, Label: "runtimeClassName", When: report.BreaksNextStart, Effect: newPodsRefused},
	)
}

// coreRules are the rules for the other kinds of Kubernetes. Package health reads the Services that the
// API server calls: those of webhooks, APIServices and CRDs.
//
// Source: kubernetes.io/docs/concepts/services-networking/ingress: TLS, Ingress class.
// Source: kubernetes, pkg/controller/podautoscaler/horizontal.go reconcileAutoscaler: FailedGetScale.
// Source: kubernetes, pkg/registry/rbac/validation/rule.go GetRoleReferenceRules: a role that is absent
// grants nothing.
// Source: kubernetes, pkg/controller/volume/persistentvolume/pv_controller.go syncUnboundClaim.
// Source: kubernetes, dynamic-resource-allocation/structured: a request without its class cannot be allocated.
// Source: kubernetes, pkg/volume/csi/csi_plugin.go skipAttach, podInfoEnabled; csi_mounter.go getFSGroupPolicy: a
// driver without CSIDriver has the defaults, and volumes are attached also if it cannot attach.
// Source: kubernetes, apiserver/pkg/util/flowcontrol/apf_controller.go digestFlowSchemasLocked: one without its
// priority level is ignored.
// Source: kubernetes, pkg/controller/volume/attachdetach/attach_detach_controller.go nodeDelete: what is attached
// to a node that is gone is detached.
var coreRules = slices.Concat(deviceRules(), []Rule{
	{User: object.StatefulSet, Path: "spec.serviceName", To: service, Label: "serviceName", When: report.BreaksNow, Effect: "its pods have no DNS names"},
	{User: object.StatefulSet, Path: "spec.volumeClaimTemplates[].spec", Name: "volumeAttributesClassName", To: attributesClass, Label: "volumeClaimTemplates", When: report.BreaksNextStart, Effect: "claims of new pods stay Pending"},
	{User: object.StatefulSet, Path: "spec.volumeClaimTemplates[].spec", Name: "storageClassName", Implied: true, To: object.StorageClass, Label: "volumeClaimTemplates", When: report.BreaksNextStart, Effect: "claims of new pods stay Pending"},

	{User: object.PVC, Path: "spec.storageClassName", To: object.StorageClass, While: "status.phase=Pending", Label: "storageClassName", When: report.BreaksNextReconcile, Effect: "it stays Pending"},
	{User: object.PVC, Path: "spec.dataSource", Name: "name", To: object.PVC, Or: []object.Kind{volumeSnapshot}, While: "status.phase=Pending", Label: "dataSource", When: report.BreaksNextReconcile, Effect: "it stays Pending"},
	{User: object.PVC, Path: "spec.dataSourceRef", Name: "name", To: object.PVC, Or: []object.Kind{volumeSnapshot}, While: "status.phase=Pending", Label: "dataSource", When: report.BreaksNextReconcile, Effect: "it stays Pending"},
	{User: object.PVC, Path: "spec.volumeName", To: object.PV, Label: "volumeName", When: report.BreaksNow, Effect: "it is Lost"},
	{User: object.PV, Path: "spec.storageClassName", To: object.StorageClass, Label: "storageClassName", When: report.BreaksNever},
	{User: object.PV, Path: "spec.csi.driver", To: csiDriver, Defaults: true, Label: "driver", When: report.BreaksNextStart, Effect: "it is attached and mounted with the defaults of a driver without settings"},
	{User: object.PV, Path: "spec.csi.nodeStageSecretRef", Name: "name", To: secret, Label: "nodeStageSecretRef", When: report.BreaksNextStart, Effect: "it cannot be mounted"},
	{User: object.PV, Path: "spec.csi.nodePublishSecretRef", Name: "name", To: secret, Label: "nodePublishSecretRef", When: report.BreaksNextStart, Effect: "it cannot be mounted"},
	{User: object.PV, Path: "spec.csi.controllerPublishSecretRef", Name: "name", To: secret, Label: "controllerPublishSecretRef", When: report.BreaksNextStart, Effect: "it cannot be attached"},
	{User: object.PV, Path: "spec.csi.controllerExpandSecretRef", Name: "name", To: secret, Label: "controllerExpandSecretRef", When: report.BreaksNextReconcile, Effect: "it cannot be resized"},

	{User: object.PVC, Path: "spec.volumeAttributesClassName", To: attributesClass, Label: "volumeAttributesClassName", When: report.BreaksNextReconcile, Effect: "its attributes are not changed any more"},

	{User: object.StorageClass, Path: "provisioner", To: csiDriver, Label: "provisioner", When: report.BreaksNever},
	{User: SnapshotClass, Path: "driver", To: csiDriver, Label: "driver", When: report.BreaksNever},
	{User: volumeSnapshot, Path: "spec.source.persistentVolumeClaimName", To: object.PVC, While: snapshotUnbound, Label: "source", When: report.BreaksNextReconcile, Effect: "it is not taken"},
	{User: volumeSnapshot, Path: "spec.volumeSnapshotClassName", To: SnapshotClass, While: snapshotUnbound, Label: "volumeSnapshotClassName", When: report.BreaksNextReconcile, Effect: "it is not taken"},
	{User: snapshotContent, Path: "spec.volumeSnapshotRef", Name: "name", To: volumeSnapshot, Label: "volumeSnapshotRef", When: report.BreaksNever},
	{User: snapshotContent, Path: "spec.volumeSnapshotClassName", To: SnapshotClass, Label: "volumeSnapshotClassName", When: report.BreaksNever},
	{User: storageCapacity, Path: "storageClassName", To: object.StorageClass, Label: "storageClassName", When: report.BreaksNever},
	{User: object.CSINode, Path: "spec.drivers[].name", To: csiDriver, Label: "drivers", When: report.BreaksNever},
	{User: object.VolumeAttachment, Path: "spec.attacher", To: csiDriver, Label: "attacher", When: report.BreaksNever},
	{User: object.VolumeAttachment, Path: "spec.nodeName", To: object.Node, Label: "nodeName", When: report.BreaksNever},

	{User: service, Path: "spec.externalName", To: service, Host: true, Inexact: true, Label: "externalName", When: report.BreaksNow, Effect: "its name leads nowhere"},
	{User: service, Path: "spec.selector", To: object.Pod, Selects: true, Label: "selector", When: report.BreaksNow, Effect: "no pods are left"},
	{User: NetworkPolicy, Path: "spec.podSelector", To: object.Pod, Selects: true, SelectsAll: true, Label: "podSelector", When: report.BreaksNever},
	{User: Ingress, Path: "spec.rules[].http.paths[].backend.service", Name: "name", To: service, Label: "backend", Backend: true, When: report.BreaksNextReconcile, Effect: "no backend"},
	{User: Ingress, Path: "spec.rules[].http.paths[].backend.serviceName", To: service, Label: "backend", Backend: true, When: report.BreaksNextReconcile, Effect: "no backend"},
	{User: Ingress, Path: "spec.defaultBackend.service", Name: "name", To: service, Label: "defaultBackend", Backend: true, When: report.BreaksNextReconcile, Effect: "no default backend"},
	{User: Ingress, Path: "spec.rules[].http.paths[].backend.resource", Name: "name", Or: []object.Kind{}, Any: true, Label: "backend", When: report.BreaksNextReconcile, Effect: "no backend"},
	{User: Ingress, Path: "spec.defaultBackend.resource", Name: "name", Or: []object.Kind{}, Any: true, Label: "defaultBackend", When: report.BreaksNextReconcile, Effect: "no default backend"},
	{User: IngressClass, Path: "spec.parameters", Name: "name", Or: []object.Kind{}, Any: true, Label: "parameters", When: report.BreaksNextReconcile, Effect: "its parameters are missing"},
	{User: Ingress, Path: "spec.tls[].secretName", To: secret, Label: "tls", When: report.BreaksNextReconcile, Effect: "no TLS certificate"},
	{User: Ingress, Path: "spec.ingressClassName", To: IngressClass, Label: "ingressClassName", When: report.BreaksNextReconcile, Effect: "no controller serves it"},
	{User: scaler, Path: "spec.scaleTargetRef", Name: "name", To: object.Deployment, Or: []object.Kind{object.StatefulSet, object.ReplicaSet, rollout}, Label: "scaleTargetRef", When: report.BreaksNextReconcile, Effect: "it has nothing to scale"},
	{User: scaler, Path: "spec.metrics[].type", Names: metricsAPIs, To: object.APIService, Label: "metrics", When: report.BreaksNextReconcile, Effect: "it does not scale"},
	{User: scaler, Path: "spec.targetCPUUtilizationPercentage", Names: map[string][]string{"": metricsAPIs["Resource"]}, To: object.APIService, Label: "metrics", When: report.BreaksNextReconcile, Effect: "it does not scale"},

	{User: object.ServiceAccount, Path: "secrets[]", Name: "name", To: secret, Label: "secrets", When: report.BreaksNever},
	{User: object.ServiceAccount, Path: "imagePullSecrets[]", Name: "name", To: secret, Label: "imagePullSecrets", When: report.BreaksNextStart, Effect: "images of new pods are not pulled"},
	{User: object.RoleBinding, Path: "roleRef", Name: "name", To: object.Role, Or: []object.Kind{clusterRole}, Label: "roleRef", When: report.BreaksNow, Effect: "its subjects lose these permissions"},
	{User: object.ClusterRoleBinding, Path: "roleRef", Name: "name", To: clusterRole, Or: []object.Kind{}, Label: "roleRef", When: report.BreaksNow, Effect: "its subjects lose these permissions"},
	{User: object.RoleBinding, Path: "subjects[]", Name: "name", To: object.ServiceAccount, Or: []object.Kind{}, Label: "subjects", When: report.BreaksNever},
	{User: object.ClusterRoleBinding, Path: "subjects[]", Name: "name", To: object.ServiceAccount, Or: []object.Kind{}, Label: "subjects", When: report.BreaksNever},
	{User: object.VolumeAttachment, Path: "spec.source.persistentVolumeName", To: object.PV, Label: "source", When: report.BreaksNextReconcile, Effect: "it cannot be detached"},
	{User: flowSchema, Path: "spec.priorityLevelConfiguration", Name: "name", To: priorityLevel, Label: "priorityLevelConfiguration", When: report.BreaksNow, Effect: "it is ignored, and its requests belong to the next one that matches"},
	{User: object.ValidatingAdmissionPolicyBinding, Path: "spec.policyName", To: object.ValidatingAdmissionPolicy, Label: "policyName", When: report.BreaksNow, Effect: "nothing is checked any more"},
})

// metricsAPIs has the APIs that an autoscaler reads for a type of metrics: one, or any of them.
//
// Source: kubernetes, pkg/controller/podautoscaler/metrics/client.go; metrics, pkg/client/custom_metrics/discovery.go.
var metricsAPIs = map[string][]string{
	"Resource":          {"v1beta1.metrics.k8s.io"},
	"ContainerResource": {"v1beta1.metrics.k8s.io"},
	"Pods":              {"v1beta2.custom.metrics.k8s.io", "v1beta1.custom.metrics.k8s.io"},
	"Object":            {"v1beta2.custom.metrics.k8s.io", "v1beta1.custom.metrics.k8s.io"},
	"External":          {"v1beta1.external.metrics.k8s.io"},
}

// deviceRules are the rules for the device classes of claims and of their templates.
func deviceRules() []Rule {
	var list []Rule
	for _, r := range []Rule{
		{User: object.ResourceClaim, Path: "spec.", Effect: "it is not allocated again, and new pods that use it stay Pending"},
		{User: claimTemplate, Path: "spec.spec.", Effect: "running pods go on, new ones stay Pending"},
	} {
		for _, field := range []string{"deviceClassName", "exactly.deviceClassName", "firstAvailable[].deviceClassName"} {
			one := r
			one.Path += "devices.requests[]." + field
			one.To, one.Label, one.When = deviceClass, "deviceClassName", report.BreaksNextStart
			list = append(list, one)
		}
	}
	return list
}
