package manifest_test

import (
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// TestOutsideFacts checks what is read of the fields that decide about outside resources, from YAML,
// and from JSON with the kind before and after the rest.
func TestOutsideFacts(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`
apiVersion: s3.aws.upbound.io/v1beta1
kind: Bucket
metadata: {name: a}
spec: {deletionPolicy: Orphan, managementPolicies: ["Observe", "Create"], forProvider: {deletionPolicy: secret}}`,
			"spec.deletionPolicy=Orphan spec.managementPolicies=Observe,Create"},
		{`
apiVersion: s3.aws.upbound.io/v1beta1
kind: Bucket
metadata: {name: a}
spec: {deletionPolicy: {x: y}, managementPolicies: [1, "Create"], preview: 7, reclaimPolicy: null, deleteResource: false}`,
			"spec.deleteResource=false"},
		{`
apiVersion: s3.services.k8s.aws/v1alpha1
kind: Bucket
metadata: {name: a, annotations: {services.k8s.aws/deletion-policy: retain, other.example.com/deletion-policy: x}}
spec: {}`, "services.k8s.aws/deletion-policy=retain"},
		{`{"spec":{"deletionPolicy":"Retain"},"metadata":{"name":"a"},"kind":"VolumeSnapshotContent","apiVersion":"snapshot.storage.k8s.io/v1"}`,
			"spec.deletionPolicy=Retain"},
		{`{"items":[{"spec":{"deletionPolicy":"Delete"},"metadata":{"name":"a","annotations":{"mongodb.com/atlas-resource-policy":"keep"}}}],"kind":"AtlasProjectList","apiVersion":"atlas.mongodb.com/v1"}`,
			"mongodb.com/atlas-resource-policy=keep spec.deletionPolicy=Delete"},
		{`
apiVersion: database.aws.crossplane.io/v1beta1
kind: RDSInstanceList
metadata:
  resourceVersion: "2"
items:
- apiVersion: database.aws.crossplane.io/v1beta1
  kind: RDSInstance
  metadata:
    name: a
  spec:
    deletionPolicy: Delete
    forProvider:
      name: b
`, "spec.deletionPolicy=Delete"},
		{`
apiVersion: secretsmanager.aws.upbound.io/v1beta1
kind: Secret
metadata:
  name: a
spec:
  deletionPolicy: Orphan
  managementPolicies:
  - Observe
`, "spec.deletionPolicy=Orphan spec.managementPolicies=Observe"},
		{`
apiVersion: s3.aws.upbound.io/v1beta1
kind: Bucket
metadata: {name: a}`, "none"},
		{`
apiVersion: example.com/v1
kind: Bucket
metadata: {name: a}
spec: {deletionPolicy: Orphan}`, "none"},
		{`
apiVersion: v1
kind: Namespace
metadata: {name: a, annotations: {s3.services.k8s.aws/deletion-policy: retain, serviceoperator.azure.com/reconcile-policy: skip}}
spec: {finalizers: [kubernetes]}`, "s3.services.k8s.aws/deletion-policy=retain serviceoperator.azure.com/reconcile-policy=skip"},
	} {
		got := "none"
		err := manifest.Read(strings.NewReader(c.text), manifest.Options{}, manifest.Handler{
			Object: func(o *object.Object, _ bool, _ manifest.Position) error {
				fields := []object.FieldValue(nil)
				if f := o.Outside(); f != nil {
					fields = f.Fields
				} else if n := o.NamespaceFacts(); n != nil {
					fields = n.Outside
				} else {
					return nil
				}
				var words []string
				for _, f := range fields {
					words = append(words, f.Field+"="+f.Value)
				}
				got = strings.Join(words, " ")
				return nil
			},
		})
		if err != nil || got != c.want {
			t.Errorf("%s\n: %q, %v; want %q", c.text, got, err, c.want)
		}
	}
}
