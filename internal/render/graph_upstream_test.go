package render

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

func upstreamText(t *testing.T, g *report.Graph) string {
	t.Helper()
	var b strings.Builder
	if err := UpstreamDOT(&b, Style{}, g); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// seen returns an observed vertex of the core group with its UID as name.
func seen(uid string) report.Node {
	return report.Node{Observed: true, Ref: report.Ref{APIVersion: "v1", Kind: "Pod", Namespace: "shop", Name: uid, UID: types.UID(uid)}}
}

func owned(dependent, owner string) report.Edge {
	return report.Edge{Dependent: types.UID(dependent), Owner: types.UID(owner)}
}

// selected returns the result of SelectUpstream as "uids | dependent>owner".
func selected(g *report.Graph, uids ...types.UID) string {
	nodes, edges := SelectUpstream(g, uids)
	var parts []string
	for _, n := range nodes {
		uid := string(n.Ref.UID)
		if n.Missing {
			uid += "?"
		}
		parts = append(parts, uid)
	}
	parts = append(parts, "|")
	for _, e := range edges {
		parts = append(parts, string(e.Dependent)+">"+string(e.Owner))
	}
	return strings.Join(parts, " ")
}

func TestUpstreamLayout(t *testing.T) {
	pod := report.Node{Observed: true, BeingDeleted: true,
		Ref: report.Ref{APIVersion: "v1", Kind: "Pod", Namespace: "shop", Name: "web-1", UID: "p-uid"}}
	set := report.Node{Observed: true,
		Ref: report.Ref{APIVersion: "apps/v1", Kind: "ReplicaSet", Namespace: "shop", Name: "web", UID: "r-uid"}}
	want := `strict digraph full {
  // Node definitions.
  "p-uid" [
    label="uid=p-uid\nnamespace=shop\nPod.v1/web-1\nbeingDeleted\n"
    group=""
    version="v1"
    kind="Pod"
    namespace="shop"
    name="web-1"
    uid="p-uid"
    missing="false"
    beingDeleted="true"
    deletingDependents="false"
    virtual="false"
  ];
  "r-uid" [
    label="uid=r-uid\nnamespace=shop\nReplicaSet.v1.apps/web\n"
    group="apps"
    version="v1"
    kind="ReplicaSet"
    namespace="shop"
    name="web"
    uid="r-uid"
    missing="false"
    beingDeleted="false"
    deletingDependents="false"
    virtual="false"
  ];
  // Edge definitions.
  "p-uid" -> "r-uid";
}
`
	g := &report.Graph{Nodes: []report.Node{set, pod}, Edges: []report.Edge{owned("p-uid", "r-uid")}}
	if diff := cmp.Diff(want, upstreamText(t, g)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestUpstreamAllFlagsAndOddVersions(t *testing.T) {
	n := report.Node{BeingDeleted: true, WaitingForDependents: true, Virtual: true, Missing: true,
		Ref: report.Ref{APIVersion: "a/b/c", Kind: "Kind", Name: "x", UID: "u"}}
	want := "uid=u\nnamespace=\nKind./x\nbeingDeleted,deletingDependents,virtual,missingFromGraph\n"
	if got := upstreamLabel(&n, "", ""); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestUpstreamMissingOwner is S257: an owner without a vertex appears once, under its own UID,
// however many references it has.
//
// Covers: S257
func TestUpstreamMissingOwner(t *testing.T) {
	g := &report.Graph{
		Nodes: []report.Node{seen("alpha"), seen("gamma"), {Missing: true, Ref: report.Ref{APIVersion: "v1", Kind: "Pod", Namespace: "guess", Name: "beta", UID: "beta"}}},
		Edges: []report.Edge{owned("alpha", "beta"), owned("alpha", "gamma"), owned("gamma", "beta")},
	}
	if got, want := selected(g), "alpha beta? gamma | alpha>beta alpha>gamma gamma>beta"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	nodes, _ := SelectUpstream(g, nil)
	want := report.Node{Missing: true, Ref: report.Ref{APIVersion: "v1", Kind: "Pod", Name: "beta", UID: "beta"}}
	if diff := cmp.Diff(want, nodes[1]); diff != "" {
		t.Errorf("missing vertex (-want +got):\n%s", diff)
	}
}

// Covers: S258, S259, S260
func TestUpstreamSelection(t *testing.T) {
	g := &report.Graph{
		Nodes: []report.Node{seen("alone"), seen("c"), seen("b"), seen("a"), seen("x"), seen("y")},
		Edges: []report.Edge{owned("c", "b"), owned("b", "a"), owned("y", "x"), owned("y", "x")},
	}
	for _, tt := range []struct {
		name string
		uids []types.UID
		want string
	}{
		{"everything, but no vertex that is linked to nothing (S258)", nil, "a b c x y | b>a c>b y>x y>x"},
		{"such a vertex is dropped even when asked for (S258)", []types.UID{"alone"}, "|"},
		{"a UID that is no vertex gives nothing (S259)", []types.UID{"nobody"}, "|"},
		{"owners and dependents, transitively (S260)", []types.UID{"b"}, "a b c | b>a c>b"},
		{"two UIDs give the union, unknown ones are skipped (S260)", []types.UID{"c", "x", "nobody"}, "a b c x y | b>a c>b y>x y>x"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := selected(g, tt.uids...); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// TestUpstreamEmpty is S261.
//
// Covers: S261
func TestUpstreamEmpty(t *testing.T) {
	if got, want := upstreamText(t, &report.Graph{}), "strict digraph full {\n}\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestUpstreamQuotes is S262.
//
// Covers: S262
func TestUpstreamQuotes(t *testing.T) {
	g := &report.Graph{Nodes: []report.Node{seen(`"\🚀ä`), seen("o")}, Edges: []report.Edge{owned(`"\🚀ä`, "o")}}
	got := upstreamText(t, g)
	for _, want := range []string{`  "\"\\🚀ä" [` + "\n", `    label="uid=\"\\🚀ä\nnamespace=shop\nPod.v1/\"\\🚀ä\n"` + "\n", `  "\"\\🚀ä" -> "o";` + "\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not in:\n%s", want, got)
		}
	}
}
