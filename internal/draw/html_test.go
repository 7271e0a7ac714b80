package draw

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// hostilePage is a name chosen to attack a page.
const hostilePage = "</script><!--<script>alert(1)</script>\u202e\u2028\x1b[31m\"'`&\n{{.Policy}}"

// rows returns a scene of n objects, each owned by the previous one, and its graph.
func rows(n int, name func(int) string) Document {
	s := &Scene{Title: name(0), Width: 300 * n, Height: 100, Areas: []Area{{Rect: Rect{W: 300 * n, H: 100}, Namespace: name(0)}}}
	g := &report.Graph{Source: report.Source{Type: "files", Files: []string{name(0)}}, Complete: true}
	for i := range n {
		ref := object.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: "shop", Name: name(i), UID: types.UID(fmt.Sprintf("%08x-0000-4000-8000-000000000000", i))}
		s.Boxes = append(s.Boxes, Box{Rect: Rect{X: 300 * i, Y: 40, W: 200, H: 48}, Refs: []object.Ref{ref}, Look: Plain, Note: name(i), Why: name(i)})
		g.Nodes = append(g.Nodes, report.Node{Ref: ref, Observed: true, Finalizers: []string{name(i)}})
		if i > 0 {
			s.Arrows = append(s.Arrows, Arrow{Owner: i - 1, Dependent: i, Controller: true, Class: report.Existing, Path: []Point{{X: 300*i - 100, Y: 64}, {X: 300 * i, Y: 64}}})
		}
	}
	s.Legend = []Entry{{Look: Plain, Words: name(0), Count: n}}
	return Document{Scene: s, Graph: g}
}

func numbered(i int) string { return fmt.Sprintf("object-%d", i) }

func write(t *testing.T, d Document) string {
	t.Helper()
	var b strings.Builder
	if err := WriteHTML(&b, d); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

var dataElement = regexp.MustCompile(`(?s)<script type="application/json" id="(data|packed-data)">(.*?)</script>`)

// embedded returns the data that the script will read.
func embedded(t *testing.T, page string) (id string, p payload) {
	t.Helper()
	all := dataElement.FindAllStringSubmatch(page, -1)
	if len(all) != 1 {
		t.Fatalf("%d elements with data, want one", len(all))
	}
	text := []byte(all[0][2])
	if all[0][1] == "packed-data" {
		var packed string
		if err := json.Unmarshal(text, &packed); err != nil {
			t.Fatal(err)
		}
		raw, err := base64.StdEncoding.DecodeString(packed)
		if err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		if text, err = io.ReadAll(z); err != nil {
			t.Fatal(err)
		}
	}
	if err := json.Unmarshal(text, &p); err != nil {
		t.Fatal(err)
	}
	return all[0][1], p
}

// The policy allows exactly the embedded script and style, to the byte.
func TestPolicyIsOfWhatIsEmbedded(t *testing.T) {
	page := write(t, rows(3, numbered))
	want := fmt.Sprintf(`content="default-src &#39;none&#39;; script-src &#39;%s&#39;; style-src &#39;%s&#39;; img-src data:; base-uri &#39;none&#39;; form-action &#39;none&#39;"`,
		strings.ReplaceAll(hash(script), "+", "&#43;"), strings.ReplaceAll(hash(style), "+", "&#43;"))
	if !strings.Contains(page, want) {
		t.Errorf("the page lacks %s", want)
	}
	for name, element := range map[string]string{"script": "<script>" + script + "</script>", "style": "<style>" + style + "</style>"} {
		if strings.Count(page, element) != 1 {
			t.Errorf("the %s of the page is not the embedded one", name)
		}
	}
	if inline := regexp.MustCompile(`<[^>]* (style|on[a-z]+)=`).FindString(strings.ReplaceAll(page, script, "")); inline != "" {
		t.Errorf("an attribute that the policy forbids: %s", inline)
	}
}

func TestNamesAreData(t *testing.T) {
	page := write(t, rows(3, func(int) string { return hostilePage }))
	for text, want := range map[string]int{"<script": 2, "</script": 2, "<!--": 0, "alert(1)</": 0, "\u202e": 0, "\x1b": 0} {
		if got := strings.Count(strings.ReplaceAll(page, script, ""), text); got != want {
			t.Errorf("%q is in the page %d times, want %d", text, got, want)
		}
	}
	_, p := embedded(t, page)
	if p.Boxes.Name[1] != hostilePage || p.Namespaces[0] != hostilePage || p.Boxes.Finalizers[1].value[0] != hostilePage {
		t.Errorf("a name has changed on its way: %q", p.Boxes.Name[1])
	}
}

// Large data is packed, with the same content.
func TestLargeDataIsPacked(t *testing.T) {
	small, _ := embedded(t, write(t, rows(3, numbered)))
	id, got := embedded(t, write(t, rows(12_000, numbered)))
	if small != "data" || id != "packed-data" {
		t.Fatalf("3 objects are in %s, 12,000 in %s", small, id)
	}
	want, err := payloadOf(rows(12_000, numbered))
	if err != nil {
		t.Fatal(err)
	}
	summed(got.Boxes.Rects, 4)
	summed(got.Arrows.Owner, 1)
	summed(got.Arrows.Dependent, 1)
	summed(got.Arrows.Paths, 2)
	if !reflect.DeepEqual(*want, got) {
		t.Error("what was packed says something else")
	}
}

func TestSameBytes(t *testing.T) {
	for _, n := range []int{3, 12_000} {
		first, second := write(t, rows(n, numbered)), write(t, rows(n, numbered))
		if first != second {
			t.Errorf("two pages of the same %d objects differ", n)
		}
	}
}

// The plan in the page is the document that -o json prints.
func TestPlanIsWhole(t *testing.T) {
	d := rows(2, numbered)
	ref := d.Scene.Boxes[1].Refs[0]
	d.Scene.Boxes[1].Look = Look(report.Deleted)
	d.Graph.Nodes[1].BeingDeleted = true
	d.Plan = &report.Plan{
		Header: report.HeaderOf("Plan"), Seed: report.Seed{Verb: "delete", Targets: []object.Ref{ref}},
		Effects: []report.Effect{{Object: ref, Outcome: report.Deleted, Reason: "Requested", Message: "deleted as requested"}},
		Steps:   []report.Step{{N: 1, Actor: "user", Verb: "DELETE", Object: ref, Reason: "Requested"}},
		Gaps:    []report.Gap{},
	}
	_, p := embedded(t, write(t, d))
	if diff := cmp.Diff(d.Plan, p.Plan); diff != "" {
		t.Error(diff)
	}
	if p.Sentences["Requested"] != "you ask for it" {
		t.Errorf("the reason is said as %q", p.Sentences["Requested"])
	}
	if look := p.Looks[p.Boxes.State[1]]; look != string(BeingDeleted) {
		t.Errorf("before the plan the object is %s", look)
	}
	if !strings.Contains(p.Source, "Incomplete") {
		t.Errorf("an incomplete plan says %q", p.Source)
	}
}

func TestBoxOfSeveralIsRefused(t *testing.T) {
	d := rows(2, numbered)
	d.Scene.Boxes[1].Refs = append(d.Scene.Boxes[1].Refs, d.Scene.Boxes[0].Refs[0])
	err := WriteHTML(io.Discard, d)
	if err == nil || !strings.Contains(err.Error(), "box 1: it stands for 2 objects") {
		t.Errorf("got %v", err)
	}
}

// Readers without scripts see a picture, if it is small enough to be readable.
func TestStill(t *testing.T) {
	for n, want := range map[int]bool{LargestStill: true, LargestStill + 1: false} {
		d := rows(n, numbered)
		d.Still = []byte("<svg/>")
		if got := strings.Contains(write(t, d), "data:image/svg"); got != want {
			t.Errorf("%d objects: a still picture is %t, want %t", n, got, want)
		}
	}
}

// sinks are ways for a text to become markup or code, or to leave the page.
var sinks = regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|createContextualFragment|document\.write|DOMParser|srcdoc|\beval\b|new Function|\bfetch\(|XMLHttpRequest|WebSocket|EventSource|sendBeacon|\bimport\(|\.html\(|setAttribute\("(on|style|href|src)`)

func TestSourcesHaveNoSink(t *testing.T) {
	files, err := fs.Glob(os.DirFS("web/src"), "*.ts")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d sources: %v", len(files), err)
	}
	for _, name := range files {
		text, err := os.ReadFile("web/src/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if lines := strings.Count(string(text), "\n"); lines > 400 {
			t.Errorf("%s has %d lines", name, lines)
		}
		for i, line := range strings.Split(string(text), "\n") {
			if found := sinks.FindString(line); found != "" {
				t.Errorf("%s:%d: %s", name, i+1, found)
			}
		}
	}
	for _, bad := range []string{"x.innerHTML = name", `eval(name)`, `fetch("https://x")`, `a.setAttribute("onclick", name)`} {
		if !sinks.MatchString(bad) {
			t.Errorf("%s is not noticed", bad)
		}
	}
}
