package finalizer

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// OutsideRule says what objects represent outside of the cluster, and which of their fields decide
// whether their controller deletes it. Finalizers of the class Cloud without a rule have none: their
// controller always deletes.
//
// It is a table of its own because the fields are those of an object, and a finalizer such as that of
// Crossplane is on thousands of kinds, while some kinds have no finalizer at all.
type OutsideRule struct {
	// Family names the objects, for people.
	Family string
	// Finalizer is the one in Table behind which the controller deletes. Without one, the rule is for
	// all objects of Kind.
	Finalizer string
	Kind      schema.GroupKind
	// What is the outside resource: a noun. Empty if the Without of the finalizer names it.
	What string
	// Fields are the deciding fields, in order: the first that is set and decides.
	Fields []OutsideField
	// Kept is true if nothing is ever deleted.
	Kept bool
	// Depends is what decides if no field does: a flag of the controller, or another object.
	Depends string
	// Data is true if the outside resource holds data, whatever the kind. See holdsData.
	Data bool
	// Source is the project and the function that decides.
	Source string
}

// OutsideField is a field that decides about an outside resource.
type OutsideField struct {
	// Name is the path of the field, or the key of an annotation.
	Name string
	// Deleted and Kept are the values with these effects. For other values the effect is unknown. In a
	// list, one of Deleted is enough. Any is a value that leaves the decision to the next field.
	Deleted, Kept []string
	Any           string
	// List is true for a list: without a value of Deleted, the outside resource is kept.
	List bool
	// Default is the value that the controller assumes if the field is not set. Empty if the next
	// field decides, or if it is not known.
	Default string
	// OnNamespace is true if the annotation may also be on the namespace of the object.
	OnNamespace bool
}

// DNSPolicy is the flag of ExternalDNS that decides about its records.
const DNSPolicy = "--policy"

var (
	deletesOrRetains = []OutsideField{{Name: "spec.deletionPolicy", Deleted: []string{"Delete"}, Kept: []string{"Retain"}}}
	backupInStore    = "the backup in the object store"
)

// longhornBackups are the kinds of Longhorn that stand for data in a backup target.
var longhornBackups = []string{"Backup", "BackupVolume", "BackupBackingImage", "SystemBackup"}

func init() {
	for _, kind := range longhornBackups {
		outsideRules = append(outsideRules, OutsideRule{
			Family: "Longhorn " + kind, Kind: schema.GroupKind{Group: longhornGroup, Kind: kind}, What: "its data in the backup target", Data: true,
			Depends: "deleted if Longhorn reaches the backup target",
			Source:  "longhorn-manager, controller/utils.go checkIfRemoteDataCleanupIsNeeded",
		})
	}
}

// outsideRules are the rules. Values are those that the controllers compare with.
var outsideRules = []OutsideRule{
	{
		Family: "Crossplane", Finalizer: "finalizer.managedresource.crossplane.io",
		Fields: []OutsideField{
			{Name: "spec.managementPolicies", Deleted: []string{"Delete"}, Any: "*", List: true},
			{Name: "spec.deletionPolicy", Deleted: []string{"Delete"}, Kept: []string{"Orphan"}, Default: "Delete"},
		},
		Source: "crossplane-runtime, pkg/reconciler/managed/policies.go ManagementPoliciesResolver.ShouldDelete",
	},
	{
		Family: "AWS Controllers for Kubernetes", Finalizer: "finalizers.*.services.k8s.aws/*",
		Fields: []OutsideField{{
			Name: object.ACKDeletionPolicy, Deleted: []string{"delete"}, Kept: []string{"retain"}, Default: "delete", OnNamespace: true,
		}},
		Source: "aws-controllers-k8s/runtime, pkg/runtime/reconciler.go resourceReconciler.getDeletionPolicy",
	},
	{
		Family: "Config Connector", Finalizer: "cnrm.cloud.google.com/finalizer",
		Fields: []OutsideField{{
			Name: object.KCCDeletionPolicy, Deleted: []string{"delete"}, Kept: []string{"abandon"}, Default: "delete",
		}},
		Source: "k8s-config-connector, documentation, Managing and deleting resources",
	},
	{
		Family: "Azure Service Operator", Finalizer: "serviceoperator.azure.com/finalizer",
		Fields: []OutsideField{{
			Name: object.ASOReconciling, Deleted: []string{"manage"}, Kept: []string{"skip", "detach-on-delete"}, Default: "manage", OnNamespace: true,
		}},
		Source: "azure-service-operator, v2/pkg/common/annotations/reconcile_policy.go ReconcilePolicyValue.AllowsDelete",
	},
	{
		Family: "VolumeSnapshotContent", Finalizer: "snapshot.storage.kubernetes.io/volumesnapshotcontent-bound-protection", Data: true,
		Fields: deletesOrRetains,
		Source: "external-snapshotter, pkg/sidecar-controller/snapshot_controller.go syncContent",
	},
	{
		Family: "VolumeGroupSnapshotContent", Finalizer: "groupsnapshot.storage.kubernetes.io/volumegroupsnapshotcontent-bound-protection", Data: true,
		Fields: deletesOrRetains,
		Source: "external-snapshotter, pkg/sidecar-controller/groupsnapshot_helper.go syncGroupSnapshotContent",
	},
	{
		Family: "bucket claims of Rook and others", Finalizer: "objectbucket.io/finalizer", What: "the bucket", Data: true,
		Fields:  []OutsideField{{Name: "spec.reclaimPolicy", Deleted: []string{"Delete"}, Kept: []string{"Retain"}}},
		Depends: "the spec.reclaimPolicy of its ObjectBucket decides",
		Source:  "lib-bucket-provisioner, pkg/provisioner/controller.go handleDeleteClaim",
	},
	{
		Family: "object storage (COSI)", Finalizer: "cosi.objectstorage.k8s.io/*", What: "the bucket", Data: true,
		Fields:  deletesOrRetains,
		Depends: "the spec.deletionPolicy of its Bucket decides",
		Source:  "container-object-storage-interface, client/apis/objectstorage/v1alpha2/bucket_types.go BucketDeletionPolicy",
	},
	{
		Family: "Terraform of the tofu controller", Finalizer: "finalizers.tf.contrib.fluxcd.io", What: "what Terraform created", Data: true,
		Fields: []OutsideField{{Name: "spec.destroyResourcesOnDeletion", Deleted: []string{"true"}, Kept: []string{"false"}, Default: "false"}},
		Source: "tofu-controller, controllers/tf_controller_finalizer.go finalize",
	},
	{
		Family: "HCP Terraform", Finalizer: "*.app.terraform.io/finalizer", Data: true,
		Fields: []OutsideField{
			{Name: "spec.deletionPolicy", Deleted: []string{"soft", "destroy", "force"}, Kept: []string{"retain"}},
			{Name: "spec.destroyOnDeletion", Deleted: []string{"true"}, Kept: []string{"false"}, Default: "false"},
		},
		Source: "hcp-terraform-operator, internal/controller/workspace_controller_deletion_policy.go deleteWorkspace, module_controller_deletion_policy.go",
	},
	{
		Family: "Pulumi", Finalizer: "finalizer.stack.pulumi.com", What: "what Pulumi created", Data: true,
		Fields: []OutsideField{
			{Name: "spec.preview", Kept: []string{"true"}, Any: "false"},
			{Name: "spec.destroyOnFinalize", Deleted: []string{"true"}, Kept: []string{"false"}, Default: "false"},
		},
		Source: "pulumi-kubernetes-operator, operator/internal/controller/pulumi/stack_controller.go Reconcile",
	},
	{
		Family: "Terraform of KubeVela", Finalizer: "configuration.finalizers.terraform-controller", What: "what Terraform created", Data: true,
		Fields: []OutsideField{{Name: "spec.deleteResource", Deleted: []string{"true"}, Kept: []string{"false"}, Default: "true"}},
		Source: "terraform-controller, controllers/configuration_controller.go terraformDestroy",
	},
	{
		Family: "MongoDB Atlas", Finalizer: "mongodbatlas/finalizer", Data: true,
		Fields:  []OutsideField{{Name: object.AtlasPolicy, Deleted: []string{"delete"}, Kept: []string{"keep"}}},
		Depends: "the flag --object-deletion-protection of its controller decides",
		Source:  "mongodb-atlas-kubernetes, internal/controller/customresource/customresource.go IsResourcePolicyKeepOrDefault",
	},
	{
		Family: "PushSecret", Finalizer: "pushsecret.externalsecrets.io/finalizer",
		Fields: []OutsideField{{Name: "spec.deletionPolicy", Deleted: []string{"Delete"}, Kept: []string{"None"}, Default: "None"}},
		Source: "external-secrets, apis/externalsecrets/v1alpha1/pushsecret_types.go PushSecretDeletionPolicy",
	},
	{
		Family: "backups of TiDB", Finalizer: "tidb.pingcap.com/backup-protection", Data: true,
		Fields: []OutsideField{{Name: "spec.cleanPolicy", Deleted: []string{"Delete"}, Kept: []string{"Retain"}, Default: "Retain"}},
		Source: "tidb-operator, api/br/v1alpha1/backup.go NeedRetainData",
	},
	{
		Family: "clusters of Hive", Finalizer: "hive.openshift.io/deprovision", What: "the cluster", Data: true,
		Fields: []OutsideField{{Name: "spec.preserveOnDelete", Deleted: []string{"false"}, Kept: []string{"true"}, Default: "false"}},
		Source: "hive, pkg/controller/clusterdeployment/clusterdeployment_controller.go ensureClusterDeprovisioned",
	},
	{
		Family: "Karmada", Finalizer: "karmada.io/execution-controller", What: "the objects in the member cluster", Data: true,
		Fields: []OutsideField{{Name: "spec.preserveResourcesOnDeletion", Deleted: []string{"false"}, Kept: []string{"true"}, Default: "false"}},
		Source: "karmada, pkg/controllers/execution/execution_controller.go handleWorkDelete",
	},
	{
		Family: "Open Cluster Management", Finalizer: "cluster.open-cluster-management.io/manifest-work-cleanup", What: "the objects in the managed cluster", Data: true,
		Depends: "its spec.deleteOption decides, which is not read",
		Source:  "open-cluster-management.io/api, work/v1/types.go DeleteOption",
	},
	{
		Family: "KubeStash", Finalizer: "kubestash.com/cleanup", Data: true,
		Depends: "its deletion policy decides, which is not read",
		Source:  "kubestash.com, documentation, BackupStorage",
	},
	{
		Family: "InfisicalPushSecret", Finalizer: "pushsecret.secrets.infisical.com/finalizer",
		Depends: "its spec.deletionPolicy decides, which is not read",
		Source:  "infisical, documentation, InfisicalPushSecret",
	},
	{
		Family: "ExternalDNS", Kind: schema.GroupKind{Group: "externaldns.k8s.io", Kind: "DNSEndpoint"}, What: "its DNS records",
		Fields:  []OutsideField{{Name: DNSPolicy, Deleted: []string{"sync"}, Kept: []string{"upsert-only", "create-only"}}},
		Depends: "ExternalDNS deletes them only with --policy=sync",
		Source:  "external-dns, plan/policy.go Policies",
	},
	{
		Family: "backups of CloudNativePG", Kind: schema.GroupKind{Group: "postgresql.cnpg.io", Kind: "Backup"}, What: backupInStore, Kept: true, Data: true,
		Source: "cloudnative-pg, api/v1/backup_types.go: a Backup has no finalizer",
	},
	{
		Family: "backups of Velero", Kind: schema.GroupKind{Group: "velero.io", Kind: "Backup"}, What: backupInStore, Kept: true, Data: true,
		Source: "velero, pkg/controller/backup_deletion_controller.go: only a DeleteBackupRequest deletes the files",
	},
}
