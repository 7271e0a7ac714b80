package snapshot

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// TestElsewhere: an owner with a UID that was seen at other coordinates doesn't exist at those of
// the reference. A projection has the UID of an object of another kind under its own name.
func TestElsewhere(t *testing.T) {
	const owners = `
apiVersion: v1
kind: ConfigMap
metadata: {name: a, namespace: x, uid: u1}
---
apiVersion: image.openshift.io/v1
kind: ImageStreamTag
metadata: {name: "app:latest", namespace: x, uid: u2}
---
apiVersion: example.com/v1
kind: Thing
metadata: {name: t, namespace: z, uid: u3}
---
apiVersion: v1
kind: Secret
metadata:
  name: dependent
  namespace: x
  uid: u9
  ownerReferences:
  - {apiVersion: v1, kind: ConfigMap, name: a, uid: u1}
  - {apiVersion: image.openshift.io/v1, kind: ImageStream, name: app, uid: u2}
  - {apiVersion: example.com/v1, kind: Thing, name: t, uid: u3}
`
	path := filepath.Join(t.TempDir(), "dump.yaml")
	if err := os.WriteFile(path, []byte(owners), 0o600); err != nil {
		t.Fatal(err)
	}
	snap, err := ReadFiles([]string{path}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		ref  object.Ref
		want bool
	}{
		{"just there", object.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: "x", Name: "a", UID: "u1"}, false},
		{"another name", object.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: "x", Name: "b", UID: "u1"}, true},
		{"another kind of Kubernetes", object.Ref{APIVersion: "v1", Kind: "Secret", Namespace: "x", Name: "a", UID: "u1"}, true},
		{"a kind without a namespace", object.Ref{APIVersion: "v1", Kind: "Node", Name: "a", UID: "u1"}, true},
		{"what a projection may show", object.Ref{APIVersion: "image.openshift.io/v1", Kind: "ImageStream", Namespace: "x", Name: "app", UID: "u2"}, false},
		{"another namespace", object.Ref{APIVersion: "example.com/v1", Kind: "Thing", Namespace: "x", Name: "t", UID: "u3"}, true},
		{"a uid that was not seen", object.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: "x", Name: "a", UID: "u8"}, false},
	} {
		if got := snap.Elsewhere(tt.ref) != nil; got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}
