package doctor

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/diagnose"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/render"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

const small = `strict digraph full {
  // Node definitions.
  "p" [
    label="uid=p\nnamespace=shop\nPod.v1/web-1\nbeingDeleted\n"
    group=""
    version="v1"
    kind="Pod"
    namespace="shop"
    name="web-1"
    uid="p"
    missing="false"
    beingDeleted="true"
    deletingDependents="false"
    virtual="false"
  ];
  "r" [
    label="uid=r\nnamespace=shop\nReplicaSet.v1.apps/w\"eb\n"
    group="apps"
    version="v1"
    kind="ReplicaSet"
    namespace="shop"
    name="w\"eb"
    uid="r"
    missing="false"
    beingDeleted="false"
    deletingDependents="true"
    virtual="true"
  ];
  // Edge definitions.
  "p" -> "r";
}
`

func TestRead(t *testing.T) {
	got, err := diagnose.ReadDebugGraph(iotest.OneByteReader(strings.NewReader(small)))
	if err != nil {
		t.Fatal(err)
	}
	want := &report.Graph{
		Nodes: []report.Node{
			{Ref: object.Ref{APIVersion: "v1", Kind: "Pod", Namespace: "shop", Name: "web-1", UID: "p"}, Observed: true, BeingDeleted: true},
			{Ref: object.Ref{APIVersion: "apps/v1", Kind: "ReplicaSet", Namespace: "shop", Name: `w"eb`, UID: "r"}, WaitingForDependents: true, Virtual: true},
		},
		Edges: []report.Edge{{Dependent: "p", Owner: "r"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestReadEmpty(t *testing.T) {
	got, err := diagnose.ReadDebugGraph(strings.NewReader("strict digraph full {\n}\n"))
	if err != nil || len(got.Nodes)+len(got.Edges) > 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

// A text that is not the whole graph of a collector is an error with its line.
func TestReadErrors(t *testing.T) {
	for _, c := range []struct {
		name, text, want string
	}{
		{"nothing", "", "line 1: the text ends before the graph: it was cut off"},
		{"404", "\n", `line 1: the graph of a collector begins with "strict digraph full {", not with ""`},
		{"a refusal", `{"kind":"Status","code":403}`, `line 1: the graph of a collector begins with "strict digraph full {", not with "{\"kind\":\"Status\",\"code\":403}"`},
		{"another graph", "digraph g {\n}\n", `line 1: the graph of a collector begins with "strict digraph full {", not with "digraph g {"`},
		{"cut off in a node", until("    kind="), "line 7: the text ends before the attribute kind: it was cut off"},
		{"cut off in a value", until(`od.v1/web`), `line 4: "\"uid=p\\nnamespace=shop\\nP" is not a quoted string`},
		{"cut off at the end", strings.TrimSuffix(small, "}\n"), "line 31: the text ends before the closing }: it was cut off"},
		{"more", small + "strict digraph full {\n", `line 32: something follows the end of the graph: "strict digraph full {"`},
		{"nodes twice", swap("// Edge", "// Node"), `line 29: expected a node, not "  // Node definitions."`},
		{"no sections", "strict digraph full {\n  \"a\" -> \"b\";\n}\n", `line 2: expected the definitions of nodes, not "  \"a\" -> \"b\";"`},
		{"no value", swap(`kind="Pod"`, `kind=Pod`), `line 7: "Pod" is not a quoted string`},
		{"raw quotes", swap(`kind="Pod"`, "kind=`Pod`"), "line 7: \"`Pod`\" is not a quoted string"},
		{"more behind a value", swap(`kind="Pod"`, `kind="Pod" ]; evil [`), `line 7: "\"Pod\" ]; evil [" is not a quoted string`},
		{"another order", swap(`    version="v1"`, `    kind="Pod"`), `line 6: expected the attribute version, not "    kind=\"Pod\""`},
		{"a flag", swap(`missing="false"`, `missing="no"`), `line 11: missing is "\"no\"", which is neither true nor false`},
		{"another uid", swap(`uid="p"`, `uid="q"`), `line 10: the uid is "q", and the node is called "p"`},
		{"twice", strings.NewReplacer(`"r"`, `"p"`, "uid=r", "uid=p").Replace(small), `line 16: a second node "p"`},
		{"edge to nothing", swap(`-> "r"`, `-> "x"`), `line 30: there is no node "x"`},
		{"edge without end", swap(`-> "r";`, `-> "r"`), `line 30: expected an edge, not "  \"p\" -> \"r\""`},
		{"two edges", swap(`-> "r";`, `-> "r" -> "p";`), `line 30: "\"r\" -> \"p\"" is not a quoted string`},
		{"group and version", swap(`group="apps"`, `group="a/b"`), `line 27: group "a/b" and version "v1" are no apiVersion`},
		{"a long line", swap(`name="web-1"`, `name="`+strings.Repeat("x", 1<<20)+`"`), "line 9: longer than 1048576 bytes"},
		{"controls", swap(`kind="Pod"`, "kind=\x1b[31m\u202e"), `line 7: "\x1b[31m\u202e" is not a quoted string`},
	} {
		_, err := diagnose.ReadDebugGraph(strings.NewReader(c.text))
		syntax, ok := errors.AsType[*diagnose.SyntaxError](err)
		if !ok || syntax.Error() != c.want {
			t.Errorf("%s:\n got %v\nwant %s", c.name, err, c.want)
		}
	}
}

// until returns the small graph before the first occurrence of a text.
func until(text string) string {
	before, _, _ := strings.Cut(small, text)
	return before
}

// swap returns the small graph with the first occurrence of a text replaced.
func swap(from, to string) string { return strings.Replace(small, from, to, 1) }

// A read error is no syntax error.
func TestReadPassesErrorsOn(t *testing.T) {
	broken := io.MultiReader(strings.NewReader(small[:100]), iotest.ErrReader(io.ErrClosedPipe))
	if _, err := diagnose.ReadDebugGraph(broken); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("%v", err)
	}
}

// Upstream writes a missing owner once for each of its dependents.
func TestMissingOwnerRepeats(t *testing.T) {
	for name, c := range map[string]struct{ nodes, want string }{
		"alone":                {"d x? x?", "d x?"},
		"and then as a node":   {"d x? x", "d x"},
		"after it was a node":  {"d x x?", "d x"},
		"between other owners": {"x? d x?", "x? d"},
	} {
		var b strings.Builder
		b.WriteString("strict digraph full {\n  // Node definitions.\n")
		for word := range strings.FieldsSeq(c.nodes) {
			uid, missing := strings.CutSuffix(word, "?")
			fmt.Fprintf(&b, "  %q [\n    label=\"\"\n    group=\"\"\n    version=\"v1\"\n    kind=\"Pod\"\n    namespace=\"\"\n    name=%q\n    uid=%q\n    missing=\"%t\"\n"+
				"    beingDeleted=\"false\"\n    deletingDependents=\"false\"\n    virtual=\"false\"\n  ];\n", uid, uid, uid, missing)
		}
		b.WriteString("  // Edge definitions.\n  \"d\" -> \"x\";\n}\n")
		g, err := diagnose.ReadDebugGraph(strings.NewReader(b.String()))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, n := range g.Nodes {
			word := string(n.Ref.UID)
			if n.Missing {
				word += "?"
			}
			got = append(got, word)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, want %s", name, got, c.want)
		}
	}
}

// drawGraph draws a graph that the exporter may be given.
func drawGraph(t *rapid.T) *report.Graph {
	name := rapid.OneOf(rapid.SampledFrom([]string{"", "web", `a"b\`, "a\nb", "\x1b[2J", "\u202e", "é🙂", "\xff\xfe", "];", "}"}), rapid.String())
	g := &report.Graph{}
	uids := rapid.SliceOfNDistinct(name, 1, 8, rapid.ID[string]).Draw(t, "uids")
	for _, uid := range uids {
		missing := rapid.IntRange(0, 4).Draw(t, "missing") == 0
		n := report.Node{
			Ref: object.Ref{
				APIVersion: rapid.SampledFrom([]string{"v1", "apps/v1", "x.example.com/v1beta1", "", "g/"}).Draw(t, "apiVersion"),
				Kind:       name.Draw(t, "kind"), Name: name.Draw(t, "name"), UID: types.UID(uid),
			},
			Missing: missing, Observed: !missing,
		}
		if !missing {
			n.Ref.Namespace = name.Draw(t, "namespace")
			n.BeingDeleted, n.WaitingForDependents = rapid.Bool().Draw(t, "deleted"), rapid.Bool().Draw(t, "waiting")
			n.Virtual = rapid.Bool().Draw(t, "virtual")
			n.Observed = !n.Virtual
		}
		g.Nodes = append(g.Nodes, n)
	}
	for range rapid.IntRange(0, 12).Draw(t, "edges") {
		g.Edges = append(g.Edges, report.Edge{
			Dependent: types.UID(rapid.SampledFrom(uids).Draw(t, "from")), Owner: types.UID(rapid.SampledFrom(uids).Draw(t, "to")),
		})
	}
	return g
}

// TestReadsWhatWeWrite: a graph written by our own exporter is read back the same, hostile names
// included.
func TestReadsWhatWeWrite(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGraph(t)
		nodes, edges := render.SelectUpstream(g, nil)
		var text bytes.Buffer
		if err := render.UpstreamDOT(&text, render.Style{}, g); err != nil {
			t.Fatal(err)
		}
		want := &report.Graph{}
		for _, n := range nodes {
			want.Nodes = append(want.Nodes, report.Node{
				Ref: n.Ref, Missing: n.Missing, BeingDeleted: n.BeingDeleted,
				WaitingForDependents: n.WaitingForDependents, Virtual: n.Virtual, Observed: n.Observed,
			})
		}
		for _, e := range edges {
			want.Edges = append(want.Edges, report.Edge{Dependent: e.Dependent, Owner: e.Owner})
		}
		got, err := diagnose.ReadDebugGraph(&text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text.String())
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("-want +got\n%s", diff)
		}
	})
}

// FuzzRead: no text makes the reader panic. An error is short and inert. A graph that was read can be
// written and read again.
func FuzzRead(f *testing.F) {
	f.Add(small)
	f.Add("strict digraph full {\n}\n")
	f.Add(swap(`name="web-1"`, `name="\x1b[2J\u202e"`))
	f.Add(swap(`-> "r";`, `-> "p";`))
	f.Add(small[:len(small)/2])
	f.Fuzz(func(t *testing.T, text string) {
		g, err := diagnose.ReadDebugGraph(strings.NewReader(text))
		if err != nil {
			if len(err.Error()) > 2000 || strings.ContainsAny(err.Error(), "\x1b\n\u202e") {
				t.Errorf("%q", err)
			}
			return
		}
		doc := &report.Graph{}
		for _, n := range g.Nodes {
			doc.Nodes = append(doc.Nodes, report.Node{
				Ref: object.Ref(n.Ref), Missing: n.Missing, Observed: n.Observed, Virtual: n.Virtual,
				BeingDeleted: n.BeingDeleted, WaitingForDependents: n.WaitingForDependents,
			})
		}
		for _, e := range g.Edges {
			doc.Edges = append(doc.Edges, report.Edge{Dependent: e.Dependent, Owner: e.Owner})
		}
		var again bytes.Buffer
		if err := render.UpstreamDOT(&again, render.Style{}, doc); err != nil {
			t.Fatal(err)
		}
		if _, err := diagnose.ReadDebugGraph(&again); err != nil {
			t.Errorf("written again: %v", err)
		}
	})
}

func BenchmarkRead100000(b *testing.B) {
	g := &report.Graph{}
	for i := range 100_000 {
		uid := types.UID(fmt.Sprintf("%08d-aaaa-bbbb-cccc-dddddddddddd", i))
		g.Nodes = append(g.Nodes, report.Node{Observed: true, Ref: object.Ref{
			APIVersion: "apps/v1", Kind: "ReplicaSet", Namespace: fmt.Sprint("n", i%100), Name: fmt.Sprint("object-", i), UID: uid,
		}})
		if i > 0 {
			g.Edges = append(g.Edges, report.Edge{Dependent: uid, Owner: g.Nodes[i/2].Ref.UID})
		}
	}
	var text bytes.Buffer
	if err := render.UpstreamDOT(&text, render.Style{}, g); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(text.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := diagnose.ReadDebugGraph(bytes.NewReader(text.Bytes())); err != nil {
			b.Fatal(err)
		}
	}
}
