package snapshot

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// TestDoubt: an owner that is not in the dump is absent only if it existed before the dump began.
func TestDoubt(t *testing.T) {
	const (
		early, now = "2026-05-01T10:00:00Z", "2026-05-01T11:59:00Z"
		node       = `{"apiVersion":"v1","kind":"Node","metadata":{"name":"n","uid":"n"},"status":{"conditions":[{"lastHeartbeatTime":"2026-05-01T12:00:00Z"}]}}`
	)
	rs := func(name, uid, created string) string {
		return fmt.Sprintf(`{"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"name":%q,"namespace":"shop","uid":%q,"creationTimestamp":%q}}`, name, uid, created)
	}
	pod := func(name, created string) string {
		return fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q,"namespace":"shop","uid":%q,"creationTimestamp":%s,`+
			`"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web","uid":"owner"}]}}`, name, name, created)
	}
	former := func(object string) string { return strings.ReplaceAll(object, "apps/v1", "extensions/v1beta1") }
	quoted := func(s string) string { return `"` + s + `"` }
	const copied, late = "the dump has another object of that name, possibly an older copy", "it may have been created while the dump was taken"
	for _, tt := range []struct {
		name    string
		objects []string
		want    string
	}{
		{"the owner is there", []string{node, rs("web", "owner", now), pod("a", quoted(now))}, ""},
		{"another one, younger", []string{node, rs("web", "other", now), pod("a", quoted(early))}, ""},
		{"another one, younger, and both just now", []string{node, rs("web", "other", "2026-05-01T11:59:01Z"), pod("a", quoted(now))}, ""},
		{"another one, older", []string{node, rs("web", "other", early), pod("a", quoted(now))}, copied},
		{"another one, of the same second", []string{node, rs("web", "other", now), pod("a", quoted(now))}, copied},
		{"another one, older than one of two dependents", []string{node, rs("web", "other", "2026-05-01T11:00:00Z"), pod("a", quoted(now)), pod("b", quoted(early))}, ""},
		{"another one, younger, in a group of before", []string{node, former(rs("web", "other", now)), pod("a", quoted(early))}, ""},
		{"another one, older, named by a group of before", []string{node, former(rs("db", "db", early)), rs("web", "other", early), former(pod("a", quoted(now)))}, copied},
		{"none, long ago", []string{node, pod("a", quoted(early))}, ""},
		{"none, just now", []string{node, pod("a", quoted(now))}, late},
		{"none, and the list is younger", []string{node, rs("db", "db", "2026-05-01T11:59:01Z"), pod("a", quoted(now))}, ""},
		{"none, and the list is of the same second", []string{node, rs("db", "db", now), pod("a", quoted(now))}, late},
		{"another one, older, and both long ago", []string{node, rs("web", "other", early), pod("a", quoted(early)), rs("db", "db", "2026-05-01T10:00:01Z")}, ""},
		{"none, and nobody knows when", []string{node, pod("a", "null")}, ""},
		{"none, and the newest object is the only clock", []string{pod("a", quoted(now)), pod("b", quoted(early))}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "dump.json")
			list := `{"apiVersion":"v1","kind":"List","items":[`
			for i, o := range tt.objects {
				if i > 0 {
					list += ","
				}
				list += o
			}
			if err := os.WriteFile(path, []byte(list+"]}"), 0o600); err != nil {
				t.Fatal(err)
			}
			s, err := ReadFiles([]string{path}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := s.Doubt(types.UID("owner")); got != tt.want {
				t.Errorf("%q, not %q", got, tt.want)
			}
			vouched, err := ReadFiles([]string{path}, Options{TreatMissingAsAbsent: true})
			if err != nil || vouched.Doubt(types.UID("owner")) != "" {
				t.Errorf("vouched for: %q, %v", vouched.Doubt(types.UID("owner")), err)
			}
		})
	}
}

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
