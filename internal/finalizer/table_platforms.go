package finalizer

// ofPlatforms are finalizers of platforms, and of what rules over many clusters.
var ofPlatforms = []Known{
	// Operator Lifecycle Manager.
	{"operators.coreos.com/csv-cleanup", Operator, "ClusterServiceVersion", "the Operator Lifecycle Manager", "when webhooks and CRDs are tidied up",
		"webhook configurations and API services of the operator"},
	{"olm.operatorframework.io/delete-server-cache", Operator, "ClusterCatalog", "the Operator Lifecycle Manager", "when the catalog is taken out of its server",
		"the catalog on the disk of the server"},
	{"olm.operatorframework.io/cleanup-unpack-cache", Operator, "ClusterExtension", "the Operator Lifecycle Manager", "when the unpacked bundle is deleted",
		"the bundle on the disk of the controller"},
	{"olm.operatorframework.io/cleanup-contentmanager-cache", Operator, "ClusterExtension", "the Operator Lifecycle Manager", "when the objects of the extension are no longer watched",
		"watches of the controller, until it restarts"},

	// OpenShift.
	{"openshift.io/origin", Cleanup, "spec of a Namespace in OpenShift 3", "the project controller of OpenShift", "when all that OpenShift has in the namespace is gone",
		"content of OpenShift that stays in etcd"},
	{"ingresscontroller.operator.openshift.io/finalizer-ingresscontroller", Cloud, "IngressController", "the ingress operator of OpenShift", "when router, load balancer and DNS records are deleted",
		"the load balancer and its DNS records"},
	{"operator.openshift.io/ingress-dns", Cloud, "DNSRecord", "the ingress operator of OpenShift", "when the record is deleted in the DNS zone",
		"the record in the DNS zone"},
	{"imageregistry.operator.openshift.io/finalizer", Cloud, "Config of the image registry", "the image registry operator of OpenShift", "when registry and storage are removed",
		"the storage of the registry, with its images"},
	{"cloudcredential.openshift.io/deprovision", Cloud, "CredentialsRequest", "the cloud credential operator of OpenShift", "when the account in the cloud is deleted",
		"an account in the cloud, with its permissions"},
	{"template.openshift.io/finalizer", Operator, "TemplateInstance", "the template controller of OpenShift", "when what was made from the template is deleted",
		"everything that was made from the template"},
	{"*.finalizers.compliance.openshift.io", Operator, "ComplianceScan, ComplianceSuite, ProfileBundle", "the compliance operator of OpenShift", "when scan pods, rules and profiles are deleted",
		"pods and results of scans"},
	{"hive.openshift.io/deprovision", Cloud, "ClusterDeployment", "Hive", "when the cluster is deprovisioned",
		"the machines and the network of a whole cluster"},
	{"hive.openshift.io/remotemachineset", Cloud, "MachinePool of Hive", "Hive", "when the MachineSets in the cluster are deleted",
		"machines in another cluster"},
	{"hypershift.openshift.io/finalizer", Cloud, "HostedCluster, HostedControlPlane, NodePool", "HyperShift", "when machines and infrastructure are deleted",
		"the machines and the network of a whole cluster"},
	{"*.agent-install.openshift.io/ai-deprovision", Operator, "Agent, InfraEnv, AgentClusterInstall and other kinds of the assisted installer", "the assisted installer", "when it has forgotten the host or the cluster",
		"hosts and clusters that the installer still counts on"},

	// Red Hat's workspaces.
	{"storage.controller.devfile.io", Operator, "DevWorkspace", "the DevWorkspace operator", "when a job has deleted the files of the workspace",
		"files in a volume that workspaces share"},
	{"*.finalizers.che.eclipse.org", Operator, "CheCluster, KubernetesImagePuller", "the operator of Eclipse Che", "when roles, OAuth clients and links are deleted",
		"roles, OAuth clients and links that are valid in the whole cluster"},

	// Open Cluster Management.
	{"cluster.open-cluster-management.io/api-resource-cleanup", Operator, "ManagedCluster", "the registration controller of Open Cluster Management", "when roles and bindings of the cluster are deleted",
		"roles and bindings of a cluster that is no more"},
	{"cluster.open-cluster-management.io/manifest-work-cleanup", Cloud, "ManifestWork", "the work agent of Open Cluster Management", "when what it has applied in the managed cluster is deleted",
		"what it has applied in the managed cluster"},
	{"work.open-cluster-management.io/manifest-work-cleanup", Operator, "ManifestWorkReplicaSet", "the work controller of Open Cluster Management", "when its ManifestWorks are deleted",
		"ManifestWorks, and what they have applied"},
	{"managedcluster-import-controller.open-cluster-management.io/cleanup", Cloud, "ManagedCluster", "the import controller of Open Cluster Management", "when the agent is removed from the managed cluster",
		"the agent in the managed cluster, and its namespace here"},
	{"open-cluster-management.io/managedclusterrole", Operator, "ManagedCluster", "Open Cluster Management", "when roles of the cluster are deleted",
		"roles of a cluster that is no more"},

	// Rancher.
	{"controller.cattle.io/namespace-auth", Operator, "Namespace", "Rancher", "when its roles are tidied up",
		"roles and bindings of Rancher"},
	{"controller.cattle.io/*", Operator, "any object that Rancher looks after", "the controller of Rancher that is named in it", "when it has tidied up after the object",
		"what Rancher was to tidy up"},
	{"clusterscoped.controller.cattle.io/*", Operator, "any object that Rancher looks after", "the controller of Rancher that is named in it", "when it has tidied up after the object",
		"what Rancher was to tidy up"},
	{"wrangler.cattle.io/*", Operator, "any object that Rancher, K3s or Harvester looks after", "the controller of Rancher, K3s or Harvester that is named in it", "when it has tidied up after the object",
		"what the controller was to tidy up"},

	// Gardener.
	{"gardener", Cloud, "Shoot, Seed, Secret and other kinds of Gardener", "Gardener", "when nothing depends on it, or the cluster is deleted",
		"the infrastructure of a whole cluster, or what is needed to delete it"},
	{"extensions.gardener.cloud/*", Cloud, "Infrastructure, Worker and other kinds of Gardener's extensions", "the extension of Gardener that is named in it", "when the external resource is deleted",
		"networks, machines and records of a cluster"},
	{"resources.gardener.cloud/gardener-resource-manager*", Operator, "ManagedResource, Secret", "the resource manager of Gardener", "when what it has applied is deleted",
		"what it has applied, in another cluster perhaps"},
	{"druid.gardener.cloud/etcd-druid", Operator, "Etcd, Secret", "etcd-druid of Gardener", "when the etcd cluster is deleted",
		"StatefulSet, Services and Leases of an etcd cluster"},

	// Other ways to rule over clusters.
	{"karmada.io/cluster-controller", Operator, "Cluster of Karmada", "Karmada", "when its works and its execution namespace are deleted",
		"an execution namespace, and what Karmada has applied in the cluster"},
	{"karmada.io/execution-controller", Cloud, "Work", "Karmada", "when what it has applied in the member cluster is deleted",
		"what it has applied in the member cluster"},
	{"karmada.io/binding-controller", Operator, "ResourceBinding, ClusterResourceBinding", "Karmada", "when its Works are deleted",
		"Works, and what they have applied in member clusters"},
	{"kubefed.io/sync-controller", Cloud, "federated kinds of KubeFed", "KubeFed", "when what it has applied in member clusters is deleted",
		"what it has applied in member clusters"},
	{"clustersummaryfinalizer.projectsveltos.io", Cloud, "ClusterSummary", "Sveltos", "when what it has deployed in the cluster is removed",
		"what it has deployed in another cluster"},
	{"finalizer.kamaji.clastix.io*", Operator, "TenantControlPlane, DataStore", "Kamaji", "when its data in the data store is deleted, or no control plane uses it",
		"the data of a control plane in the data store"},
	{"profile-finalizer", Operator, "Profile of Kubeflow", "the profile controller of Kubeflow", "when permissions that it has given in the cloud are taken back",
		"permissions of its service account in the cloud"},
}
