package uses

import (
	"cmp"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// The kinds of operators that several rules name.
var (
	ingressRouteTCP = kindOf(traefik, "v1alpha1", "IngressRouteTCP", "ingressroutetcps", true)
	ingressRouteUDP = kindOf(traefik, "v1alpha1", "IngressRouteUDP", "ingressrouteudps", true)
	bgpPeer         = kindOf(metalLB, "v1beta2", "BGPPeer", "bgppeers", true)
	volcanoQueue    = kindOf("scheduling.volcano.sh", "v1beta1", "Queue", "queues", false)
	minioTenant     = kindOf("minio.min.io", "v2", "Tenant", "tenants", true)
	mongoPercona    = kindOf("psmdb.percona.com", "v1", "PerconaServerMongoDB", "perconaservermongodbs", true)
	scyllaCluster   = kindOf("scylla.scylladb.com", "v1", "ScyllaCluster", "scyllaclusters", true)
	shoot           = kindOf(gardener, "v1beta1", "Shoot", "shoots", true)
	tektonTrigger   = kindOf(triggers, "v1beta1", "Trigger", "triggers", true)
	controlPlane    = kindOf("kamaji.clastix.io", "v1alpha1", "TenantControlPlane", "tenantcontrolplanes", true)
	dataStore       = kindOf("kamaji.clastix.io", "v1alpha1", "DataStore", "datastores", false)
	harborCluster   = kindOf("goharbor.io", "v1beta1", "HarborCluster", "harborclusters", true)
)

const (
	gardener      = "core.gardener.cloud"
	queueName     = "kueue.x-k8s.io/queue-name"
	notReconciled = "it is not reconciled"
	queued        = "its pods that are not running wait"
	lostAddress   = "it loses its address, unless another pool has it"
)

// operatorRules are the rules for fields that the rules of other files and guesses do not find: they have neither
// the name of a kind nor a usual one.
//
// Source: doc.traefik.io/traefik/reference/routing-configuration/kubernetes/crd: IngressRouteTCP, IngressRouteUDP,
// TLSOption, ServersTransport.
// Source: metallb.universe.tf/apis: BGPPeer.bfdProfile, BGPAdvertisement.peers; metallb, internal/allocator/allocator.go
// Allocator.SetPools: an address that no pool has any more is taken from its Service.
// Source: cluster-api, api/core/v1beta2/cluster_types.go Topology: classRef; in v1beta1 class and classNamespace.
// Source: volcano, pkg/webhooks/admission/queues/validate/validate_queue.go validateQueueDeleting: parent.
// Source: docs.cilium.io, BGP Control Plane resources: peerConfigRef.
// Source: volcano.sh/en/docs: vcjob, podgroup (queue).
// Source: kueue.sigs.k8s.io/docs/reference: admissionChecks, topologyName; /docs/tasks/run: queue-name; kueue,
// pkg/cache/scheduler/clusterqueue.go inactiveReason: topologies count unless other clusters run the workloads.
// Source: argo-rollouts.readthedocs.io/en/stable/features/specification: trafficRouting.
// Source: github.com/minio/operator, docs/tenant_crd.adoc: configuration, users.
// Source: docs.percona.com/percona-operator-for-mongodb/operator.html: secrets; percona-server-mongodb-operator,
// pkg/controller/perconaservermongodb/secrets.go reconcileUsersSecret, psmdb_controller.go ensureSecurityKeys: it makes
// missing ones.
// Source: operator.docs.scylladb.com, ScyllaCluster: scyllaConfig, scyllaAgentConfig.
// Source: harbor-operator, apis/goharbor.io/v1beta1/harborcluster_types.go: harborAdminPasswordRef, certificateRef.
// Source: tekton.dev/docs/triggers/triggers: template, bindings.
// Source: gardener.cloud/docs/gardener/api-reference/core: ShootSpec.secretBindingName, credentialsBindingName.
// Source: longhorn-manager, k8s/pkg/apis/longhorn/v1beta2/volume.go: VolumeSpec.BackingImage.
// Source: ranchermanager.docs.rancher.com, RKE2 Cluster Configuration Reference: cloudCredentialSecretName is
// NAMESPACE:NAME.
// Source: kamaji.clastix.io/reference/api: TenantControlPlane.dataStore.
// Source: baremetal-operator, apis/metal3.io/v1alpha1/baremetalhost_types.go: BMCDetails.CredentialsName.
// Source: mongodb-kubernetes, api/v1/mdb/mongodb_types.go: ConnectionSpec.Credentials.
var operatorRules = []Rule{
	{User: ingressRoute, Path: "spec.routes[].services[]", Name: "serversTransport", To: kindOf(traefik, "v1alpha1", "ServersTransport", "serverstransports", true), Inexact: true, Label: "serversTransport", Effect: "the route is not served"},
	{User: ingressRoute, Path: "spec.tls.options", Name: "name", To: kindOf(traefik, "v1alpha1", "TLSOption", "tlsoptions", true), Label: "options", Effect: "the route is not served"},
	{User: ingressRouteTCP, Path: "spec.routes[].services[]", Name: "name", To: service, Label: "services", Backend: true, Effect: "no backend"},
	{User: ingressRouteTCP, Path: "spec.tls.secretName", To: secret, Label: "tls", Effect: "no TLS certificate"},
	{User: ingressRouteUDP, Path: "spec.routes[].services[]", Name: "name", To: service, Label: "services", Backend: true, Effect: "no backend"},

	{User: bgpPeer, Path: "spec.bfdProfile", To: kindOf(metalLB, "v1beta1", "BFDProfile", "bfdprofiles", true), Label: "bfdProfile", Effect: "new settings of MetalLB are not applied"},
	{User: bgpAdvertisement, Path: "spec.peers[]", To: bgpPeer, Label: "peers", Effect: "it is not advertised to that peer"},
	{User: service, Path: annotation("metallb.io/ip-allocated-from-pool"), To: addressPool, Several: inMetalLB, Inexact: true, Label: "address pool", Effect: lostAddress},
	{User: service, Path: annotation("metallb.universe.tf/ip-allocated-from-pool"), To: addressPool, Several: inMetalLB, Inexact: true, Label: "address pool", Effect: lostAddress},
	{
		User: kindOf("cilium.io", "v2", "CiliumBGPClusterConfig", "ciliumbgpclusterconfigs", false), Path: "spec.bgpInstances[].peers[].peerConfigRef", Name: "name",
		To: kindOf("cilium.io", "v2", "CiliumBGPPeerConfig", "ciliumbgppeerconfigs", false), Label: "peerConfigRef", Effect: "it peers with the default settings, and advertises nothing",
	},

	{User: object.CAPICluster, Path: "spec.topology", To: kindOf(object.CAPICluster.Group, "v1beta1", "ClusterClass", "clusterclasses", true), Several: classOf, Elsewhere: true, Label: "topology", Effect: notReconciled},
	{User: volcanoQueue, Path: "spec.parent", To: volcanoQueue, Inexact: true, Label: "parent", Effect: queued},
	{User: kindOf("batch.volcano.sh", "v1alpha1", "Job", "jobs", true), Path: "spec.queue", To: volcanoQueue, Inexact: true, Label: "queue", Effect: queued},
	{User: kindOf("scheduling.volcano.sh", "v1beta1", "PodGroup", "podgroups", true), Path: "spec.queue", To: volcanoQueue, Inexact: true, Label: "queue", Effect: queued},
	{User: clusterQueue, Path: "spec.admissionChecks[]", To: kindOf(kueue, "v1beta1", "AdmissionCheck", "admissionchecks", false), Label: "admissionChecks", Effect: "it admits no workloads"},
	{User: clusterQueue, Path: "spec.admissionChecksStrategy.admissionChecks[]", Name: "name", To: kindOf(kueue, "v1beta1", "AdmissionCheck", "admissionchecks", false), Label: "admissionChecks", Effect: "it admits no workloads"},
	{User: resourceFlavor, Path: "spec.topologyName", To: kindOf(kueue, "v1alpha1", "Topology", "topologies", false), Inexact: true, Label: "topologyName", Effect: "queues with this flavor admit no workloads"},
	{User: object.Job, Path: label(queueName), To: localQueue, Inexact: true, Label: "queue-name", Effect: "it waits unless it is admitted already"},
	{User: jobSet, Path: label(queueName), To: localQueue, Inexact: true, Label: "queue-name", Effect: "it waits unless it is admitted already"},
	{User: rayCluster, Path: label(queueName), To: localQueue, Inexact: true, Label: "queue-name", Effect: "it waits unless it is admitted already"},
	{User: rollout, Path: "spec.strategy.canary.trafficRouting.nginx.stableIngress", To: Ingress, Label: "stableIngress", Effect: notReconciled},
	{User: rollout, Path: "spec.strategy.canary.trafficRouting.nginx.stableIngresses[]", To: Ingress, Label: "stableIngresses", Effect: notReconciled},
	{User: rollout, Path: "spec.strategy.canary.trafficRouting.alb.ingress", To: Ingress, Label: "ingress", Effect: notReconciled},
	{User: rollout, Path: "spec.strategy.canary.trafficRouting.alb.ingresses[]", To: Ingress, Label: "ingresses", Effect: notReconciled},
	{User: rollout, Path: "spec.strategy.canary.trafficRouting.istio.virtualService", Name: "name", To: virtualService, Label: "virtualService", Effect: notReconciled},
	{User: rollout, Path: "spec.strategy.canary.trafficRouting.istio.virtualServices[]", Name: "name", To: virtualService, Label: "virtualServices", Effect: notReconciled},
	{User: rollout, Path: "spec.strategy.canary.trafficRouting.istio.destinationRule", Name: "name", To: destinationRule, Label: "destinationRule", Effect: "rollouts fail"},

	{User: minioTenant, Path: "spec.configuration", Name: "name", To: secret, Label: "configuration", When: report.BreaksNextStart, Effect: newPodsWait},
	{User: minioTenant, Path: "spec.users[]", Name: "name", To: secret, Label: "users", Effect: notReconciled},
	{User: mongoPercona, Path: "spec.secrets.users", To: secret, Inexact: true, Created: true, Label: "users", Effect: "it gets other passwords"},
	{User: mongoPercona, Path: "spec.secrets.encryptionKey", To: secret, Inexact: true, Created: true, Label: "encryptionKey", When: report.BreaksNextStart, Effect: "with another key its data cannot be read"},
	{User: mongoPercona, Path: "spec.secrets.keyFile", To: secret, Inexact: true, Created: true, Label: "keyFile", When: report.BreaksNextStart, Effect: "with another key its members do not trust each other"},
	{User: scyllaCluster, Path: "spec.datacenter.racks[].scyllaConfig", To: configMap, Label: "scyllaConfig", When: report.BreaksNever},
	{User: scyllaCluster, Path: "spec.datacenter.racks[].scyllaAgentConfig", To: secret, Label: "scyllaAgentConfig", When: report.BreaksNever},
	{User: harborCluster, Path: "spec.harborAdminPasswordRef", To: secret, Label: "harborAdminPasswordRef", Effect: notReconciled},
	{User: harborCluster, Path: "spec.expose.core.tls.certificateRef", To: secret, Label: "certificateRef", Effect: "no TLS certificate"},
	{User: controlPlane, Path: "spec.dataStore", To: dataStore, Label: "dataStore", Effect: notReconciled},
	{User: controlPlane, Path: "status.storage.dataStoreName", To: dataStore, Label: "dataStoreName", Effect: notReconciled},
	{User: tektonTrigger, Path: "spec.template.ref", To: triggerTemplate, Label: "template", Effect: "its events start nothing"},
	{User: tektonTrigger, Path: "spec.bindings[]", Name: "ref", To: triggerBinding, Or: []object.Kind{clusterTriggerBinding}, Label: "bindings", Effect: "its events start nothing"},
	{User: shoot, Path: "spec.secretBindingName", To: kindOf(gardener, "v1beta1", "SecretBinding", "secretbindings", true), Label: "secretBindingName", Effect: "it is neither updated nor deleted in the cloud"},
	{User: shoot, Path: "spec.credentialsBindingName", To: kindOf("security.gardener.cloud", "v1alpha1", "CredentialsBinding", "credentialsbindings", true), Label: "credentialsBindingName", Effect: "it is neither updated nor deleted in the cloud"},
	{User: longhornVolume, Path: "spec.backingImage", To: kindOf("longhorn.io", "v1beta2", "BackingImage", "backingimages", true), Label: "backingImage", When: report.BreaksNow, Effect: "its data is on top of it"},
	{User: kindOf(kueue, "v1beta1", "Workload", "workloads", true), Path: "spec.queueName", To: localQueue, Label: "queueName", Inexact: true, Effect: "it waits unless it is admitted already"},
	{User: kindOf("provisioning.cattle.io", "v1", "Cluster", "clusters", true), Path: "spec.cloudCredentialSecretName", To: secret, Several: ofRancher, Label: "cloudCredentialSecretName", Effect: "its machines are neither created nor deleted"},
	{User: kindOf("metal3.io", "v1alpha1", "BareMetalHost", "baremetalhosts", true), Path: "spec.bmc.credentialsName", To: secret, Label: "credentialsName", Effect: "it cannot be powered or deprovisioned"},
	{User: kindOf("mongodb.com", "v1", "MongoDB", "mongodb", true), Path: "spec.credentials", To: secret, Label: "credentials", Effect: notReconciled},
}

// inMetalLB returns the name of an object in the namespace in which MetalLB is installed by default.
func inMetalLB(_ string, value any) []string {
	name, _ := value.(string)
	return []string{"metallb-system/" + name}
}

// classOf returns the ClusterClass in the topology of a Cluster.
func classOf(own string, value any) []string {
	m, _ := value.(map[string]any)
	name, _ := m["class"].(string)
	namespace, _ := m["classNamespace"].(string)
	if ref, _ := m["classRef"].(map[string]any); ref != nil {
		name, _ = ref["name"].(string)
		namespace, _ = ref["namespace"].(string)
	}
	if name == "" {
		return nil
	}
	return []string{cmp.Or(namespace, own) + "/" + name}
}

// ofRancher returns the name in a value such as cattle-global-data:cc-1.
func ofRancher(_ string, value any) []string {
	name, _ := value.(string)
	return []string{strings.Replace(name, ":", "/", 1)}
}
