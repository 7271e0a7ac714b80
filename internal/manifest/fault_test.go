package manifest

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

func TestProblems(t *testing.T) {
	pod := func(metadata string) string {
		return "{\n\"apiVersion\":\"v1\",\"kind\":\"Pod\",\n\"metadata\":{" + metadata + "}}"
	}
	for _, c := range []struct{ name, input, want string }{
		{"no name", `{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{"name":"a"}},` + "\n" + `{"metadata":{"namespace":"n"}}]}`, "line 2: item 2 of PodList: v1 Pod: metadata.name is missing"},
		{"no items", `{"kind":"PodList","apiVersion":"v1"}`, "line 1: PodList has no items"},
		{"items and a name", `{"kind":"PodList","apiVersion":"v1","metadata":{"name":"x"},"items":[]}`, "line 1: PodList x has items and a name: it cannot be told whether it is a list or an object"},
		{"items of an object", `{"apiVersion":"v1","items":[],"kind":"Foo"}`, "line 1: kind Foo has items, but is not the kind of a list"},
		{"uid is a number", pod(`"name":"a","uid":5`), "line 3: metadata.uid is a number; it must be a string"},
		{"name is a mapping", pod(`"name":{}`), "line 3: metadata.name is a mapping; it must be a string"},
		{"owners are a string", pod(`"name":"a","ownerReferences":"x"`), "line 3: metadata.ownerReferences is a string; it must be a list"},
		{"owners are a mapping", pod(`"name":"a","ownerReferences":{}`), "line 3: metadata.ownerReferences is a mapping; it must be a list"},
		{"an owner is null", pod(`"name":"a","ownerReferences":[null]`), "line 3: an entry of metadata.ownerReferences is null; it must be a mapping"},
		{"owner with two uids", pod(`"name":"a","ownerReferences":[{"uid":"a","uid":"b"}]`), "line 3: an owner reference has uid twice"},
		{"controller is a string", pod(`"name":"a","ownerReferences":[{"controller":"true"}]`), "line 3: an owner reference's controller is a string; it must be a boolean"},
		{"finalizers with null", pod(`"name":"a","finalizers":[null]`), "line 3: an entry of metadata.finalizers is null; it must be a string"},
		{"labels with a number", pod(`"name":"a","labels":{"a":1}`), "line 3: a value of metadata.labels is a number; it must be a string"},
		{"a label twice", pod(`"name":"a","labels":{"a":"1","b":"","a":"2"}`), `line 3: metadata.labels has "a" twice`},
		{"uid twice", pod(`"name":"a","uid":"1","uid":"2"`), "line 3: metadata.uid is there twice"},
		{"metadata twice", `{"metadata":{"name":"a"},"metadata":{"name":"b"}}`, "line 1: metadata is there twice"},
		{"no time", pod(`"name":"a","deletionTimestamp":"yesterday"`), `line 3: metadata.deletionTimestamp "yesterday" is not a time of the form 2006-01-02T15:04:05Z`},
		{"empty time", pod(`"name":"a","deletionTimestamp":""`), `line 3: metadata.deletionTimestamp "" is not a time of the form 2006-01-02T15:04:05Z`},
		{"time zero", pod(`"name":"a","deletionTimestamp":"1970-01-01T00:00:00Z"`), "line 3: metadata.deletionTimestamp is the very start of 1970, which means no time at all"},
		{"half a number", pod(`"name":"a","generation":1.5`), "line 3: metadata.generation is 1.5; it must be an integer of 64 bits"},
		{"large number", pod(`"name":"a","generation":9223372036854775808`), "line 3: metadata.generation is 9223372036854775808; it must be an integer of 64 bits"},
		{"NUL in a string", pod(`"name":"a\u0000"`), "line 3: a string has a NUL character"},
		{"control character", pod("\"name\":\"a\x01\""), "line 3: a string has the control character 0x01"},
		{"invalid UTF-8", pod("\"x\":\"a\xff\""), "line 3: a string is not valid UTF-8"},
		{"overlong UTF-8", pod("\"x\":\"\xc0\x80\""), "line 3: a string is not valid UTF-8"},
		{"half a pair", pod(`"x":"\ud800"`), "line 3: a string has an escape that JSON does not know"},
		{"comma too many", pod(`"name":"a",`), "line 3: a key in quotes is expected here, not '}'"},
		{"leading zero", pod(`"x":01`), `line 3: "01" is not a JSON value`},
		{"NaN", pod(`"x":NaN`), `line 3: "NaN" is not a JSON value`},
		{"two documents without end", "{}}", "line 1: a value is expected here, not '}'"},
		{"node name", `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"nodeName":[]}}`, "line 1: spec.nodeName is a list; it must be a string"},
		{"item of a string", `[3]`, "line 1: item 1 of an array: it is a number; it must be an object"},
		{"lists in lists", strings.Repeat(`{"items":[`, 10) + strings.Repeat(`]}`, 10), "more than 8 lists are inside one another"},
		{"deep JSON", `{"x":` + strings.Repeat("[", 20000), "nested deeper than 10000"},
		{"YAML list without kind", "apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: a\n", "line 1: a list does not say its kind: the input ends in the middle of a document"},
		{"half a name in YAML", "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a", "line 4: the input ends in the middle of a line of metadata; if it is whole, end it with a newline"},
		{"half a uid in YAML", "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  uid: 1ac5b9a2-6bc9-49db-8a46-0698a2e9dc1", "line 5: the input ends in the middle of a line of metadata; if it is whole, end it with a newline"},
		{"text behind a YAML document", "a: b\n... c\n", "there is text behind the end of a document"},
		{"label key in YAML", "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  labels:\n    1: x\n", `line 6: the key "1" of a label is not a string`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := find(c.input, Options{})
			var p *Problem
			if !errors.As(err, &p) || !strings.HasSuffix(p.Error(), c.want) {
				t.Errorf("Read returned\n\t%v\nwant\n\t…%s", err, c.want)
			}
		})
	}
}

// A document without an identity is no object: it is Foreign, or a Problem without that callback.
// In a list it is always a Problem, because the list is incomplete.
func TestDocumentsThatAreNoObjects(t *testing.T) {
	for input, want := range map[string]string{
		`{"apiVersion":"v1","metadata":{"name":"a"}}`:                  "in: document 1: line 1: a: kind is missing",
		`{"kind":"Pod","metadata":{"name":"a","namespace":"n"}}`:       "in: document 1: line 1: Pod n/a: apiVersion is missing",
		`{"kind":"Status","apiVersion":"v1","status":"Failure"}`:       "in: document 1: line 1: v1 Status: metadata.name is missing",
		"kind: Config\napiVersion: v1\nclusters:\n- name: x\n":         "in: document 1: line 1: v1 Config: metadata.name is missing",
		"# none\n---\nkind: Kustomization\nresources: [a.yaml]\n---\n": "in: document 1: line 3: Kustomization: apiVersion is missing",
	} {
		wantLines(t, input, Options{}, "foreign "+want)
		err := Read(strings.NewReader(input), Options{File: "in"}, Handler{})
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v", input, err)
		}
	}
}

func TestWideEncodings(t *testing.T) {
	wide := func(big bool, s string) string {
		var b strings.Builder
		for _, u := range utf16.Encode([]rune(s)) {
			if big {
				u = u<<8 | u>>8
			}
			b.WriteByte(byte(u))
			b.WriteByte(byte(u >> 8))
		}
		return b.String()
	}
	for _, input := range []string{wide(true, "\ufeff{}"), wide(false, "\ufeff{}"), wide(true, "{}"), wide(false, "{}")} {
		wantProblem(t, input, Options{}, "in: the text is UTF-16; only UTF-8 is read")
	}
	wantProblem(t, "\xff\xfe\x00\x00{\x00\x00\x00", Options{}, "in: the text is UTF-32; only UTF-8 is read")
	wantProblem(t, "{\x00\x00\x00}\x00\x00\x00", Options{}, "in: the text is UTF-32; only UTF-8 is read")
}

// TestTruncation truncates a list at every byte.
func TestTruncation(t *testing.T) {
	text := strings.TrimSpace(fixture(t, "list.json"))
	before := 0
	for n := 1; n < len(text); n++ {
		f, err := find(text[:n], Options{})
		if !errors.Is(err, ErrTruncated) {
			t.Fatalf("cut at byte %d: %v", n, err)
		}
		var p *Problem
		if !errors.As(err, &p) || p.Line != 1+strings.Count(text[:n], "\n") {
			t.Fatalf("cut at byte %d in line %d: %v", n, 1+strings.Count(text[:n], "\n"), err)
		}
		if len(f.Objects) < before || len(f.Lists) > 0 {
			t.Fatalf("cut at byte %d: %d objects and %d lists after %d objects", n, len(f.Objects), len(f.Lists), before)
		}
		before = len(f.Objects)
	}
	if before != 3 {
		t.Errorf("%d objects before the last byte, want 3", before)
	}
}

// TestTruncatedBetweenText truncates a dump with text at the beginning of a document, before its
// first field.
func TestTruncatedBetweenText(t *testing.T) {
	for _, input := range []string{"text\n{", "text\n{\n    \"ki", "text\n[\n{}", "text\n{}\n{\"a\":tr"} {
		if _, err := find(input, Options{SkipText: true}); !errors.Is(err, ErrTruncated) {
			t.Errorf("%q: %v, want ErrTruncated", input, err)
		}
	}
	wantLines(t, "text\n{ x\n[INFO] y\n  {\n", Options{SkipText: true})
}

// TestTruncatedYAMLList truncates a YAML list at every byte before its kind.
func TestTruncatedYAMLList(t *testing.T) {
	text := fixture(t, "list.yaml")
	kind := strings.LastIndex(text, "\nkind: List")
	for n := strings.Index(text, "- api") + 2; n < kind+len("\nkind: List"); n++ {
		if f, err := find(text[:n], Options{}); err == nil {
			t.Fatalf("cut at byte %d: %d objects and no error", n, len(f.Objects))
		}
	}
}

func TestReaderFails(t *testing.T) {
	broken := errors.New("disk on fire")
	for _, start := range []string{"", `{"kind":"List","items":[`, "apiVersion: v1\n", "apiVersion: v1\nitems:\n- kind: Pod\n", "==== START logs for container "} {
		r := io.MultiReader(strings.NewReader(start), iotest.ErrReader(broken))
		if err := Read(r, Options{SkipText: true}, Handler{}); !errors.Is(err, broken) {
			t.Errorf("behind %q: %v", start, err)
		}
	}
}

// TestSmallReads feeds the input byte by byte.
func TestSmallReads(t *testing.T) {
	for _, name := range []string{"list.json", "list.yaml", "dump.txt", "stream.yaml"} {
		text := fixture(t, name)
		whole, err := find(text, Options{SkipText: true})
		f := &found{}
		errSmall := Read(iotest.OneByteReader(strings.NewReader(text)), Options{File: "in", SkipText: true}, f.handler())
		sameFound(t, name, whole, f, err, errSmall)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestHandlerStops(t *testing.T) {
	stop := &Problem{Message: "enough"}
	h := Handler{Object: func(*object.Object, bool, Position) error { return stop }}
	text := stop.Error()
	for _, name := range []string{"list.json", "list.yaml", "dump.txt"} {
		if err := Read(strings.NewReader(fixture(t, name)), Options{SkipText: true}, h); !errors.Is(err, stop) || err.Error() != text {
			t.Errorf("%s: %v, want the handler's own error", name, err)
		}
	}
}

func TestBombs(t *testing.T) {
	var b strings.Builder
	b.WriteString("apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\nspec:\n  a0: &a0 [x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < 30; i++ {
		fmt.Fprintf(&b, "  a%d: &a%d [%s*a%d]\n", i, i, strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 8), i-1)
	}
	wantProblem(t, b.String(), Options{}, "in: document 1: line 1: the YAML aliases of the document expand without bounds")
	for _, deep := range []string{strings.Repeat("[", 100000), strings.Repeat("- ", 100000), "a: " + strings.Repeat("{a: ", 100000)} {
		if _, err := find(deep, Options{}); err == nil {
			t.Errorf("%.20q… nested 100000 deep is accepted", deep)
		}
	}
}

func TestLongLines(t *testing.T) {
	long := strings.Repeat("x", 3*bufferSize)
	for _, input := range []string{
		`{"kind":"Pod","apiVersion":"v1","metadata":{"annotations":{"a":"` + long + `"},"name":"a"}}`,
		"kind: Pod\napiVersion: v1\nmetadata:\n  annotations:\n    a: " + long + "\n  name: a\n",
		"kind: Pod\napiVersion: v1\nmetadata:\n  annotations:\n    a: |\n      " + long + "\n  name: a\n",
	} {
		wantLines(t, input, Options{}, "v1 Pod a uid=")
	}
	wantLines(t, long+"\n{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\"}}\n", Options{SkipText: true}, "v1 Pod a uid=")
}
