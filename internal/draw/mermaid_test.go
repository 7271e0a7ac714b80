package draw

import (
	"regexp"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

var hostileMermaid = []string{
	"", "web-1", `"]; click b0 "javascript:alert(1)"`, "%%{init: {'theme':'x'}}%%", "end", "a\nsubgraph x", "`**b**`", "<script>", "#quot;",
	"fa:fa-car", "--> b0", ":::Deleted", "@{ shape: x }", "数据库", "\u202egnp", "\xff", `a\nb`, "---", "|x|", "https://h/p", ";",
}

// mermaidLine matches every possible line: our own words and numbers, and labels of letters,
// digits, a few signs and entities.
var mermaidLine = regexp.MustCompile(`^(%% LABEL|flowchart LR|  notes\["NOTES"\]:::notes|  classDef notes fill:none,stroke:none|  subgraph n\d+\["LABEL"\]|  end|` +
	`    b\d+(\["LINES"\]|\[\["LINES"\]\]):::[A-Za-z]+|` +
	`  b\d+ (-->|==>|-\.->)(\|[a-z]+\|)? b\d+|` +
	`  classDef [A-Za-z]+ fill:#[0-9a-f]{6},stroke:#[0-9a-f]{6},color:#[0-9a-f]{6}(,stroke-dasharray:[0-9 ]+)?)$`)

func pattern() *regexp.Regexp {
	// The only ASCII characters of a label are letters, digits, five signs and entities.
	safe := `(?:[A-Za-z0-9 .,/\-]|[^\x00-\x7f]|#\d+;)*`
	text := strings.ReplaceAll(mermaidLine.String(), "LINES", safe+`<br><b>`+safe+`</b>(?:<br>`+safe+`)*`)
	text = strings.ReplaceAll(text, "NOTES", safe+`(?:<br>`+safe+`)*`)
	return regexp.MustCompile(strings.ReplaceAll(text, "LABEL", safe))
}

// FuzzMermaid: whatever the names are, each line is one of ours.
func FuzzMermaid(f *testing.F) {
	for i, s := range hostileMermaid {
		f.Add(s, hostileMermaid[(i+4)%len(hostileMermaid)])
	}
	own := pattern()
	f.Fuzz(func(t *testing.T, a, b string) {
		refs := []object.Ref{{APIVersion: a, Kind: b, Namespace: a, Name: b, UID: types.UID(a)}, {APIVersion: b, Kind: a, Namespace: b, Name: a, UID: types.UID(b)}}
		g := &report.Graph{Roots: refs[:1], Edges: []report.Edge{
			{Owner: refs[0].UID, Dependent: refs[1].UID, Class: report.Class(a)}, {Owner: "?", Dependent: refs[0].UID, Class: report.Dangling, BlockOwnerDeletion: true},
		}}
		for _, r := range refs {
			g.Nodes = append(g.Nodes, report.Node{Ref: r, Observed: true, BeingDeleted: true, Finalizers: []string{a, b}})
		}
		var out strings.Builder
		if err := WriteMermaid(&out, OfGraph(g, Options{Fold: true})); err != nil {
			t.Fatal(err)
		}
		for l := range strings.Lines(out.String()) {
			if l = strings.TrimSuffix(l, "\n"); !own.MatchString(l) {
				t.Errorf("the line %q in:\n%s", l, out.String())
			}
		}
	})
}

// TestShapes: different appearances are written differently.
func TestShapes(t *testing.T) {
	owner, dependent, absent := object.Ref{Kind: "A", Name: "a", UID: "a"}, object.Ref{Kind: "B", Namespace: "n", Name: "b", UID: "b"}, object.Ref{Kind: "C", Namespace: "n", Name: "c", UID: "c"}
	g := &report.Graph{
		Roots: []object.Ref{dependent}, Gaps: []report.Gap{{Resource: "pods", Namespace: "n", Matters: true}},
		Nodes: []report.Node{{Ref: owner, Observed: true}, {Ref: dependent, Observed: true, BeingDeleted: true}, {Ref: absent, Virtual: true}},
		Edges: []report.Edge{{Owner: "a", Dependent: "b", BlockOwnerDeletion: true}, {Owner: "c", Dependent: "b", Class: report.Dangling}},
	}
	var out strings.Builder
	if err := WriteMermaid(&out, OfGraph(g, Options{})); err != nil {
		t.Fatal(err)
	}
	want := `%% Owners and dependents of b/b -n n#58; 3 objects
flowchart LR
  subgraph n0["in no namespace"]
    b0["A<br><b>a</b>"]:::Plain
  end
  subgraph n1["namespace n"]
    b1["C<br><b>c</b><br>absent"]:::Absent
    b2[["B<br><b>b</b><br>being deleted"]]:::BeingDeleted
  end
  b0 ==> b2
  b1 -.->|dangling| b2
  notes["Incomplete#58; Pods in namespace n are not in the dump."]:::notes
  classDef notes fill:none,stroke:none
  classDef BeingDeleted fill:#ffe9dc,stroke:#953800,color:#1f2328,stroke-dasharray:11 4
  classDef Absent fill:#ffffff,stroke:#a11d33,color:#1f2328,stroke-dasharray:3 4
  classDef Plain fill:#ffffff,stroke:#6e7781,color:#1f2328
`
	if out.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", out.String(), want)
	}
}
