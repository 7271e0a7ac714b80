package audit

// controllers are the service accounts of Kubernetes' controllers in kube-system.
var controllers = map[string]bool{
	"attachdetach-controller": true, "bootstrap-signer": true, "certificate-controller": true, "cloud-controller-manager": true,
	"clusterrole-aggregation-controller": true, "cronjob-controller": true, "daemon-set-controller": true,
	"deployment-controller": true, "device-taint-eviction-controller": true, "disruption-controller": true,
	"endpoint-controller": true, "endpointslice-controller": true, "endpointslicemirroring-controller": true,
	"ephemeral-volume-controller": true, "expand-controller": true, GarbageCollector: true, "horizontal-pod-autoscaler": true,
	"job-controller": true, "kube-apiserver-serving-clustertrustbundle-publisher": true,
	"legacy-service-account-token-cleaner": true, NamespaceController: true, "node-controller": true,
	"persistent-volume-binder": true, "pod-garbage-collector": true, "podcertificaterequestcleaner": true,
	"podgroup-protection-controller": true, "pv-protection-controller": true, "pvc-protection-controller": true,
	"replicaset-controller": true, "replication-controller": true, "resource-claim-controller": true,
	"resourcepoolstatusrequest-controller": true, "resourcequota-controller": true, "root-ca-cert-publisher": true,
	"route-controller": true, "selinux-warning-controller": true, "service-account-controller": true,
	"service-cidrs-controller": true, "service-controller": true, "statefulset-controller": true,
	"storage-version-garbage-collector": true, "storage-version-migrator-controller": true, "taint-eviction-controller": true,
	"token-cleaner": true, "tokens-controller": true, "ttl-after-finished-controller": true, "ttl-controller": true,
	"validatingadmissionpolicy-status-controller": true, "volumeattributesclass-protection-controller": true,
}

// The controllers that send most deletes.
const (
	GarbageCollector    = "generic-garbage-collector"
	NamespaceController = "namespace-controller"
)
