package manifest

import (
	"slices"
	"strings"
	"testing"

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
