package health_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// taken returns the evidence in a text, read from the fields that wants selects, and the number of
// unreadable objects.
func taken(text []byte, wants func(*object.Object) *manifest.Fields) (w *health.Evidence, failed int, err error) {
	w = &health.Evidence{}
	err = manifest.Read(bytes.NewReader(text), manifest.Options{}, manifest.Handler{
		Wants: wants,
		Raw: func(o *object.Object, text []byte) error {
			if w.Add(o.APIVersion, o.Kind, text) != nil {
				failed++
			}
			return nil
		},
		Foreign: func(manifest.Position, string) error { return nil },
	})
	return w, failed, err
}

// sameEvidence checks that the selected fields of objects give the same evidence as whole objects.
func sameEvidence(t *testing.T, text []byte) {
	t.Helper()
	whole, failed, err := taken(text, func(o *object.Object) *manifest.Fields {
		if health.FieldsOf(o) == nil {
			return nil
		}
		return manifest.Everything
	})
	if err != nil {
		return
	}
	part, partFailed, err := taken(text, health.FieldsOf)
	if err != nil || failed != partFailed {
		t.Fatalf("%s: %d objects failed, in part %d, %v", text, failed, partFailed, err)
	}
	if diff := cmp.Diff(whole, part, cmpopts.IgnoreUnexported(health.Evidence{})); diff != "" {
		t.Fatalf("%s (-whole +part):\n%s", text, diff)
	}
}

// TestFieldsOf: the selected fields give the same evidence as whole objects, even if some of them
// have an unexpected type.
func TestFieldsOf(t *testing.T) {
	files, err := filepath.Glob("../../examples/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range append(files, "testdata/world.yaml") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		sameEvidence(t, text)
	}
	text, err := os.ReadFile("testdata/world.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for document := range bytes.SplitSeq(text, []byte("\n---\n")) {
		var object map[string]any
		if err := yaml.Unmarshal(document, &object); err != nil {
			t.Fatal(err)
		}
		each(object, func() {
			asJSON, err := json.Marshal(object)
			if err != nil {
				t.Fatal(err)
			}
			asYAML, err := yaml.Marshal(object)
			if err != nil {
				t.Fatal(err)
			}
			sameEvidence(t, asJSON)
			sameEvidence(t, asYAML)
		})
	}
}

// each calls f with every value below v replaced by others.
func each(v any, f func()) {
	others := []any{nil, true, 7, "x", "two\nlines", []any{}, []any{"x"}, map[string]any{}, map[string]any{"a": "b"}}
	switch v := v.(type) {
	case map[string]any:
		for key, was := range v {
			for _, v[key] = range others {
				f()
			}
			v[key] = was
			each(was, f)
		}
	case []any:
		for i, was := range v {
			for _, v[i] = range others {
				f()
			}
			v[i] = was
			each(was, f)
		}
	}
}

// TestOldLine: lines of evidence in older snapshots have the names of references in upper case.
func TestOldLine(t *testing.T) {
	r, err := health.ParseLine([]byte(`{"events":[{"about":{"APIVersion":"v1","Kind":"Pod","Namespace":"shop","Name":"web","UID":"u"}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if want := (object.Ref{APIVersion: "v1", Kind: "Pod", Namespace: "shop", Name: "web", UID: "u"}); len(r.Shown.Events) != 1 || r.Shown.Events[0].About != want {
		t.Errorf("events %+v, want one about %s", r.Shown.Events, want)
	}
}
