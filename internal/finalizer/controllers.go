package finalizer

import (
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Controller is a controller of the table with the names of its programs.
type Controller struct {
	// Name is the RemovedBy of its entries in the table.
	Name string
	// Of limits the entry to a kind, such as `HelmRelease`, or an API group, such as
	// `helm.toolkit.fluxcd.io`, if several programs share the work of the controller. Empty for all
	// kinds.
	Of string
	// Programs are the names of its workloads, service accounts, images and labels. `cert-manager`
	// also matches `prod-cert-manager` and `cert-manager-controller`. A `*` matches any text.
	Programs []string
}

// kindSuffixes are words that installations append to the name of a controller.
var kindSuffixes = []string{"controller-manager", "controllers", "controller", "operator", "manager", "server"}

// IsCalled reports whether one of the names belongs to the controller.
func (c *Controller) IsCalled(names []string) bool {
	return slices.ContainsFunc(c.Programs, func(program string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return calls(program, strings.ToLower(name)) })
	})
}

// calls reports whether a name belongs to a program: it ends with the program's name, perhaps
// followed by a kindSuffix, and any prefix ends with a hyphen.
func calls(program, name string) bool {
	if strings.Contains(program, "*") {
		return fits(program, name)
	}
	for {
		at := strings.LastIndex(name, program)
		if at < 0 {
			return false
		}
		if before, after := name[:at], name[at+len(program):]; before == "" || strings.HasSuffix(before, "-") {
			kind, added := strings.CutPrefix(after, "-")
			if after == "" || added && slices.Contains(kindSuffixes, kind) {
				return true
			}
		}
		name = name[:at]
	}
}

// ControllersOf returns the programs that remove a known finalizer from an object; empty if their
// names aren't known.
func ControllersOf(k Known, o *object.Object) []*Controller {
	var found []*Controller
	for n := range controllers {
		if c := &controllers[n]; c.Name == k.RemovedBy && (c.Of == "" || c.Of == o.Kind || c.Of == o.Group()) {
			found = append(found, c)
		}
	}
	return found
}

// Recognize returns the controller of the table that has one of the names; nil if there is none. It
// ignores patterns, since many programs may match them.
func Recognize(names []string) *Controller {
	for n := range controllers {
		c := controllers[n]
		c.Programs = slices.DeleteFunc(slices.Clone(c.Programs), func(p string) bool { return strings.Contains(p, "*") })
		if c.IsCalled(names) {
			return &controllers[n]
		}
	}
	return nil
}

// siblings are programs of projects of the table that may write all kinds of their project, but remove none
// of the finalizers of its other programs. After the delete of a Kafka cluster its topics are left without
// their topic operator, while the cluster operator still runs.
var siblings = Controller{Programs: []string{
	"strimzi-cluster-operator", "argocd-server", "argo-cd-server", "openshift-gitops-server", "argocd-repo-server", "argocd-notifications-controller",
	"argo-server", "argo-workflows-server", "tekton-pipelines-controller", "tekton-pipelines-webhook", "tekton-triggers-controller", "tekton-dashboard",
	"virt-operator", "virt-api", "virt-handler", "cert-manager-webhook", "cert-manager-cainjector", "crossplane-rbac-manager",
	"image-reflector-controller", "image-automation-controller", "notification-controller",
	"longhorn-ui", "longhorn-csi-plugin", "engine-image-ei-*", "instance-manager-*",
}}

// IsOther reports whether one of the names belongs to a program that is known, and is none of the controllers.
func IsOther(controllers []*Controller, names []string) bool {
	return !slices.ContainsFunc(controllers, func(c *Controller) bool { return c.IsCalled(names) }) && (Recognize(names) != nil || siblings.IsCalled(names))
}

// Controllers returns the table.
func Controllers() []Controller { return slices.Clone(controllers) }

// controllers are the controllers of the table with the names of their documented installations.
// Controllers that can have any name, such as operators made with a framework, are not listed.
var controllers = []Controller{
	{"the implementation of the gateway", "", []string{"envoy-gateway", "istiod", "cilium-operator", "nginx-gateway", "nginx-gateway-fabric", "kong-ingress", "gateway-operator", "traefik", "contour", "contour-gateway-provisioner", "haproxy-kubernetes-gateway", "kgateway", "gloo", "aws-gateway-api-controller"}},
	{"the cloud controller manager", "", []string{"cloud-controller-manager", "yc-cloud-controller"}},
	{"the ACK controller of the service", "", []string{"ack-*-controller*", "*-ack-*-controller*"}},
	{"the ACK controller", "", []string{"ack-*-controller*", "*-ack-*-controller*"}},
	{"the AWS load balancer controller", "", []string{"aws-load-balancer-controller"}},
	{"the network policy controller of EKS", "", []string{"amazon-network-policy-controller-k8s"}},
	{"the VPC resource controller of EKS", "", []string{"vpc-resource-controller", "amazon-vpc-resource-controller-k8s"}},
	{"the AWS Gateway API controller", "", []string{"aws-gateway-api-controller", "gateway-api-controller", "aws-application-networking-controller"}},
	{"Azure Service Operator", "", []string{"azureserviceoperator", "azure-service-operator"}},
	{"the ALB controller of Azure", "", []string{"alb-controller"}},
	{"the Azure disk CSI driver", "", []string{"csi-azuredisk-controller", "azuredisk-csi"}},
	{"Config Connector", "", []string{"cnrm-controller-manager", "cnrm-deletiondefender"}},
	{"the operator of Config Connector", "", []string{"configconnector-operator"}},
	{"the GKE ingress controller", "", []string{"glbc", "l7-lb-controller", "ingress-gce"}},
	{"the GKE NEG controller", "", []string{"glbc", "ingress-gce"}},
	{"the GKE load balancer controller", "", []string{"glbc", "ingress-gce"}},
	{"the Alibaba cloud controller manager", "", []string{"cloud-controller-manager"}},
	{"the OCI native ingress controller", "", []string{"oci-native-ingress-controller"}},
	{"the SAP BTP service operator", "", []string{"sap-btp-operator", "sap-btp-service-operator"}},
	{"the MongoDB Atlas operator", "", []string{"mongodb-atlas-operator", "mongodb-atlas-kubernetes-operator"}},
	{"the Crossplane provider", "", []string{"provider-*", "upbound-provider-*", "crossplane-contrib-provider-*"}},
	{"Crossplane", "", []string{"crossplane"}},
	{"the Kubernetes provider of Crossplane", "", []string{"provider-kubernetes*", "upbound-provider-kubernetes*", "crossplane-contrib-provider-kubernetes*"}},
	{"Karpenter", "", []string{"karpenter"}},
	{"the App Mesh controller", "", []string{"appmesh-controller"}},
	{"the vSphere CSI driver", "", []string{"vsphere-csi-controller", "vsphere-syncer"}},
	{"the MySQL operator of Oracle", "", []string{"mysql-operator"}},
	{"the infrastructure provider of Cluster API", "", []string{"cap*-controller-manager", "cluster-api-provider-*"}},
	{"the control plane provider of Cluster API", "", []string{"cap*-controller-manager", "*-control-plane-controller-manager", "cluster-api-*-provider-*", "kamaji"}},
	{"Cluster API", "", []string{"capi-controller-manager", "capi-kubeadm-control-plane-controller-manager", "capi-kubeadm-bootstrap-controller-manager", "cluster-api"}},
	{"the RKE2 provider of Cluster API", "", []string{"rke2-control-plane-controller-manager", "rke2-bootstrap-controller-manager"}},
	{"the AWS provider of Cluster API", "", []string{"capa-controller-manager", "cluster-api-provider-aws"}},
	{"the Cluster API operator", "", []string{"capi-operator", "cluster-api-operator"}},
	{"the Azure provider of Cluster API", "", []string{"capz-controller-manager", "cluster-api-provider-azure"}},
	{"the GCP provider of Cluster API", "", []string{"capg-controller-manager", "cluster-api-provider-gcp"}},
	{"the vSphere provider of Cluster API", "", []string{"capv-controller-manager", "cluster-api-provider-vsphere"}},
	{"the vCluster provider of Cluster API", "", []string{"cluster-api-provider-vcluster"}},
	{"the OpenStack provider of Cluster API", "", []string{"capo-controller-manager", "cluster-api-provider-openstack"}},
	{"the IBM provider of Cluster API", "", []string{"capibm-controller-manager", "cluster-api-provider-ibmcloud"}},
	{"the Nutanix provider of Cluster API", "", []string{"capx-controller-manager", "cluster-api-provider-nutanix"}},
	{"the Proxmox provider of Cluster API", "", []string{"capmox-controller-manager", "cluster-api-provider-proxmox"}},
	{"the KubeVirt provider of Cluster API", "", []string{"capk-controller-manager", "cluster-api-provider-kubevirt"}},
	{"the Docker provider of Cluster API", "", []string{"capd-controller-manager", "cluster-api-provider-docker"}},
	{"the Hetzner provider of Cluster API", "", []string{"caph-controller-manager", "cluster-api-provider-hetzner"}},
	{"the address provider of Cluster API", "", []string{"caip-in-cluster-controller-manager", "capi-ipam-in-cluster-controller-manager", "cluster-api-ipam-provider-in-cluster"}},
	{"the bare metal operator of Metal3", "", []string{"baremetal-operator", "metal3-baremetal-operator"}},
	{"the Metal3 provider of Cluster API", "", []string{"capm3-controller-manager", "cluster-api-provider-metal3"}},
	{"the address manager of Metal3", "", []string{"ipam-controller-manager", "metal3-ipam-controller-manager"}},
	{"the machine API of OpenShift", "", []string{"machine-api-controllers"}},
	{"the machine controller manager of Gardener", "", []string{"machine-controller-manager"}},
	{"the machine controller of Gardener", "", []string{"machine-controller-manager", "machine-controller-manager-provider-*"}},
	{"the machine controller of Kubermatic", "", []string{"machine-controller"}},
	{"the Tigera operator", "", []string{"tigera-operator"}},
	{"Kube-OVN", "", []string{"kube-ovn-controller"}},
	{"OVN-Kubernetes", "", []string{"ovnkube-cluster-manager", "ovnkube-control-plane", "ovnkube-master", "ovnkube-controller"}},
	{"the SR-IOV network operator", "", []string{"sriov-network-operator"}},
	{"Spiderpool", "", []string{"spiderpool"}},
	{"the cloud network config controller of OpenShift", "", []string{"cloud-network-config-controller"}},
	{"the Kong operator", "", []string{"gateway-operator", "kong-operator"}},
	{"the operator of Avi Kubernetes", "", []string{"ako-operator"}},
	{"Consul on Kubernetes", "", []string{"consul-connect-injector", "consul-controller", "consul-k8s-control-plane"}},
	{"the API gateway of Consul", "", []string{"consul-api-gateway", "consul-connect-injector"}},
	{"the Tailscale operator", "", []string{"tailscale-operator", "tailscale"}},
	{"the ngrok operator", "", []string{"ngrok-operator", "ngrok-ingress-controller", "kubernetes-ingress-controller"}},
	{"the Cloudflare operator", "", []string{"cloudflare-operator"}},
	{"the Sail operator", "", []string{"sail-operator", "servicemesh-operator3"}},
	{"Kubewarden", "", []string{"kubewarden"}},
	{"the operator of Dell CSM", "", []string{"dell-csm-operator"}},
	{"the Operand Deployment Lifecycle Manager of IBM", "", []string{"operand-deployment-lifecycle-manager"}},
	{"the Helm add-on provider of Cluster API", "", []string{"caaph-controller-manager", "cluster-api-addon-provider-helm"}},
	{"the Splunk operator", "", []string{"splunk-operator"}},
	{"the Druid operator", "", []string{"druid-operator"}},
	{"the Humio operator", "", []string{"humio-operator"}},
	{"Confluent for Kubernetes", "", []string{"confluent-operator", "confluent-for-kubernetes"}},
	{"the Infinispan operator", "", []string{"infinispan-operator"}},
	{"Fluid", "", []string{"dataset-controller", "fluid"}},
	{"Stork", "", []string{"stork"}},
	{"the operator of Istio", "", []string{"istio-operator"}},
	{"the operator of OpenShift Service Mesh", "", []string{"istio-operator"}},
	{"the operator of Kiali", "", []string{"kiali-operator"}},
	{"the CSI driver's external-provisioner", "", []string{"csi-provisioner", "external-provisioner"}},
	{"the CSI driver's external-attacher", "", []string{"csi-attacher", "external-attacher"}},
	{"the snapshot controller", "", []string{"snapshot-controller", "csi-snapshot-controller"}},
	{"the CSI driver's external-snapshotter", "", []string{"csi-snapshotter", "external-snapshotter"}},
	{"the controller of CSI add-ons", "", []string{"csi-addons-controller-manager"}},
	{"the provisioner of the bucket", "", []string{"rook-ceph-operator", "noobaa-operator"}},
	{"the object storage controllers (COSI)", "", []string{"objectstorage-controller", "container-object-storage-controller", "objectstorage-sidecar"}},
	{"Rook", "", []string{"rook-ceph-operator"}},
	{"OpenShift Data Foundation", "", []string{"ocs-operator"}},
	{"NooBaa", "", []string{"noobaa-operator", "noobaa-core"}},
	{"Longhorn", "", []string{"longhorn-manager", "longhorn-driver-deployer"}},
	{"Trident", "", []string{"trident-controller", "trident-main", "trident-csi"}},
	{"cStor of OpenEBS", "", []string{"cspc-operator", "cvc-operator", "cstor-pool-manager"}},
	{"the disk manager of OpenEBS", "", []string{"ndm-operator", "node-disk-operator"}},
	{"Mayastor of OpenEBS", "", []string{"operator-diskpool"}},
	{"the ZFS driver of OpenEBS", "", []string{"zfs-driver", "openebs-zfs-node", "openebs-zfs-controller", "zfs-localpv-node"}},
	{"the LVM driver of OpenEBS", "", []string{"lvm-driver", "openebs-lvm-node", "openebs-lvm-controller", "lvm-localpv-node"}},
	{"TopoLVM", "", []string{"topolvm-node", "topolvm-controller"}},
	{"the Piraeus operator", "", []string{"piraeus-operator"}},
	{"the JuiceFS CSI driver", "", []string{"juicefs-csi-node", "juicefs-csi-driver", "juicefs-csi-controller"}},
	{"Velero", "", []string{"velero", "node-agent"}},
	{"KubeStash", "", []string{"kubestash"}},
	{"CloudNativePG", "", []string{"cnpg-controller-manager", "cloudnative-pg", "cnpg-cloudnative-pg"}},
	{"the Postgres operator of Crunchy Data", "", []string{"pgo", "postgres-operator"}},
	{"the Postgres operator of Zalando", "", []string{"postgres-operator"}},
	{"the MySQL operator of Percona", "", []string{"percona-xtradb-cluster-operator", "pxc-operator", "percona-server-mysql-operator", "ps-operator"}},
	{"the MongoDB operator of Percona", "", []string{"percona-server-mongodb-operator", "psmdb-operator"}},
	{"the PostgreSQL operator of Percona", "", []string{"percona-postgresql-operator"}},
	{"the operator of Percona", "", []string{"percona-xtradb-cluster-operator", "pxc-operator", "percona-server-mysql-operator", "ps-operator", "percona-server-mongodb-operator", "psmdb-operator", "percona-postgresql-operator"}},
	{"MOCO", "", []string{"moco-controller"}},
	{"the MariaDB operator", "", []string{"mariadb-operator"}},
	{"the TiDB operator", "", []string{"tidb-controller-manager", "tidb-operator"}},
	{"the MongoDB operator", "", []string{"mongodb-kubernetes-operator", "mongodb-enterprise-operator", "enterprise-operator"}},
	{"the Cassandra operator", "", []string{"cass-operator"}},
	{"the ScyllaDB operator", "", []string{"scylla-operator"}},
	{"the operator of Redis Enterprise", "", []string{"redis-enterprise-operator"}},
	{"K8ssandra", "", []string{"k8ssandra-operator"}},
	{"the ClickHouse operator of Altinity", "", []string{"clickhouse-operator", "altinity-clickhouse-operator"}},
	{"the Aerospike operator", "", []string{"aerospike-operator", "aerospike-kubernetes-operator"}},
	{"the Solr operator", "", []string{"solr-operator"}},
	{"the ZooKeeper operator of Pravega", "", []string{"zookeeper-operator"}},
	{"the Hazelcast operator", "", []string{"hazelcast-platform-operator", "hazelcast-platform"}},
	{"the Redis operator of OT-CONTAINER-KIT", "", []string{"redis-operator"}},
	{"the ArangoDB operator", "", []string{"arango-deployment-operator", "arango-operator", "arangodb-operator", "kube-arangodb", "arango-*-operator"}},
	{"KubeBlocks", "", []string{"kubeblocks"}},
	{"KubeDB", "", []string{"kubedb", "kubedb-provisioner", "kubedb-kubedb-provisioner"}},
	{"Elastic Cloud on Kubernetes", "", []string{"elastic-operator", "eck-operator"}},
	{"the OpenSearch operator", "", []string{"opensearch-operator"}},
	{"the topic operator of Strimzi", "", []string{"topic-operator", "entity-operator"}},
	{"Koperator", "", []string{"koperator", "kafka-operator", "kafka-operator-operator"}},
	{"the Redpanda operator", "", []string{"redpanda-operator", "redpanda-controller"}},
	{"the RabbitMQ cluster operator", "", []string{"rabbitmq-cluster-operator"}},
	{"the RabbitMQ topology operator", "", []string{"messaging-topology-operator", "rabbitmq-messaging-topology-operator"}},
	{"the JetStream controller of NATS", "", []string{"jetstream-controller", "nack"}},
	{"the EMQX operator", "", []string{"emqx-operator"}},
	{"the Temporal operator", "", []string{"temporal-operator"}},
	{"Argo CD", "Application", []string{"argocd-application-controller", "argo-cd-application-controller", "openshift-gitops-application-controller"}},
	{"Argo CD", "AppProject", []string{"argocd-application-controller", "argo-cd-application-controller", "openshift-gitops-application-controller"}},
	{"Argo CD", "ApplicationSet", []string{"argocd-applicationset-controller", "argo-cd-applicationset-controller", "openshift-gitops-applicationset-controller"}},
	{"the operator of Argo CD", "", []string{"argocd-operator", "openshift-gitops-operator"}},
	{"Argo Workflows", "", []string{"workflow-controller", "argo-workflows-workflow-controller"}},
	{"Argo Events", "", []string{"eventbus-controller", "eventsource-controller", "sensor-controller", "argo-events", "argo-events-controller-manager"}},
	{"Flux", "kustomize.toolkit.fluxcd.io", []string{"kustomize-controller"}},
	{"Flux", "helm.toolkit.fluxcd.io", []string{"helm-controller"}},
	{"Flux", "source.toolkit.fluxcd.io", []string{"source-controller"}},
	{"Flux", "notification.toolkit.fluxcd.io", []string{"notification-controller"}},
	{"Flux", "image.toolkit.fluxcd.io", []string{"image-reflector-controller", "image-automation-controller"}},
	{"Flux", "fluxcd.controlplane.io", []string{"flux-operator"}},
	{"the tofu controller", "", []string{"tofu-controller", "tf-controller"}},
	{"Flagger", "", []string{"flagger"}},
	{"Tekton Chains", "", []string{"tekton-chains-controller", "tekton-chains"}},
	{"Tekton Results", "", []string{"tekton-results-watcher", "tekton-results"}},
	{"the Tekton operator", "", []string{"tekton-operator", "openshift-pipelines-operator"}},
	{"Kargo", "", []string{"kargo-controller", "kargo-management-controller"}},
	{"kapp-controller", "", []string{"kapp-controller"}},
	{"Config Sync", "", []string{"reconciler-manager"}},
	{"KubeVela", "", []string{"vela-core", "kubevela-vela-core", "kubevela"}},
	{"Kruise Rollouts", "", []string{"kruise-rollout"}},
	{"Fleet", "", []string{"fleet-controller", "fleet-agent", "gitjob"}},
	{"the Harbor operator", "", []string{"harbor-operator"}},
	{"the operator of HCP Terraform", "", []string{"hcp-terraform-operator", "terraform-cloud-operator"}},
	{"the Terraform controller of KubeVela", "", []string{"terraform-controller"}},
	{"the Terraform operator of GalleyBytes", "", []string{"terraform-operator"}},
	{"the Pulumi operator", "", []string{"pulumi-kubernetes-operator"}},
	{"Actions Runner Controller", "", []string{"gha-rs-controller", "gha-runner-scale-set-controller", "actions-runner-controller"}},
	{"Actions Runner Controller (legacy)", "", []string{"actions-runner-controller"}},
	{"the GitLab Runner operator", "", []string{"gitlab-runner-operator", "gitlab-runner-controller-manager"}},
	{"Metacontroller", "", []string{"metacontroller"}},
	{"kro", "", []string{"kro"}},
	{"the Operator Lifecycle Manager", "operators.coreos.com", []string{"olm-operator", "catalog-operator"}},
	{"the Operator Lifecycle Manager", "olm.operatorframework.io", []string{"catalogd", "operator-controller"}},
	{"the ingress operator of OpenShift", "", []string{"ingress-operator", "cluster-ingress-operator"}},
	{"the image registry operator of OpenShift", "", []string{"cluster-image-registry-operator"}},
	{"the cloud credential operator of OpenShift", "", []string{"cloud-credential-operator"}},
	{"the template controller of OpenShift", "", []string{"openshift-controller-manager"}},
	{"the project controller of OpenShift", "", []string{"openshift-controller-manager"}},
	{"the compliance operator of OpenShift", "", []string{"compliance-operator"}},
	{"Hive", "", []string{"hive-controllers"}},
	{"HyperShift", "", []string{"hypershift-operator", "control-plane-operator"}},
	{"the assisted installer", "", []string{"assisted-service"}},
	{"the DevWorkspace operator", "", []string{"devworkspace-controller-manager", "devworkspace-controller"}},
	{"the operator of Eclipse Che", "", []string{"che-operator", "devspaces-operator"}},
	{"the registration controller of Open Cluster Management", "", []string{"cluster-manager-registration-controller", "registration-controller"}},
	{"the work agent of Open Cluster Management", "", []string{"klusterlet-work-agent", "klusterlet-agent", "klusterlet-manifestwork-agent"}},
	{"the work controller of Open Cluster Management", "", []string{"cluster-manager-work-controller", "work-controller"}},
	{"the import controller of Open Cluster Management", "", []string{"managedcluster-import-controller", "managedcluster-import-controller-v2"}},
	{"Open Cluster Management", "", []string{"cluster-manager-registration-controller", "cluster-manager-work-controller", "managedcluster-import-controller", "managedcluster-import-controller-v2", "multicluster-operators-*", "klusterlet"}},
	{"Rancher", "", []string{"rancher", "cattle-cluster-agent"}},
	{"the controller of Rancher that is named in it", "", []string{"rancher", "cattle-cluster-agent"}},
	{"the controller of Rancher, K3s or Harvester that is named in it", "", []string{"rancher", "cattle-cluster-agent", "rancher-webhook", "harvester", "fleet-controller"}},
	{"Gardener", "", []string{"gardener-controller-manager", "gardenlet", "gardener-apiserver", "gardener-operator"}},
	{"the extension of Gardener that is named in it", "", []string{"gardener-extension-*"}},
	{"the resource manager of Gardener", "", []string{"gardener-resource-manager"}},
	{"etcd-druid of Gardener", "", []string{"etcd-druid"}},
	{"Karmada", "", []string{"karmada-controller-manager", "karmada-agent"}},
	{"KubeFed", "", []string{"kubefed-controller-manager"}},
	{"the hierarchical namespace controller", "", []string{"hnc"}},
	{"Capsule", "", []string{"capsule"}},
	{"the operator of the data importer of KubeVirt", "", []string{"cdi-operator"}},
	{"Sveltos", "", []string{"addon-controller", "sveltos-addon-controller"}},
	{"Kamaji", "", []string{"kamaji"}},
	{"the profile controller of Kubeflow", "", []string{"profile-controller", "profiles-deployment", "kubeflow-profiles"}},
	{"KubeVirt", "", []string{"virt-controller"}},
	{"the operator of KubeVirt", "", []string{"virt-operator"}},
	{"the data importer of KubeVirt", "", []string{"cdi-deployment", "cdi-operator", "cdi-controller"}},
	{"the operator of HyperConverged", "", []string{"hco-operator", "hyperconverged-cluster-operator"}},
	{"Knative Serving", "", []string{"knative-serving"}},
	{"the network layer of Knative", "", []string{"net-istio-controller", "net-kourier-controller", "net-contour-controller", "net-certmanager-controller", "net-gateway-api-controller"}},
	{"the broker of Knative Eventing", "", []string{"mt-broker-controller", "eventing-controller", "kafka-controller", "rabbitmq-broker-controller"}},
	{"the source's controller", "", []string{"eventing-controller", "kafka-controller"}},
	{"Knative Eventing", "", []string{"eventing-controller", "kafka-controller", "imc-controller", "knative-eventing"}},
	{"KEDA", "", []string{"keda-operator", "keda"}},
	{"the HTTP add-on of KEDA", "", []string{"keda-add-ons-http-operator", "http-add-on-operator"}},
	{"Kueue", "", []string{"kueue"}},
	{"KubeRay", "", []string{"kuberay-operator"}},
	{"the Flink operator", "", []string{"flink-kubernetes-operator"}},
	{"KServe", "", []string{"kserve-controller-manager"}},
	{"Kubeflow Trainer", "", []string{"kubeflow-trainer-controller-manager", "kubeflow-trainer"}},
	{"Katib", "", []string{"katib-controller"}},
	{"Chaos Mesh", "", []string{"chaos-controller-manager"}},
	{"Litmus", "", []string{"chaos-operator-ce", "chaos-operator", "litmus"}},
	{"cert-manager", "", []string{"cert-manager"}},
	{"the External Secrets operator", "", []string{"external-secrets"}},
	{"the Vault Secrets operator", "", []string{"vault-secrets-operator"}},
	{"the Infisical operator", "", []string{"infisical-operator", "infisical-secrets-operator", "infisical-opera-controller-manager"}},
	{"the 1Password operator", "", []string{"onepassword-connect-operator", "onepassword-operator"}},
	{"the Teleport operator", "", []string{"teleport-operator"}},
	{"Kyverno", "", []string{"kyverno", "kyverno-admission-controller", "kyverno-background-controller", "kyverno-cleanup-controller"}},
	{"Gatekeeper", "", []string{"gatekeeper-controller-manager", "gatekeeper-audit"}},
	{"the Security Profiles operator", "", []string{"security-profiles-operator", "spod"}},
	{"the Prometheus operator", "", []string{"prometheus-operator"}},
	{"the Grafana operator", "", []string{"grafana-operator"}},
	{"the VictoriaMetrics operator", "", []string{"vm-operator", "victoria-metrics-operator"}},
	{"the OpenTelemetry operator", "", []string{"opentelemetry-operator"}},
	{"the Datadog operator", "", []string{"datadog-operator"}},
}
