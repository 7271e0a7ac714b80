package object

import "strings"

// Outside returns the fields that decide what is deleted with the object outside of the cluster. It
// is nil for kinds for which HasOutsideFacts is false, or if the snapshot lacks the spec.
func (o *Object) Outside() *OutsideFacts {
	switch f := o.Facts().(type) {
	case *OutsideFacts:
		return f
	case *InventoryFacts:
		if !o.Is(VolumeSnapshotContent) && !o.Is(VolumeGroupSnapshotContent) {
			return nil
		}
		policy := "Delete"
		if f.Keeps {
			policy = "Retain"
		}
		return &OutsideFacts{Fields: []FieldValue{{Field: "spec.deletionPolicy", Value: policy}}}
	}
	return nil
}

// OutsideFacts are the annotations and the fields of the spec that decide what happens to the
// outside resource of an object: a bucket in a cloud, a snapshot in a storage. A bucket that outlives
// its object:
//
//	{Fields: [{spec.deletionPolicy Orphan}]}
type OutsideFacts struct {
	// Fields has the fields that are set, by name. A list is joined with commas.
	Fields []FieldValue `json:"set,omitempty"`
}

// FieldValue is a field of an object, and its value. The name of an annotation is its key, that of a
// field of the spec its path, such as spec.deletionPolicy.
type FieldValue struct {
	Field string `json:"f"`
	Value string `json:"v,omitzero"`
}

// Value returns the value of a field, and whether it is set.
func (f *OutsideFacts) Value(field string) (value string, set bool) { return valueOf(f.Fields, field) }

func valueOf(fields []FieldValue, name string) (value string, set bool) {
	for _, f := range fields {
		if f.Field == name {
			return f.Value, true
		}
	}
	return "", false
}

func (f *OutsideFacts) store(s *StoredFacts) { s.Outside = f }

// The annotations that decide about outside resources. Those of ACK and of Azure Service Operator
// may also be on the namespace, that of ACK with the API group instead of services.k8s.aws.
const (
	ACKDeletionPolicy = "services.k8s.aws/deletion-policy"
	ASOReconciling    = "serviceoperator.azure.com/reconcile-policy"
	KCCDeletionPolicy = "cnrm.cloud.google.com/deletion-policy"
	AtlasPolicy       = "mongodb.com/atlas-resource-policy"
)

// IsOutsideAnnotation reports whether an annotation decides about outside resources.
func IsOutsideAnnotation(key string) bool {
	switch key {
	case ACKDeletionPolicy, ASOReconciling, KCCDeletionPolicy, AtlasPolicy:
		return true
	default:
		return strings.HasSuffix(key, "."+ACKDeletionPolicy)
	}
}

// outsideKinds are the kinds with outside facts. A group with a leading dot means all groups below
// it. An empty kind means all kinds of the group.
var outsideKinds = []struct{ group, kind string }{
	{".services.k8s.aws", ""},
	{".cnrm.cloud.google.com", ""},
	{".azure.com", ""},
	{".crossplane.io", ""},
	{".upbound.io", ""},
	{"atlas.mongodb.com", ""},
	{"app.terraform.io", ""},
	{"infra.contrib.fluxcd.io", "Terraform"},
	{"terraform.core.oam.dev", "Configuration"},
	{"pulumi.com", "Stack"},
	{"snapshot.storage.k8s.io", "VolumeSnapshotContent"},
	{"groupsnapshot.storage.k8s.io", "VolumeGroupSnapshotContent"},
	{"objectbucket.io", "ObjectBucket"},
	{"objectstorage.k8s.io", "Bucket"},
	{"external-secrets.io", "PushSecret"},
	{"pingcap.com", "Backup"},
	{"br.pingcap.com", "Backup"},
	{"hive.openshift.io", "ClusterDeployment"},
	{"work.karmada.io", "Work"},
}

// HasOutsideFacts reports whether objects of a kind may have outside facts. Lists read them as
// metadata: only a plan needs the facts, and only those of its objects.
func HasOutsideFacts(group, kind string) bool {
	for _, k := range outsideKinds {
		if (group == k.group || k.group[0] == '.' && strings.HasSuffix(group, k.group)) && (k.kind == "" || k.kind == kind) {
			return true
		}
	}
	return false
}
