package manifest

import (
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// A dump may lack the status of a definition. Its instances exist nevertheless.
func TestDefinitionWithoutConditionsIsEstablished(t *testing.T) {
	const text = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"as.b"},
		"spec":{"group":"b","names":{"kind":"A","plural":"as"},"scope":"Namespaced","versions":[{"name":"v1","served":true,"storage":true}]}%}`
	for status, want := range map[string]bool{
		"":                            true,
		`,"status":{"conditions":[]}`: false,
		`,"status":{"conditions":[{"type":"Established","status":"True"}]}`:  true,
		`,"status":{"conditions":[{"type":"Established","status":"False"}]}`: false,
	} {
		var got *object.CRDFacts
		err := Read(strings.NewReader(strings.Replace(text, "%", status, 1)), Options{File: "x"}, Handler{
			Object: func(o *object.Object, _ bool, _ Position) error {
				got = o.Definition()
				return nil
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		if got == nil || got.Established != want {
			t.Errorf("status %q: %+v, want established %v", status, got, want)
		}
	}
}

// To remove a version, a person must know in which versions instances may be stored.
func TestDefinitionTellsStoredVersions(t *testing.T) {
	const text = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"as.b"},
		"spec":{"group":"b","names":{"kind":"A","plural":"as"},"scope":"Namespaced","versions":[]},"status":{"storedVersions":["v1","v2"]}}`
	var got *object.CRDFacts
	err := Read(strings.NewReader(text), Options{File: "x"}, Handler{
		Object: func(o *object.Object, _ bool, _ Position) error {
			got = o.Definition()
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got == nil || !slices.Equal(got.Stored, []string{"v1", "v2"}) {
		t.Errorf("%+v, want v1 and v2", got)
	}
}

// besideSpec are objects with fields outside of spec and status that the deletion of other objects
// changes, with their fields in several orders.
const besideSpec = `{"apiVersion":"v1","kind":"List","items":[
{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"ci"},"secrets":[{"name":"ci-token"},{"kind":"Secret","name":"ci-pull"},{}],"imagePullSecrets":[{"name":"x"}]},
{"secrets":[{"name":"late"}],"metadata":{"name":"late"},"kind":"ServiceAccount","apiVersion":"v1"},
{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"none"}},
{"apiVersion":"example.com/v1","kind":"ServiceAccount","metadata":{"name":"other"},"secrets":{"a":1},"rules":7},
{"aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"to":"all"}},{"matchExpressions":[{"key":"to","operator":"In","values":["b","a"]}]}]},
 "apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"all"},"rules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}]},
{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"same","labels":{"to":"all"}},"rules":[{"resources":["pods"],"apiGroups":[""],"resourceNames":[],"verbs":["get"]},{"nonResourceURLs":["/x"],"verbs":["get"]}]},
{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"none"},"rules":null},
{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"rules"},"rules":{"a":[1]},"secrets":"x"}
]}`

// TestBesideSpec: fields outside of spec and status are read from JSON and from YAML in any order
// of the fields, and of no other kind.
func TestBesideSpec(t *testing.T) {
	text, err := yaml.JSONToYAML([]byte(besideSpec))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{besideSpec, string(text)} {
		f, err := find(text, Options{})
		if err != nil || len(f.Objects) != 8 {
			t.Fatalf("%v, %v", f.lines(), err)
		}
		facts := map[string]object.Facts{}
		for _, o := range f.Objects {
			facts[o.Kind+" "+o.Name] = o.Facts()
		}
		for _, name := range []string{"ServiceAccount none", "ServiceAccount other", "ClusterRole none"} {
			if facts[name] != nil {
				t.Errorf("%s has facts: %+v", name, facts[name])
			}
		}
		ci, _ := facts["ServiceAccount ci"].(*object.ServiceAccountFacts)
		late, _ := facts["ServiceAccount late"].(*object.ServiceAccountFacts)
		if ci == nil || late == nil || !slices.Equal(ci.Secrets, []string{"ci-token", "ci-pull"}) || !slices.Equal(late.Secrets, []string{"late"}) {
			t.Errorf("secrets %+v, %+v", ci, late)
		}
		all, _ := facts["ClusterRole all"].(*object.ClusterRoleFacts)
		same, _ := facts["ClusterRole same"].(*object.ClusterRoleFacts)
		if all == nil || same == nil || len(all.Rules) != 1 || len(same.Rules) != 2 || all.Rules[0] != same.Rules[0] || same.Rules[0] == same.Rules[1] {
			t.Fatalf("rules %+v, %+v", all, same)
		}
		if !slices.Equal(all.Aggregates, []string{"to=all", "to in (a,b)"}) || len(same.Aggregates) != 0 {
			t.Errorf("aggregates %q, %q", all.Aggregates, same.Aggregates)
		}
	}
}

// TestBesideSpecFaults: a meaningless value is a Problem.
func TestBesideSpecFaults(t *testing.T) {
	account := func(rest string) string {
		return `{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"a"},` + rest + `}`
	}
	role := func(rest string) string {
		return `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"a"},` + rest + `}`
	}
	for input, want := range map[string]string{
		account(`"secrets":{}`):                        "secrets is a mapping; it must be a list",
		account(`"secrets":["a"]`):                     "an entry of secrets is a string; it must be a mapping",
		account(`"secrets":[{"name":"a","name":"b"}]`): "an entry of secrets has name twice",
		account(`"secrets":[],"secrets":[]`):           "secrets is there twice",
		role(`"rules":{}`):                             "rules is not a list of rules",
		role(`"rules":[{"verbs":"get"}]`):              "rules is not a list of rules",
		role(`"rules":[],"rules":[]`):                  "rules is there twice",
		role(`"aggregationRule":[]`):                   "aggregationRule is not a mapping with label selectors",
		role(`"aggregationRule":{"clusterRoleSelectors":[{"matchExpressions":[{"key":"a","operator":"Near"}]}]}`): `aggregationRule: "Near" is not a valid label selector operator`,
	} {
		if _, err := find(input, Options{}); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s\n\tgot %v\n\twant %s", input, err, want)
		}
	}
}

// TestBesideSpecOfDocuments: YAML documents that are no list are read in the same way.
func TestBesideSpecOfDocuments(t *testing.T) {
	wantLines(t, `apiVersion: example.com/v1
kind: Alerts
metadata: {name: a}
rules:
- {alert: x}
secrets: none
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: ci}
secrets:
- name: ci-token
  kind: Secret
`, Options{}, "example.com/v1 Alerts a uid=", "v1 ServiceAccount ci uid= secrets=[ci-token]")
}
