package finalizer

import (
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// TestOutsideRules checks that each rule is about a known finalizer of the class Cloud or about a
// kind, names its source, and that its fields are read.
func TestOutsideRules(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range OutsideRules() {
		k, known := Of(r.Finalizer)
		switch {
		case r.Family == "" || r.Source == "" || seen[r.Family]:
			t.Errorf("%q: source %q", r.Family, r.Source)
		case r.Finalizer == "" && (r.Kind.Kind == "" || r.What == ""):
			t.Errorf("%s: neither a finalizer nor a kind with an outside resource", r.Family)
		case r.Finalizer != "" && (!known || k.Name != r.Finalizer || k.Class != Cloud):
			t.Errorf("%s: %s is not in the table as Cloud", r.Family, r.Finalizer)
		case len(r.Fields) == 0 && !r.Kept && r.Depends == "":
			t.Errorf("%s: nothing decides", r.Family)
		}
		seen[r.Family] = true
	}
	// What the table says is kept or asked for has a rule.
	for _, k := range Table() {
		asks := strings.Contains(k.When, "kept") || strings.Contains(k.When, "if requested")
		if k.Class == Cloud && asks && outsideRuleOf(k) == nil {
			t.Errorf("%s: %s, and no rule says what decides", k.Name, k.When)
		}
	}
}

// TestOutsideOutcomes checks what the fields of each family decide.
func TestOutsideOutcomes(t *testing.T) {
	const (
		crossplane = "finalizer.managedresource.crossplane.io"
		ack        = "finalizers.s3.services.k8s.aws/Bucket"
		terraform  = "finalizers.tf.contrib.fluxcd.io"
		hcp        = "module.app.terraform.io/finalizer"
		pulumi     = "finalizer.stack.pulumi.com"
	)
	for _, c := range []struct {
		apiVersion, kind, finalizer string
		fields                      string
		namespace                   string
		want                        report.Outcome
		field                       string
	}{
		{"s3.aws.upbound.io/v1", "Bucket", crossplane, "", "", report.Deleted, "spec.deletionPolicy"},
		{"s3.aws.upbound.io/v1", "Bucket", crossplane, "spec.deletionPolicy=Orphan", "", report.Kept, "spec.deletionPolicy"},
		{"s3.aws.upbound.io/v1", "Bucket", crossplane, "spec.deletionPolicy=Orphan spec.managementPolicies=*", "", report.Kept, "spec.deletionPolicy"},
		{"s3.aws.upbound.io/v1", "Bucket", crossplane, "spec.deletionPolicy=Orphan spec.managementPolicies=Observe,Delete", "", report.Deleted, "spec.managementPolicies"},
		{"s3.aws.upbound.io/v1", "Bucket", crossplane, "spec.deletionPolicy=Delete spec.managementPolicies=Observe", "", report.Kept, "spec.managementPolicies"},
		{"s3.aws.upbound.io/v1", "Bucket", crossplane, "spec.managementPolicies=", "", report.Kept, "spec.managementPolicies"},
		{"s3.services.k8s.aws/v1", "Bucket", ack, "", "", report.Deleted, object.ACKDeletionPolicy},
		{"s3.services.k8s.aws/v1", "Bucket", ack, "", "s3.services.k8s.aws/deletion-policy=retain", report.Kept, object.ACKDeletionPolicy},
		{"s3.services.k8s.aws/v1", "Bucket", ack, "", "rds.services.k8s.aws/deletion-policy=retain", report.Deleted, object.ACKDeletionPolicy},
		{"s3.services.k8s.aws/v1", "Bucket", ack, object.ACKDeletionPolicy + "=delete", "s3.services.k8s.aws/deletion-policy=retain", report.Deleted, object.ACKDeletionPolicy},
		{"sql.cnrm.cloud.google.com/v1", "SQLInstance", "cnrm.cloud.google.com/finalizer", object.KCCDeletionPolicy + "=abandon", "", report.Kept, object.KCCDeletionPolicy},
		{"sql.cnrm.cloud.google.com/v1", "SQLInstance", "cnrm.cloud.google.com/finalizer", object.KCCDeletionPolicy + "=x", "", report.Unknown, object.KCCDeletionPolicy},
		{"storage.azure.com/v1", "StorageAccount", "serviceoperator.azure.com/finalizer", "", object.ASOReconciling + "=skip", report.Kept, object.ASOReconciling},
		{"infra.contrib.fluxcd.io/v1", "Terraform", terraform, "", "", report.Kept, "spec.destroyResourcesOnDeletion"},
		{"infra.contrib.fluxcd.io/v1", "Terraform", terraform, "spec.destroyResourcesOnDeletion=true", "", report.Deleted, "spec.destroyResourcesOnDeletion"},
		{"app.terraform.io/v1", "Module", hcp, "spec.destroyOnDeletion=true", "", report.Deleted, "spec.destroyOnDeletion"},
		{"app.terraform.io/v1", "Module", hcp, "spec.deletionPolicy=retain spec.destroyOnDeletion=true", "", report.Kept, "spec.deletionPolicy"},
		{"pulumi.com/v1", "Stack", pulumi, "spec.destroyOnFinalize=true spec.preview=false", "", report.Deleted, "spec.destroyOnFinalize"},
		{"pulumi.com/v1", "Stack", pulumi, "spec.destroyOnFinalize=true spec.preview=true", "", report.Kept, "spec.preview"},
		{"atlas.mongodb.com/v1", "AtlasDeployment", "mongodbatlas/finalizer", "", "", report.Unknown, ""},
		{"objectbucket.io/v1alpha1", "ObjectBucket", "objectbucket.io/finalizer", "spec.reclaimPolicy=Retain", "", report.Kept, "spec.reclaimPolicy"},
		{"snapshot.storage.k8s.io/v1", "VolumeSnapshotContent", "snapshot.storage.kubernetes.io/volumesnapshotcontent-bound-protection", "", "", report.Unknown, ""},
		{"cluster.x-k8s.io/v1beta1", "Machine", "machine.cluster.x-k8s.io", "", "", report.Deleted, ""},
		{"externaldns.k8s.io/v1alpha1", "DNSEndpoint", "", "", "", report.Unknown, ""},
		{"postgresql.cnpg.io/v1", "Backup", "", "", "", report.Kept, ""},
	} {
		o := &object.Object{Ref: object.Ref{APIVersion: c.apiVersion, Kind: c.kind, Namespace: "shop", Name: "a"}}
		if c.finalizer != "" {
			o.Edit().Finalizers = []string{"example.com/other", c.finalizer}
		}
		namespace := &object.Object{Ref: object.Namespace.Ref("", "shop")}
		namespace.Edit().Facts = &object.NamespaceFacts{Outside: fieldsOf(c.namespace)}
		of, ok := OutsideOf(o)
		if !ok {
			t.Errorf("%s: no outside resource", c.kind)
			continue
		}
		got := of.OutcomeOf(o, namespace, &object.OutsideFacts{Fields: fieldsOf(c.fields)})
		if got.Outcome != c.want || got.Field != c.field || (got.Outcome == report.Unknown) != (got.Why != "") {
			t.Errorf("%s with %q, in a namespace with %q: %+v", c.kind, c.fields, c.namespace, got)
		}
		if unread := of.OutcomeOf(o, nil, &object.OutsideFacts{}); c.namespace != "" && unread.Outcome != report.Unknown {
			t.Errorf("%s in a namespace that was not read: %+v", c.kind, unread)
		}
		if unread := of.OutcomeOf(o, namespace, nil); of.NeedsSpec() && unread.Outcome != report.Unknown {
			t.Errorf("%s without its spec: %+v", c.kind, unread)
		}
	}
}

func fieldsOf(text string) []object.FieldValue {
	var fields []object.FieldValue
	for word := range strings.FieldsSeq(text) {
		name, value, _ := strings.Cut(word, "=")
		fields = append(fields, object.FieldValue{Field: name, Value: value})
	}
	return fields
}

// TestOutsideOf checks which objects represent something outside of the cluster, and which hold data.
func TestOutsideOf(t *testing.T) {
	for _, c := range []struct {
		apiVersion, kind, finalizer, what string
		data                              bool
	}{
		{"v1", "Service", "service.kubernetes.io/load-balancer-cleanup", "the load balancer", false},
		{"v1", "PersistentVolume", "external-provisioner.volume.kubernetes.io/finalizer", "", false},
		{"v1", "Secret", "objectbucket.io/finalizer", "", false},
		{"v1", "Pod", "kubernetes.io/pvc-protection", "", false},
		{"karpenter.sh/v1", "NodeClaim", "karpenter.sh/termination", "the machine", false},
		{"rds.services.k8s.aws/v1alpha1", "DBInstance", "finalizers.rds.services.k8s.aws/DBInstance", "the external resource in AWS", true},
		{"ecs.aws.upbound.io/v1", "Cluster", "finalizer.managedresource.crossplane.io", "the external resource in the cloud", false},
		{"rds.aws.upbound.io/v1", "Cluster", "finalizer.managedresource.crossplane.io", "the external resource in the cloud", true},
		{"ec2.aws.upbound.io/v1", "RouteTable", "finalizer.managedresource.crossplane.io", "the external resource in the cloud", false},
		{"dynamodb.aws.upbound.io/v1", "Table", "finalizer.managedresource.crossplane.io", "the external resource in the cloud", true},
		{"s3.aws.upbound.io/v1", "BucketPolicy", "finalizer.managedresource.crossplane.io", "the external resource in the cloud", false},
		{"trident.netapp.io/v1", "TridentVolume", "trident.netapp.io", "volumes and snapshots on the NetApp storage", true},
	} {
		o := &object.Object{Ref: object.Ref{APIVersion: c.apiVersion, Kind: c.kind, Name: "a"}}
		o.Edit().Finalizers = []string{c.finalizer}
		of, ok := OutsideOf(o)
		if ok != (c.what != "") || of.What != c.what || of.Data != c.data {
			t.Errorf("%s: %q, data: %t", c.kind, of.What, of.Data)
		}
	}
}
