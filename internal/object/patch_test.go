package object

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

// The bodies are those of Kubernetes, byte for byte. (spec §3.12)
func TestPatchBody(t *testing.T) {
	owner := OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "a", UID: "u1", Controller: True, BlockOwnerDeletion: False}
	none, left := []OwnerReference{}, []OwnerReference{owner}
	noFinalizers, finalizers := []string{}, []string{"x/y"}
	for _, tt := range []struct {
		name string
		p    Patch
		want string
	}{
		{"remove owners", Patch{UID: "d", DeleteOwners: []types.UID{"u1", "u2"}},
			`{"metadata":{"ownerReferences":[{"$patch":"delete","uid":"u1"},{"$patch":"delete","uid":"u2"}],"uid":"d"}}`},
		{"remove the last owner without strategic merge", Patch{Type: Merge, ResourceVersion: "5", Owners: &none},
			`{"metadata":{"ownerReferences":null,"resourceVersion":"5"}}`},
		{"remove an owner without strategic merge", Patch{Type: Merge, ResourceVersion: "5", Owners: &left},
			`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"a","uid":"u1","controller":true,"blockOwnerDeletion":false}],"resourceVersion":"5"}}`},
		{"unblock", Patch{UID: "d", MergeOwners: left},
			`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"a","uid":"u1","controller":true,"blockOwnerDeletion":false}],"uid":"d"}}`},
		{"unblock when nothing blocks any more", Patch{UID: "d"}, `{"metadata":{"uid":"d"}}`},
		{"remove the last finalizer", Patch{Type: Merge, ResourceVersion: "5", Finalizers: &noFinalizers},
			`{"metadata":{"finalizers":null,"resourceVersion":"5"}}`},
		{"remove one of several finalizers", Patch{Type: Merge, ResourceVersion: "5", Finalizers: &finalizers},
			`{"metadata":{"finalizers":["x/y"],"resourceVersion":"5"}}`},
		{"let go of a counted pod", Patch{DeleteFinalizers: []string{"batch.kubernetes.io/job-tracking"}},
			`{"metadata":{"$deleteFromPrimitiveList/finalizers":["batch.kubernetes.io/job-tracking"]}}`},
		{"take finalizers off, the last one first", TakeFinalizers(&Object{Ref: Ref{UID: "u"}, ResourceVersion: "5",
			Lifecycle: &Lifecycle{Finalizers: []string{"a/b", "c/d", "a/b"}}}, []string{"a/b", "x/y"}),
			`[{"op":"test","path":"/metadata/uid","value":"u"},{"op":"test","path":"/metadata/resourceVersion","value":"5"},` +
				`{"op":"test","path":"/metadata/finalizers/2","value":"a/b"},{"op":"remove","path":"/metadata/finalizers/2"},` +
				`{"op":"test","path":"/metadata/finalizers/0","value":"a/b"},{"op":"remove","path":"/metadata/finalizers/0"}]`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(tt.p.Body()); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}
