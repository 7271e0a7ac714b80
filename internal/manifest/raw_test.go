package manifest

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// rawOf reads an input and the text of its objects.
func rawOf(input []byte, o Options, wants func(*object.Object) bool) (objects []*object.Object, texts map[*object.Object][]byte, err error) {
	texts = map[*object.Object][]byte{}
	err = Read(bytes.NewReader(input), o, Handler{
		Object: func(o *object.Object, _ bool, _ Position) error { objects = append(objects, o); return nil },
		Wants:  wants,
		Raw: func(o *object.Object, text []byte) error {
			texts[o] = bytes.Clone(text)
			return nil
		},
		Foreign: func(Position, string) error { return nil },
	})
	return objects, texts, err
}

// sameRead wants the same objects with texts as without, and from each text the
// object that it is the text of.
func sameRead(t *testing.T, input []byte, o Options) {
	t.Helper()
	plain, errPlain := find(string(input), o)
	objects, texts, err := rawOf(input, o, nil)
	if (err == nil) != (errPlain == nil) {
		t.Fatalf("with texts: %v; without: %v", err, errPlain)
	}
	if diff := cmp.Diff(plain.Objects, objects, cmp.Comparer(object.Equal)); diff != "" {
		t.Fatalf("objects without and with texts:\n%s", diff)
	}
	for _, x := range objects {
		text, ok := texts[x]
		if !ok {
			if err == nil {
				t.Fatalf("%s: no text", x.Ref)
			}
			continue
		}
		if len(text) == 0 {
			continue
		}
		if !json.Valid(text) {
			t.Fatalf("%s: not JSON: %s", x.Ref, text)
		}
		back, err := find(string(text), Options{APIVersion: x.APIVersion, Kind: x.Kind, Namespace: x.Namespace})
		if err != nil || len(back.Objects) != 1 {
			continue // the item of a flattened list is none outside of it
		}
		if !object.Equal(back.Objects[0], x) {
			t.Fatalf("%s: read from its text:\n%s", x.Ref, describe(x)+"\n"+describe(back.Objects[0]))
		}
	}
}

func TestTextsOfObjects(t *testing.T) {
	files, err := filepath.Glob("testdata/in/*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(filepath.Base(name), func(t *testing.T) {
			sameRead(t, text, Options{})
			sameRead(t, text, Options{SkipText: true})
		})
	}
}

// TestWholeText wants all of an object in its text, whatever form it came in, and
// only for those that are asked for.
func TestWholeText(t *testing.T) {
	list := podList(t, 40, 10)
	asYAML, err := yaml.JSONToYAML(list)
	if err != nil {
		t.Fatal(err)
	}
	var want struct {
		Items []map[string]any `json:"items"`
	}
	if err := json.Unmarshal(list, &want); err != nil {
		t.Fatal(err)
	}
	var documents bytes.Buffer
	for _, item := range want.Items {
		text, err := yaml.Marshal(item)
		if err != nil {
			t.Fatal(err)
		}
		documents.WriteString("---\n")
		documents.Write(text)
	}
	for name, input := range map[string][]byte{"JSON": list, "YAML": asYAML, "documents": documents.Bytes()} {
		objects, texts, err := rawOf(input, Options{}, func(o *object.Object) bool { return o.Name[len(o.Name)-1] != '3' })
		if err != nil || len(objects) != len(want.Items) {
			t.Fatalf("%s: %d objects, %v", name, len(objects), err)
		}
		for i, o := range objects {
			text, ok := texts[o]
			if unwanted := o.Name[len(o.Name)-1] == '3'; unwanted == ok {
				t.Fatalf("%s: %s: handed over %v", name, o.Ref, ok)
			}
			var got map[string]any
			if !ok {
				continue
			}
			if err := json.Unmarshal(text, &got); err != nil {
				t.Fatalf("%s: %s: %v", name, o.Ref, err)
			}
			if diff := cmp.Diff(want.Items[i], got); diff != "" {
				t.Fatalf("%s: %s (-want +got):\n%s", name, o.Ref, diff)
			}
		}
	}
}

// TestTextOfKindless: a list that says its kind last.
func TestTextOfKindless(t *testing.T) {
	for _, input := range []string{
		`{"items":[{"metadata":{"name":"a","namespace":"n"},"spec":{"x":1}}],"kind":"PodList","apiVersion":"v1"}`,
		"items:\n- metadata:\n    name: a\n    namespace: ns\n  spec:\n    x: 1\nkind: PodList\napiVersion: v1\n",
	} {
		objects, texts, err := rawOf([]byte(input), Options{}, nil)
		if err != nil || len(objects) != 1 {
			t.Fatalf("%q: %v, %v", input, objects, err)
		}
		var got map[string]any
		if err := json.Unmarshal(texts[objects[0]], &got); err != nil || got["spec"] == nil {
			t.Errorf("%q: %s, %v", input, texts[objects[0]], err)
		}
	}
}

// FuzzTexts wants the same objects with texts as without.
func FuzzTexts(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, input []byte) { sameRead(t, input, Options{}) })
}
