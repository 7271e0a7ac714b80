package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// rawOf reads an input and the texts of its objects.
func rawOf(input []byte, o Options, wants func(*object.Object) *Fields) (objects []*object.Object, texts map[*object.Object][]byte, err error) {
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

// sameRead expects the same objects with and without texts, and that each text decodes to its
// object.
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

// TestWholeText expects the whole object in its text, for any form of input, and only for requested
// objects.
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
		objects, texts, err := rawOf(input, Options{}, func(o *object.Object) *Fields {
			if o.Name[len(o.Name)-1] == '3' {
				return nil
			}
			return Everything
		})
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

// TestTextOfKindless: a list with its kind at the end.
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

// wide requests fields of every form, in addition to those that are read anyway.
var wide = FieldsOf(struct {
	Kind     string `json:"kind"`
	Metadata struct {
		Name   string            `json:"name"`
		Labels map[string]string `json:"labels"`
		Fields json.RawMessage   `json:"managedFields"`
	} `json:"metadata"`
	Spec struct {
		A any      `json:"a"`
		C []string `json:"c"`
		L []struct {
			E *int `json:"e"`
		} `json:"l"`
		X []struct{} `json:"x"`
	} `json:"spec"`
	Data map[string]any `json:"data"`
}{})

// textsOf returns the texts of an input with parts of its objects. With fully, it uses only the
// full parser.
func textsOf(input []byte, wanted *Fields, fully bool) (texts []string, err error) {
	rd := newReading(Options{}, Handler{
		Wants:   func(*object.Object) *Fields { return wanted },
		Raw:     func(_ *object.Object, text []byte) error { texts = append(texts, string(text)); return nil },
		Foreign: func(Position, string) error { return nil },
	})
	rd.fullOnly = fully
	return texts, rd.run(bytes.NewReader(input))
}

// sameTexts compares the texts of the scan with those of the full parser.
func sameTexts(t *testing.T, input []byte) {
	t.Helper()
	for _, wanted := range []*Fields{Everything, wide} {
		fast, errFast := textsOf(input, wanted, false)
		full, errFull := textsOf(input, wanted, true)
		if errFast != nil || errFull != nil {
			continue
		}
		if len(fast) != len(full) {
			t.Fatalf("%d texts, and %d by the full parser", len(fast), len(full))
		}
		for i := range fast {
			var a, b any
			if fast[i] == "" || full[i] == "" { // one of them needs more than it may
				continue
			}
			if err := errors.Join(json.Unmarshal([]byte(fast[i]), &a), json.Unmarshal([]byte(full[i]), &b)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(b, a); diff != "" {
				t.Fatalf("%q (-full parser +scan):\n%s", input, diff)
			}
		}
	}
}

// texts are documents with difficult texts.
var hardTexts = []string{
	"apiVersion: v1\nkind: Event\nmetadata:\n  name: a\nspec:\n  a: long\n    text: of words\n",
	"apiVersion: v1\nkind: Event\nmetadata:\n  name: a\nspec:\n  a: long text\n    of many\n    words\n  c:\n  - -c\n  - --x=y\n  - 'it''s\n    so'\n  - \"a\\n\\\"b\\\" \\u00e9\n    c\"\n  - \"a\\\n    b\"\n",
	"apiVersion: v1\nkind: Event\nmetadata:\n  name: a\nspec:\n  a: |\n    x\n      y\n\n    z\n\n\n  c:\n  - |-\n    a\n    b\n\n  - |+\n    a\n\n  - |\n  - |+\n\n  - >\n    folded\n    on\n  - |2\n      x\n",
	"apiVersion: v1\nkind: Event\nmetadata:\n  name: a\nspec:\n  a: |\n    x\n\n",
	"apiVersion: v1\nkind: Event\nmetadata:\n  name: a\nspec:\n  a: |\n    x",
	"apiVersion: v1\nkind: Event\nmetadata:\n  name: a\nspec:\n  a: |+\n    x\n\n---\napiVersion: v1\nkind: Event\nmetadata:\n  name: b\nspec:\n  a: one\n\n    two\n  c: 'x\n\n    y'\n",
	"apiVersion: v1\nkind: Event\nmetadata:\n  name: a\n  labels:\n    .: x\n    y: on\n  managedFields:\n  - fieldsV1:\n      f:a:\n        .: {}\n        k:{\"uid\":\"x\"}: {}\n        v:\"a.b/c\": {}\n    time: \"2026-11-21T12:34:21Z\"\nspec:\n  l:\n  - e: 1\n    f: 2\n  - {}\n  x:\n  - a\n  - b: c\n",
	"apiVersion: v1\nkind: Event\nmetadata:\n  name: a\nspec:\n  a: true\n    x\n  c: 1\n",
	"apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Event\n  metadata:\n    name: a\n  spec:\n    a: |\n      x\n\n- apiVersion: v1\n  kind: Event\n  metadata:\n    name: b\n  data:\n    a: |\n        x\n       y\n",
	"apiVersion: v1\nitems:\n- metadata:\n    name: a\n  spec:\n    a: |-\n      x\n    c: [a]\nkind: PodList\n",
	"apiVersion: v1\nkind: Event\nmetadata:\n  name: a\nspec:\n  a: -.inf\n  c:\n  - -0x1\n  - -1\n  - -\n  - - -a\n  - --\n  - -a-\n",
}

func TestTextsByScan(t *testing.T) {
	for _, text := range append(hardTexts, hardYAML...) {
		sameTexts(t, []byte(text))
		sameTexts(t, bytes.ReplaceAll([]byte(text), newline, []byte("\r\n")))
	}
}

// TestPartOfText: fields that are not requested are not in the text.
func TestPartOfText(t *testing.T) {
	const want = `{"kind":"Pod","metadata":{"name":"a","labels":{"x":"z"}},"spec":{"l":[{"e":1},{}],"x":[{}]}}`
	for _, input := range []string{
		`{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "uid": "u", "labels": {"x": "z"}}, "spec": {"b": {}, "l": [{"e": 1, "f": 2}, {"g": []}], "x": [{"y": 1}]}, "status": {}}`,
		"apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  uid: u\n  labels:\n    x: z\nspec:\n  b: {}\n  l:\n  - e: 1\n    f: 2\n  - g: []\n  x:\n  - y: 1\nstatus: {}\n",
		"apiVersion: v1\nkind: Pod\nmetadata: {name: a, uid: u, labels: {x: z}}\nspec: {b: {}, l: [{e: 1, f: 2}, {g: []}], x: [{y: 1}]}\nstatus: {}\n",
	} {
		if texts, err := textsOf([]byte(input), wide, false); err != nil || len(texts) != 1 || texts[0] != want {
			t.Errorf("%s: %v, %v", input, texts, err)
		}
	}
}

// FuzzTexts expects the same objects with and without texts, and the texts of the full parser.
func FuzzTexts(f *testing.F) {
	seeds(f)
	for _, text := range hardTexts {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		sameRead(t, input, Options{})
		sameTexts(t, input)
	})
}

// TestRawOfLargeObject: if only parts are requested, an object above the limit for one value has no
// text, and the following object has one. If whole objects are requested, exceeding the limit is an
// error.
func TestRawOfLargeObject(t *testing.T) {
	long := strings.Repeat("x", 600<<10)
	pod := func(name, rest string) string {
		return `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"` + name + `"},"spec":{"nodeName":"n"` + rest + `}}`
	}
	for _, input := range []string{
		pod("large", `,"x":"`+long+`"`) + pod("small", ""),
		`{"apiVersion":"v1","kind":"List","items":[` + pod("large", `,"x":"`+long+`"`) + "," + pod("small", "") + `]}`,
		`{"items":[{"metadata":{"name":"large"},"spec":{"nodeName":"n","x":"` + long + `"}},{"metadata":{"name":"small"},"spec":{"nodeName":"n"}}],"apiVersion":"v1","kind":"PodList"}`,
	} {
		var got []string
		h := Handler{
			Object: func(*object.Object, bool, Position) error { return nil },
			Raw: func(o *object.Object, text []byte) error {
				got = append(got, fmt.Sprintf("%s %t", o.Name, len(text) > 0))
				return nil
			},
			Wants: func(*object.Object) *Fields {
				return FieldsOf(struct {
					Spec struct {
						NodeName string `json:"nodeName"`
					} `json:"spec"`
				}{})
			},
		}
		if err := Read(strings.NewReader(input), Options{File: "in", Limits: small}, h); err != nil || strings.Join(got, ", ") != "large false, small true" {
			t.Errorf("%.40s…: %q, %v", input, got, err)
		}
		h.Wants = nil
		if err := Read(strings.NewReader(input), Options{File: "in", Limits: small}, h); !errors.Is(err, ErrLimit) {
			t.Errorf("%.40s…, whole: %v", input, err)
		}
	}
}
