package snapshot

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// TestProjections: an object that an aggregated API server shows again is one object.
func TestProjections(t *testing.T) {
	extension := func(group, version, name, kind string) object.Resource {
		return object.Resource{Group: group, Version: version, Name: name, Kind: kind, Namespaced: true, Verbs: object.AllVerbs}
	}
	image := func(kind, name string) *object.Object {
		return &object.Object{Ref: object.Ref{APIVersion: "image.openshift.io/v1", Kind: kind, Namespace: "a", Name: name, UID: "1"}}
	}
	some := func(apiVersion, kind, name, uid string) *object.Object {
		return &object.Object{Ref: object.Ref{APIVersion: apiVersion, Kind: kind, Namespace: "a", Name: name, UID: types.UID(uid)}}
	}
	resources := BuiltinResources()
	for _, r := range []object.Resource{
		extension("image.openshift.io", "v1", "imagestreams", "ImageStream"),
		extension("image.openshift.io", "v1", "imagestreamtags", "ImageStreamTag"),
		extension("authorization.openshift.io", "v1", "rolebindings", "RoleBinding"),
		extension("crd.projectcalico.org", "v1", "networksets", "NetworkSet"),
		extension("projectcalico.org", "v3", "networksets", "NetworkSet"),
		extension("view.example.com", "v1", "settings", "Settings"),
		extension("other.example.com", "v1", "parts", "Part"),
	} {
		resources.Add(r)
	}
	for name, x := range map[string]struct {
		objects  []*object.Object
		kept     string
		problems int
	}{
		"the uid of another name": {[]*object.Object{image("ImageStream", "app"), image("ImageStreamTag", "app:latest"), image("ImageStreamTag", "app:v1")},
			"image.openshift.io/v1 ImageStream a/app", 0},
		"the same storage": {[]*object.Object{some("authorization.openshift.io/v1", "RoleBinding", "admin", "2"), some("rbac.authorization.k8s.io/v1", "RoleBinding", "admin", "2")},
			"rbac.authorization.k8s.io/v1 RoleBinding a/admin", 0},
		"an aggregated API in front of CRDs": {[]*object.Object{some("crd.projectcalico.org/v1", "NetworkSet", "default.x", "3"), some("projectcalico.org/v3", "NetworkSet", "x", "4")},
			"crd.projectcalico.org/v1 NetworkSet a/default.x", 0},
		"every object is one of another kind": {[]*object.Object{some("v1", "ConfigMap", "x", "5"), some("v1", "Secret", "y", "6"), some("view.example.com/v1", "Settings", "x", "5"), some("view.example.com/v1", "Settings", "y", "6")},
			"v1 ConfigMap a/x, v1 Secret a/y", 0},
		"one is its own": {[]*object.Object{some("v1", "ConfigMap", "x", "5"), some("view.example.com/v1", "Settings", "x", "5"), some("view.example.com/v1", "Settings", "z", "7")},
			"v1 ConfigMap a/x, view.example.com/v1 Settings a/x, view.example.com/v1 Settings a/z", 1},
		"another name": {[]*object.Object{some("v1", "ConfigMap", "x", "5"), some("view.example.com/v1", "Settings", "y", "5")},
			"v1 ConfigMap a/x, view.example.com/v1 Settings a/y", 1},
		"which of two shows the other is not known": {[]*object.Object{some("other.example.com/v1", "Part", "x", "5"), some("view.example.com/v1", "Settings", "x", "5")},
			"other.example.com/v1 Part a/x, view.example.com/v1 Settings a/x", 1},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := New(x.objects, resources.Clone(), nil, Source{})
			if err != nil {
				t.Fatal(err)
			}
			var kept []string
			for _, o := range s.Objects {
				kept = append(kept, printable(o.Ref))
			}
			if diff := cmp.Diff(x.kept, strings.Join(kept, ", ")); diff != "" {
				t.Errorf("-want +kept:\n%s", diff)
			}
			if len(s.Problems) != x.problems {
				t.Errorf("problems %+v", s.Problems)
			}
			for _, r := range s.Resources.All() {
				if _, is := object.ProjectionOf(r.GroupResource()); is && r.Verbs != object.Get {
					t.Errorf("%s has verbs %v", r.GroupResource(), r.Verbs)
				}
			}
		})
	}
}
