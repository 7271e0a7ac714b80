package draw

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

func ref(kind, namespace, name string) object.Ref {
	return object.Ref{APIVersion: "v1", Kind: kind, Namespace: namespace, Name: name, UID: types.UID(kind + namespace + name)}
}

func owns(owner, dependent object.Ref) report.Edge {
	return report.Edge{Owner: owner.UID, Dependent: dependent.UID, Controller: true, Class: report.Existing}
}

// graphOf returns a graph of observed objects.
func graphOf(refs ...object.Ref) *report.Graph {
	g := &report.Graph{}
	for _, r := range refs {
		g.Nodes = append(g.Nodes, report.Node{Ref: r, Observed: true})
	}
	return g
}

func find(t *testing.T, s *Scene, r object.Ref) Box {
	t.Helper()
	for _, b := range s.Boxes {
		if slices.Contains(b.Refs, r) {
			return b
		}
	}
	t.Fatalf("%v is not drawn", r)
	return Box{}
}

func TestLooksOfAGraph(t *testing.T) {
	absent, unseen := ref("Database", "a", "absent"), ref("Database", "a", "unseen")
	waits, goes, stays := ref("A", "a", "waits"), ref("B", "a", "goes"), ref("Node", "", "stays")
	g := &report.Graph{
		Roots: []object.Ref{waits},
		Nodes: []report.Node{
			{Ref: absent, Virtual: true}, {Ref: unseen, Virtual: true}, {Ref: stays, Observed: true},
			{Ref: waits, Observed: true, BeingDeleted: true, WaitingForDependents: true, Finalizers: []string{"foregroundDeletion"}},
			{Ref: goes, Observed: true, BeingDeleted: true, Finalizers: []string{"a/b", "c/d"}},
		},
		Edges: []report.Edge{
			{Owner: absent.UID, Dependent: goes.UID, Class: report.Dangling},
			{Owner: unseen.UID, Dependent: goes.UID, Class: report.UnknownClass},
			{Owner: waits.UID, Dependent: goes.UID, Class: report.Waiting, BlockOwnerDeletion: true},
			{Owner: "named only", Dependent: waits.UID, Class: report.Existing},
		},
	}
	s := OfGraph(g, Options{Fold: true})
	for r, want := range map[object.Ref]Look{absent: Absent, unseen: Unseen, stays: Plain, waits: Waiting, goes: BeingDeleted, {UID: "named only"}: Unseen} {
		if b := find(t, s, r); b.Look != want {
			t.Errorf("%v looks %s, want %s", r, b.Look, want)
		}
	}
	if b := find(t, s, waits); !b.Target {
		t.Error("what was asked about is not marked")
	}
	if b := find(t, s, goes); b.Note != "held by a/b and 1 more" {
		t.Errorf("note %q", b.Note)
	}
	if s.Areas[0].Namespace != "" || s.Areas[1].Namespace != "a" {
		t.Errorf("areas %v", s.Areas)
	}
	want := []Entry{
		{BeingDeleted, "being deleted", 1}, {Waiting, "being deleted, waits for its dependents", 1},
		{Absent, "absent: does not exist", 1}, {Unseen, "not in the dump", 2}, {Plain, "seen, not being deleted", 1},
	}
	if diff := cmp.Diff(want, s.Legend); diff != "" {
		t.Errorf("legend (-want +got):\n%s", diff)
	}
}

func TestFolding(t *testing.T) {
	owner := ref("ReplicaSet", "a", "web")
	g := graphOf(owner)
	for _, name := range []string{"web-1", "web-2", "web-3", "web-4", "web-5", "web-x"} {
		pod := ref("Pod", "a", name)
		g.Nodes = append(g.Nodes, report.Node{Ref: pod, Observed: true, BeingDeleted: name == "web-x"})
		g.Edges = append(g.Edges, owns(owner, pod))
	}
	few := ref("Job", "a", "few")
	g.Nodes = append(g.Nodes, report.Node{Ref: few, Observed: true})
	for _, name := range []string{"f-1", "f-2", "f-3"} {
		g.Nodes = append(g.Nodes, report.Node{Ref: ref("Pod", "a", name), Observed: true})
		g.Edges = append(g.Edges, owns(few, ref("Pod", "a", name)))
	}
	g.Roots = []object.Ref{ref("Pod", "a", "web-5")}
	s := OfGraph(g, Options{Fold: true})
	b := find(t, s, ref("Pod", "a", "web-1"))
	if b.Kind != "Pod ×4" || b.Name != "web-…" || len(b.Refs) != 4 {
		t.Errorf("%s %s of %d", b.Kind, b.Name, len(b.Refs))
	}
	for _, alone := range []string{"web-5", "web-x", "f-1"} {
		if b := find(t, s, ref("Pod", "a", alone)); len(b.Refs) != 1 {
			t.Errorf("%s is folded: a target, another look, or too few", alone)
		}
	}
	if whole := OfGraph(g, Options{}); len(whole.Boxes) != len(g.Nodes) {
		t.Errorf("%d boxes unfolded, want %d", len(whole.Boxes), len(g.Nodes))
	}
}

func TestPictureOfAPlan(t *testing.T) {
	a, b, c, owner := ref("A", "n", "a"), ref("B", "n", "b"), ref("C", "n", "c"), ref("Owner", "n", "o")
	before, far := ref("Old", "n", "old"), ref("Far", "n", "far")
	p := &report.Plan{
		Seed: report.Seed{Verb: "delete", Policy: "Background", Targets: []object.Ref{a}},
		Effects: []report.Effect{
			{Object: a, Outcome: report.Blocked, BlockedBy: &report.BlockedBy{Finalizers: []string{"x/y"}}},
			{Object: b, Outcome: report.Deleted, Reason: "NoExistingOwner", Because: []object.Ref{a}},
			{Object: c, Outcome: report.Pruned, RemovedReferences: []object.Ref{a}, Message: "kept by o"},
			{Object: before, Outcome: report.Deleted, AlreadyHappening: true},
		},
	}
	g := graphOf(a, b, c, owner, before, far)
	g.Edges = []report.Edge{owns(a, b), owns(a, c), owns(owner, c), owns(far, owner), owns(before, before)}
	s := OfPlan(p, g, Options{Fold: true})
	if len(s.Boxes) != 4 {
		t.Errorf("%d boxes, want the three objects and an owner", len(s.Boxes))
	}
	if x := find(t, s, a); x.Look != Look(report.Blocked) || x.Note != "held by x/y" || !x.Target {
		t.Errorf("%+v", x)
	}
	if x := find(t, s, c); x.Why != "kept by o" {
		t.Errorf("%+v", x)
	}
	if x := find(t, s, owner); x.Look != Plain {
		t.Errorf("an owner that is not concerned looks %s", x.Look)
	}
	for _, arrow := range s.Arrows {
		from, to := s.Boxes[arrow.Owner].Refs[0], s.Boxes[arrow.Dependent].Refs[0]
		if want := from == a && to == c; arrow.Removed != want {
			t.Errorf("%s → %s removed: %t", from.Name, to.Name, arrow.Removed)
		}
	}
	if want := "delete a/a -n n: 1 object would be deleted; it would then HANG; 1 would lose an owner reference"; s.Title != want {
		t.Errorf("title %q, want %q", s.Title, want)
	}
	p.Seed = report.Seed{Verb: "collect"}
	if s := OfPlan(p, g, Options{}); len(s.Boxes) != 5 {
		t.Errorf("%d boxes, want the one that is garbage already too", len(s.Boxes))
	}
}

func TestPictureOfAnExplanation(t *testing.T) {
	x, owner := ref("Pod", "n", "x"), ref("ReplicaSet", "n", "o")
	e := &report.Explanation{
		Object: x, Verdict: report.Garbage, Reason: "NoExistingOwner",
		Owners: []report.OwnerFinding{{Ref: owner, Evidence: "NotFound"}},
		Chain:  []report.ChainLink{{Ref: x}, {Ref: owner}},
	}
	g := graphOf(x)
	g.Nodes = append(g.Nodes, report.Node{Ref: owner, Virtual: true})
	g.Edges = []report.Edge{{Owner: owner.UID, Dependent: x.UID, Class: report.Dangling}}
	s := OfExplanation(e, g, Options{})
	if b := find(t, s, x); !b.Target || b.Note != "garbage" || b.Why != "every owner is absent" {
		t.Errorf("%+v", b)
	}
	if b := find(t, s, owner); b.Look != Absent || b.Why != "NotFound" {
		t.Errorf("%+v", b)
	}
	if refs := Concerned(e); !slices.Contains(refs, owner) {
		t.Errorf("concerned are %v", refs)
	}
}

// TestOrder: the order of a document does not affect its picture.
func TestOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := &report.Graph{}
		n := rapid.IntRange(1, 12).Draw(t, "objects")
		for i := range n {
			r := ref(rapid.SampledFrom([]string{"A", "B"}).Draw(t, "kind"), rapid.SampledFrom([]string{"", "n"}).Draw(t, "namespace"), string(rune('a'+i)))
			g.Nodes = append(g.Nodes, report.Node{Ref: r, Observed: rapid.Bool().Draw(t, "observed"), BeingDeleted: rapid.Bool().Draw(t, "deleted")})
		}
		seen := map[[2]int]bool{}
		for range rapid.IntRange(0, 15).Draw(t, "edges") {
			owner, dependent := rapid.IntRange(0, n-1).Draw(t, "owner"), rapid.IntRange(0, n-1).Draw(t, "dependent")
			if pair := [2]int{owner, dependent}; !seen[pair] {
				seen[pair] = true
				g.Edges = append(g.Edges, owns(g.Nodes[owner].Ref, g.Nodes[dependent].Ref))
			}
		}
		fold := Options{Fold: rapid.Bool().Draw(t, "fold")}
		want := OfGraph(g, fold)
		other := &report.Graph{
			Nodes: rapid.Permutation(g.Nodes).Draw(t, "nodes in another order"),
			Edges: rapid.Permutation(g.Edges).Draw(t, "edges in another order"),
		}
		if diff := cmp.Diff(want, OfGraph(other, fold)); diff != "" {
			t.Errorf("another order, another picture:\n%s", diff)
		}
		objects := 0
		for _, b := range want.Boxes {
			objects += len(b.Refs)
		}
		if objects != n {
			t.Errorf("%d objects are drawn, want %d", objects, n)
		}
	})
}

// TestFit: a cut text keeps its beginning and its end, and fits.
func TestFit(t *testing.T) {
	for _, c := range []struct {
		text string
		room int
		want string
	}{
		{"web-1", 5, "web-1"}, {"web-5d47c484f4-kdxq8", 11, "web-5…kdxq8"}, {"数据库-主节点", 7, "数…点"}, {"abc", 1, "…"}, {"", 0, ""},
	} {
		if got := fit(c.text, c.room); got != c.want || columns.StringWidth(got) > max(c.room, 1) {
			t.Errorf("%q in %d columns: %q, want %q", c.text, c.room, got, c.want)
		}
	}
	if got := fitName("a\nb"+strings.Repeat("x", 100), 80); strings.ContainsRune(got, '\n') {
		t.Errorf("%q is not escaped", got)
	}
}
