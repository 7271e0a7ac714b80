package backup

import (
	"encoding/json"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/backup/undo"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

func savedAs(apiVersion, kind, namespace, name, more string) undo.Saved {
	ref := object.Ref{APIVersion: apiVersion, Kind: kind, Namespace: namespace, Name: name, UID: types.UID("u-" + kind + name)}
	raw := `{"metadata":{"name":"` + name + `","uid":"` + string(ref.UID) + `"` + more
	if namespace != "" {
		raw += `,"namespace":"` + namespace + `"`
	}
	return undo.Saved{Object: ref, Raw: []byte(raw + `},"count":9007199254740993}`)}
}

func nothing(object.Ref) (*object.Object, error) { return nil, nil }

// The sent body names the old UID, and keeps its annotations and the digits of numbers.
func TestBodyOf(t *testing.T) {
	full := `{"a":"` + strings.Repeat("x", 256<<10-len("a")) + `"}` // no server takes more
	for more, want := range map[string]string{
		`,"annotations":` + full:     full,
		``:                           `{"kubectl-gc.io/restored-from":"u-ConfigMapa"}`,
		`,"annotations":{"a":"<b>"}`: `{"a":"<b>","kubectl-gc.io/restored-from":"u-ConfigMapa"}`,
	} {
		plan := undo.Resume([]undo.Saved{savedAs("v1", "ConfigMap", "shop", "a", more)}, undo.Cluster{Lookup: nothing}, nil)
		var m undo.Mapping
		body, err := bodyOf(&plan.Steps[0], &m)
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			Metadata struct{ Annotations json.RawMessage }
			Count    json.Number
		}
		if err := json.Unmarshal(body, &got); err != nil {
			t.Fatal(err)
		}
		if string(got.Metadata.Annotations) != want || got.Count != "9007199254740993" {
			t.Errorf("%s", body)
		}
	}
}

// Steps that need an object of an earlier step can't be tried.
func TestWhatCannotBeTried(t *testing.T) {
	for _, tt := range []struct {
		name string
		make []undo.Saved
		try  undo.Saved
		not  bool
	}{
		{"alone", nil, savedAs("v1", "ConfigMap", "shop", "a", ""), false},
		{"with its namespace", []undo.Saved{savedAs("v1", "Namespace", "", "shop", "")}, savedAs("v1", "ConfigMap", "shop", "a", ""), true},
		{"with another namespace", []undo.Saved{savedAs("v1", "Namespace", "", "other", "")}, savedAs("v1", "ConfigMap", "shop", "a", ""), false},
		{"with a CRD", []undo.Saved{savedAs("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "carts.example.com", "")}, savedAs("example.com/v1", "Cart", "shop", "a", ""), true},
		{"built in, with a CRD", []undo.Saved{savedAs("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "carts.example.com", "")}, savedAs("apps/v1", "Deployment", "shop", "a", ""), false},
		{"a pod with an account", []undo.Saved{savedAs("v1", "ServiceAccount", "shop", "runner", "")}, savedAs("v1", "Pod", "shop", "a", ""), true},
	} {
		plan := undo.Resume(append(tt.make, tt.try), undo.Cluster{Lookup: nothing}, nil)
		made := steps(plan)
		for i := range plan.Steps {
			if s := &plan.Steps[i]; s.Object.Kind == tt.try.Object.Kind && made.isNeededBy(s) != tt.not {
				t.Errorf("%s: cannot be tried: %t", tt.name, !tt.not)
			}
		}
	}
}
