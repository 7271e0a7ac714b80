package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"
)

// findInParts reads all parts of a text, as one.
func findInParts(parts []*Part) (*found, error) {
	all := &found{}
	for i, p := range parts {
		one := &found{}
		if err := p.Read(Options{File: "in"}, one.handler()); err != nil {
			return nil, err
		}
		all.Objects, all.InList = append(all.Objects, one.Objects...), append(all.InList, one.InList...)
		if i > 0 {
			one.Lists[0].Items += all.Lists[0].Items
		}
		all.Lists = one.Lists
	}
	return all, nil
}

// checkParts wants of parts that can be read what the whole text has. It reports whether they can.
func checkParts(t interface{ Fatalf(string, ...any) }, text string, parts []*Part) bool {
	got, err := findInParts(parts)
	if err != nil {
		return false
	}
	want, err := find(text, Options{})
	if err != nil {
		t.Fatalf("%d parts can be read, and the whole cannot: %v\n%s", len(parts), err, text)
	}
	if diff := cmp.Diff(append(want.lines(), fmt.Sprint(want.Lists)), append(got.lines(), fmt.Sprint(got.Lists))); diff != "" {
		t.Fatalf("(-the whole +%d parts):\n%s\n%s", len(parts), diff, text)
	}
	return true
}

// cut divides a text at the places that are given, be they between items or not.
func cut(text string, places []int) []*Part {
	parts := Parts(strings.NewReader(text), int64(len(text)), 1)
	if parts == nil {
		return nil
	}
	p := *parts[0]
	parts = nil
	for _, at := range places {
		if int64(at) <= p.from || int64(at) >= p.tail {
			continue
		}
		part := p
		part.to = int64(at)
		parts = append(parts, &part)
		if p.from = int64(at); text[at] == ',' {
			p.from++
		}
	}
	p.to = p.tail
	return append(parts, &p)
}

// readable is how many of the lists can be read in parts.
const readable = 5

// lists are texts of lists. In some more than their items looks like items.
func lists(tb testing.TB) []string {
	pods := string(podList(tb, 12, 3))
	asYAML, err := yaml.JSONToYAML([]byte(pods))
	if err != nil {
		tb.Fatal(err)
	}
	var compact bytes.Buffer
	for i := range 12 {
		fmt.Fprintf(&compact, `,{"metadata":{"name":"%d","ownerReferences":[{"kind":"A","name":"a"},{"kind":"B","name":"b"}]}}`, i)
	}
	items := compact.String()[1:]
	return []string{
		pods, string(asYAML),
		`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"3"},"items":[` + items + `]}` + "\n",
		`{"apiVersion":"v1","items":[` + items + `],"kind":"PodList","metadata":{"continue":"x"}}`,
		`{"apiVersion":"v1","others":[` + items + `],"items":[` + items + `],"kind":"PodList"}`,
		`{"apiVersion":"v1","items":[` + strings.ReplaceAll(items, `"name":"b"}`, `"metadata":{}},{"metadata":{}},{"metadata":{}}`) + `],"kind":"PodList"}`,
		`{"apiVersion":"v1","items":[` + items + `],"others":[` + items + `],"kind":"PodList"}`,
		`{"apiVersion":"v1","items":[` + items + `],"kind":"PodList"}{"apiVersion":"v1","items":[` + items + `],"kind":"PodList"}`,
		`{"apiVersion":"v1","items":[{"kind":"List","apiVersion":"v1","items":[{"kind":"PodList","apiVersion":"v1","items":[` + items + `]}]}],"kind":"List"}`,
		strings.Replace(string(asYAML), "\nkind: List", "\nothers:\n- apiVersion: v1\n- apiVersion: v1\nkind: List", 1),
		strings.Replace(string(asYAML), "    name: web-2", "    name: &a web-2", 1),
		strings.Replace(string(asYAML), "    namespace: shop", "    namespace: 'shop", 2),
		strings.Replace(string(asYAML), "\n- apiVersion", "\n---\n- apiVersion", 5),
		strings.ReplaceAll(string(asYAML), "    name: web-2", "    name: 'web-2\n- x'"),
		strings.ReplaceAll(string(asYAML), "    name: web-2", "    name: {}\n    x: |\n"),
	}
}

// TestParts: a list as kubectl writes it is read in as many parts as are asked for.
func TestParts(t *testing.T) {
	for i, text := range lists(t)[:readable] {
		for most := range 5 {
			parts := Parts(strings.NewReader(text), int64(len(text)), most+1)
			if len(parts) != most+1 || !checkParts(t, text, parts) {
				t.Errorf("list %d cannot be read in %d parts, but in %d", i, most+1, len(parts))
			}
		}
	}
}

// TestPartsAreTheWhole: wherever a text is divided, and whatever is wrong with it, either its parts
// cannot be read or they are what it is.
func TestPartsAreTheWhole(t *testing.T) {
	texts := lists(t)
	can, cannot := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom(texts).Draw(t, "text")
		for range rapid.IntRange(0, 2).Draw(t, "changes") {
			from := rapid.IntRange(0, len(text)).Draw(t, "from")
			to := min(len(text), from+rapid.IntRange(0, 40).Draw(t, "length"))
			with := rapid.SampledFrom([]string{"", "\n", "\"", "'", "]", "}", ",", "- ", "[", "{", "\\", "|\n", "\nx:\n", `"items":[`, `],"x":[`}).Draw(t, "with")
			text = text[:from] + with + text[to:]
		}
		separators := ",\n"
		var places, few []int
		for i := range text {
			if strings.IndexByte(separators, text[i]) >= 0 && (text[i] == ',' || i+1 < len(text) && text[i+1] == '-') {
				places = append(places, i+len(strings.TrimLeft(text[i:i+1], ",")))
			}
		}
		for i := 0; i < len(places); i += rapid.IntRange(1, 1+len(places)/2).Draw(t, "step") {
			few = append(few, places[i])
		}
		for _, parts := range [][]*Part{cut(text, few), Parts(strings.NewReader(text), int64(len(text)), 3)} {
			switch {
			case parts == nil:
			case checkParts(t, text, parts):
				can++
			default:
				cannot++
			}
		}
	})
	if can == 0 || cannot == 0 {
		t.Errorf("%d divided texts can be read, %d cannot", can, cannot)
	}
}

// TestPartsOfAnythingElse: what is no list as kubectl writes it has no parts, or none that can be read.
func TestPartsOfAnythingElse(t *testing.T) {
	for i, text := range lists(t)[readable:] {
		parts := Parts(strings.NewReader(text), int64(len(text)), 4)
		if _, err := findInParts(parts); len(parts) > 1 && err == nil {
			t.Errorf("list %d is read in parts", readable+i)
		}
	}
	for _, text := range []string{"", "{", "items:\n- a\n", `{"items":null}`, `{"items":{}}`, "[]", "x: y\nitems:\n  - a\nkind: List\n"} {
		if parts := Parts(strings.NewReader(text), int64(len(text)), 4); len(parts) > 0 {
			if _, err := findInParts(parts); !errors.Is(err, errPart) {
				t.Errorf("%q is read in parts: %v", text, err)
			}
		}
	}
}
