package manifest

import (
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// whatIsProtected is a list of objects with and without protecting annotations.
const whatIsProtected = `{"kind":"List","apiVersion":"v1","items":[
{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","annotations":{"x":"y","kubectl-gc.io/protect":"true"}}},
{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b","annotations":{"helm.sh/resource-policy":"keep","kubectl-gc.io/protect":"false"}}},
{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","annotations":{"helm.sh/resource-policy":"keep","kubectl-gc.io/protect":"yes"},"finalizers":["x.io/a"]}},
{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"d","annotations":{"helm.sh/resource-policy":"delete","meta.helm.sh/release-name":"keep"},"finalizers":["x.io/a"]}},
{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"e","annotations":{"kubectl-gc.io/protect":""},"deletionTimestamp":"2026-11-21T12:00:00Z"}},
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"f","annotations":{"kubectl-gc.io/protect":"true"}},"spec":{"nodeName":"n1"}},
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"g"},"spec":{"nodeName":"n1"}},
{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"h","labels":{"kubectl-gc.io/protect":"true"},"annotations":null}}
]}`

// TestProtectingAnnotations: protecting annotations are read from JSON and from YAML, on plain
// objects, with finalizers, with facts and during a deletion. Objects with the same facts and
// another protection don't share a Lifecycle.
func TestProtectingAnnotations(t *testing.T) {
	want := []string{
		"v1 ConfigMap a uid= protection=1 in list",
		"v1 ConfigMap b uid= protection=100010 in list",
		"v1 ConfigMap c uid= finalizers=[x.io/a] protection=100011 in list",
		"v1 ConfigMap d uid= finalizers=[x.io/a] in list",
		"v1 ConfigMap e uid= deleted=1795262400 protection=1 in list",
		"v1 Pod f uid= protection=1 pod={n1  mirror=false} in list",
		"v1 Pod g uid= pod={n1  mirror=false} in list",
		"v1 ConfigMap h uid= labels=kubectl-gc.io/protect|true| in list",
		`list "v1" "List" 8 partial=false`,
	}
	wantLines(t, whatIsProtected, Options{}, want...)
	text, err := yaml.JSONToYAML([]byte(whatIsProtected))
	if err != nil {
		t.Fatal(err)
	}
	wantLines(t, string(text), Options{}, want...)
}

// TestProtectionIsNoGuess: a protecting annotation that occurs twice or is no string is a Problem,
// because either reading could cost the object.
func TestProtectionIsNoGuess(t *testing.T) {
	for value, complaint := range map[string]string{
		`"kubectl-gc.io/protect":"true","kubectl-gc.io/protect":"false"`:    "is there twice",
		`"helm.sh/resource-policy":"keep","helm.sh/resource-policy":"keep"`: "is there twice",
		`"kubectl-gc.io/protect":true`:                                      "a string",
	} {
		_, err := find(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","annotations":{`+value+`}}}`, Options{})
		if err == nil || !strings.Contains(err.Error(), complaint) {
			t.Errorf("%s: %v, want %q", value, err, complaint)
		}
	}
}

// TestProtectionIsShared: an unprotected object without finalizers has no Lifecycle,
// and protected ones share theirs.
func TestProtectionIsShared(t *testing.T) {
	f, err := find(`[{"apiVersion":"v1","kind":"A","metadata":{"name":"a","annotations":{"kubectl-gc.io/protect":"true"}}},
{"apiVersion":"v1","kind":"A","metadata":{"name":"b","annotations":{"kubectl-gc.io/protect":"true"}}},
{"apiVersion":"v1","kind":"A","metadata":{"name":"c","annotations":{"kubectl-gc.io/protect":"false"}}}]`, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var lifecycles []*object.Lifecycle
	for _, o := range f.Objects {
		lifecycles = append(lifecycles, o.Lifecycle)
	}
	if len(lifecycles) != 3 || lifecycles[0] == nil || lifecycles[0] != lifecycles[1] || lifecycles[2] != nil {
		t.Errorf("%v", lifecycles)
	}
}
