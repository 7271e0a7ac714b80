package draw

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

var grouped = Options{Fold: true, Most: MaxUngrouped}

// fleet returns a deployment with so many replica sets of two pods each. They have different
// finalizers, and so are not folded.
func fleet(sets int) *report.Graph {
	web := ref("Deployment", "shop", "web")
	g := graphOf(web)
	for i := range sets {
		rs := ref("ReplicaSet", "shop", fmt.Sprintf("web-%04d", i))
		g.Nodes = append(g.Nodes, report.Node{Ref: rs, Observed: true})
		g.Edges = append(g.Edges, owns(web, rs))
		for k := range 2 {
			pod := ref("Pod", "shop", fmt.Sprintf("web-%04d-%d", i, k))
			g.Nodes = append(g.Nodes, report.Node{Ref: pod, Observed: true, Finalizers: []string{fmt.Sprint("a/", k)}})
			g.Edges = append(g.Edges, owns(rs, pod))
		}
	}
	return g
}

// A graph of a few hundred boxes has no groups; one box more, and it has some.
func TestGroupsBeginWhereTooMuchIsDrawn(t *testing.T) {
	few, many := fleet(166), fleet(167)
	if n := len(OfGraph(few, Options{Fold: true}).Boxes); n != 499 {
		t.Fatalf("%d boxes, the test is about 499", n)
	}
	if d := cmp.Diff(OfGraph(few, Options{Fold: true}), OfGraph(few, grouped)); d != "" {
		t.Errorf("what is small is drawn otherwise:\n%s", d)
	}
	s := OfGraph(many, grouped)
	if len(s.Boxes) > pictureRoom.most || s.Grouped != "492 of 502 objects are counted in groups; what is remarkable has its own box first. -o html opens groups, -o json lists every object." {
		t.Errorf("%d boxes: %q", len(s.Boxes), s.Grouped)
	}
	i := slices.IndexFunc(s.Boxes, func(b Box) bool { return b.Group })
	if i < 0 {
		t.Fatal("no box is a group")
	}
	b := s.Boxes[i]
	if b.Kind != "ReplicaSet ×164" || b.Name != "web-0…" || b.Note != "below: Pod ×328" || b.Below != 328 {
		t.Errorf("the group says %q, %q, %q, %d", b.Kind, b.Name, b.Note, b.Below)
	}
	if s.Legend[0].Count != 502 {
		t.Errorf("the legend counts %d", s.Legend[0].Count)
	}
}

// An object with a problem has a box of its own, wherever it is.
func TestWhatIsRemarkableIsNotInAGroup(t *testing.T) {
	g := fleet(2_000)
	g.Nodes[4_001].BeingDeleted, g.Nodes[4_001].Finalizers = true, []string{"example.com/hold"}
	lost := ref("Pod", "shop", "lost")
	g.Nodes = append(g.Nodes, report.Node{Ref: lost, Observed: true}, report.Node{Ref: ref("ReplicaSet", "shop", "gone"), Virtual: true})
	g.Edges = append(g.Edges, report.Edge{Owner: g.Nodes[len(g.Nodes)-1].Ref.UID, Dependent: lost.UID, Class: report.Dangling})
	g.Roots = []object.Ref{g.Nodes[3_000].Ref}
	s := OfGraph(g, grouped)
	for _, want := range []object.Ref{g.Nodes[4_001].Ref, lost, g.Nodes[len(g.Nodes)-1].Ref, g.Roots[0]} {
		if b := find(t, s, want); len(b.Refs) != 1 || b.Group {
			t.Errorf("%v is drawn as %q", want, b.Kind)
		}
	}
	if b := find(t, s, g.Nodes[4_001].Ref); b.Note != "held by example.com/hold" {
		t.Errorf("its note is %q", b.Note)
	}
}

// If there are too many problems, the groups count those that they hide.
func TestGroupsSayWhatIsRemarkableInThem(t *testing.T) {
	g := fleet(2_000)
	for i := range g.Nodes {
		g.Nodes[i].BeingDeleted = g.Nodes[i].Ref.Kind == "Pod" && i%2 == 0
	}
	s := OfGraph(g, grouped)
	i := slices.IndexFunc(s.Boxes, func(b Box) bool { return strings.HasPrefix(b.Kind, "ReplicaSet ×") })
	if i < 0 || !strings.HasPrefix(s.Boxes[i].Note, "below: Pod ×3976, 1988 being deleted") {
		t.Fatalf("box %d: %+v", i, s.Boxes[max(i, 0)].Note)
	}
}

// Of thousands of namespaces, some have an area, and the others share one.
func TestNamespacesElsewhere(t *testing.T) {
	g := &report.Graph{}
	for i := range 3_000 {
		owner, claim := ref("StatefulSet", fmt.Sprintf("team-%04d", i), "db"), ref("PersistentVolumeClaim", fmt.Sprintf("team-%04d", i), "db-0")
		g.Nodes = append(g.Nodes, report.Node{Ref: owner, Observed: true}, report.Node{Ref: claim, Observed: true, BeingDeleted: i == 2_999})
		g.Edges = append(g.Edges, owns(owner, claim))
	}
	s := OfGraph(g, grouped)
	last := s.Areas[len(s.Areas)-1]
	if !last.Elsewhere || len(s.Areas) > maxAreas+pictureRoom.few+1 {
		t.Errorf("%d areas, the last is %+v", len(s.Areas), last)
	}
	if b := find(t, s, g.Nodes[5_999].Ref); len(b.Refs) != 1 || s.Areas[b.Area].Namespace != "team-2999" {
		t.Errorf("what is being deleted is in %+v", s.Areas[b.Area])
	}
	var svg, mermaid bytes.Buffer
	for err := range slices.Values([]error{WriteSVG(&svg, s), WriteMermaid(&mermaid, s)}) {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"SVG": svg.String(), "Mermaid": mermaid.String()} {
		if !strings.Contains(text, "in other namespaces") || !strings.Contains(text, "StatefulSet ×") {
			t.Errorf("the %s does not say what is in other namespaces", name)
		}
	}
}

// A picture is bounded, and counts every object once.
func TestGroupsCountEverything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 400).Draw(t, "objects")
		kinds := rapid.SampledFrom([]int{1, 3, 90}).Draw(t, "kinds")
		spaces := rapid.SampledFrom([]int{1, 3, 90}).Draw(t, "namespaces")
		g := &report.Graph{}
		for i := range n {
			at := func(label string, of int) string { return fmt.Sprint(rapid.IntRange(0, of-1).Draw(t, label)) }
			r := object.Ref{APIVersion: "v1", Kind: at("kind", kinds), Namespace: at("namespace", spaces), Name: fmt.Sprint(i), UID: types.UID(fmt.Sprint(i))}
			g.Nodes = append(g.Nodes, report.Node{Ref: r, Observed: rapid.Bool().Draw(t, "seen"), Virtual: true, BeingDeleted: rapid.IntRange(0, 9).Draw(t, "goes") == 0})
			for range rapid.IntRange(0, 2).Draw(t, "owners") {
				owner := types.UID(fmt.Sprint(rapid.IntRange(0, n-1).Draw(t, "owner")))
				class := rapid.SampledFrom([]report.Class{report.Existing, report.Dangling, report.UnknownClass}).Draw(t, "class")
				g.Edges = append(g.Edges, report.Edge{Owner: owner, Dependent: r.UID, Controller: rapid.Bool().Draw(t, "controller"), Class: class})
			}
		}
		most := rapid.IntRange(maxPiles*2, pictureRoom.most).Draw(t, "most")
		f := figuresOf(g, nil)
		if rapid.Bool().Draw(t, "folded") {
			f.fold()
		}
		counted, objects := f.group(boxLimits{most, 3, 12})
		drawn, looks, boxes := 0, map[Look]int{}, 0
		for i := range f.list {
			x := &f.list[i]
			boxes++
			drawn += len(x.refs)
			if x.group == nil {
				looks[x.look] += len(x.refs)
				continue
			}
			for _, k := range x.group.below {
				drawn += k
			}
			if x.kinds == 0 {
				looks[x.look] += len(x.refs)
			}
			for l, k := range x.group.looks {
				looks[l] += k
			}
		}
		if objects != n || drawn != n || counted > n {
			t.Errorf("%d objects, %d of %d counted, %d drawn or counted", n, counted, objects, drawn)
		}
		if boxes > most {
			t.Errorf("%d boxes, want %d at the most", boxes, most)
		}
		want := map[Look]int{}
		for _, x := range figuresOf(g, nil).list {
			want[x.look]++
		}
		if d := cmp.Diff(want, looks); d != "" {
			t.Errorf("what is remarkable is hidden:\n%s", d)
		}
		for _, l := range f.lines {
			if l.owner >= boxes || l.dependent >= boxes || f.list[l.owner].refs == nil {
				t.Errorf("a line leads nowhere: %+v", l)
			}
		}
	})
}
