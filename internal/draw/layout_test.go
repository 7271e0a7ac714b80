package draw

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// inputs draws boxes in groups and edges of any kind: several owners, cycles, boxes that own
// themselves, edges between groups.
func inputs(t *rapid.T) layoutInput {
	groups := rapid.IntRange(1, 5).Draw(t, "groups")
	in := layoutInput{Groups: groups, Header: rapid.IntRange(0, 40).Draw(t, "header"), Anchor: rapid.IntRange(0, 40).Draw(t, "anchor")}
	n := rapid.IntRange(groups, groups+rapid.SampledFrom([]int{3, 12, 60}).Draw(t, "more")).Draw(t, "boxes")
	for i := range n {
		group := i
		if i >= groups {
			group = rapid.IntRange(0, groups-1).Draw(t, "group")
		}
		in.Boxes = append(in.Boxes, layoutBox{
			W: rapid.IntRange(1, 300).Draw(t, "w"), H: rapid.IntRange(10, 80).Draw(t, "h"), Group: group,
		})
	}
	box := rapid.IntRange(0, n-1)
	forest := rapid.Bool().Draw(t, "mostly a forest")
	for i := 1; i < n && forest; i++ {
		if owner := rapid.IntRange(-1, i-1).Draw(t, "owner"); owner >= 0 {
			in.Edges = append(in.Edges, layoutEdge{owner, i})
		}
	}
	for range rapid.IntRange(0, rapid.SampledFrom([]int{0, 3, n}).Draw(t, "most extra edges")).Draw(t, "extra edges") {
		in.Edges = append(in.Edges, layoutEdge{box.Draw(t, "extra owner"), box.Draw(t, "extra dependent")})
	}
	return in
}

func TestDrawings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { assertSound(t, inputs(t)) })
}

// FuzzDrawings checks the same properties for fuzzed edges.
func FuzzDrawings(f *testing.F) {
	f.Add([]byte{}, uint8(1))
	f.Add([]byte{0, 0}, uint8(1))
	f.Add([]byte{0, 1, 1, 2, 2, 0}, uint8(2))
	f.Add([]byte{0, 3, 1, 3, 2, 3, 3, 4, 0, 4}, uint8(1))
	f.Add([]byte{0, 1, 1, 0, 2, 3, 3, 2, 1, 2, 3, 0}, uint8(4))
	f.Fuzz(func(t *testing.T, edges []byte, groups uint8) {
		in := layoutInput{Groups: int(groups%6) + 1, Header: 28, Anchor: 22}
		n := in.Groups
		for i := 0; i+1 < len(edges) && i < 200; i += 2 {
			e := layoutEdge{int(edges[i] % 64), int(edges[i+1] % 64)}
			n = max(n, e.Owner+1, e.Dependent+1)
			in.Edges = append(in.Edges, e)
		}
		for i := range n {
			in.Boxes = append(in.Boxes, layoutBox{W: 100 + 10*(i%7), H: 44 + 16*(i%2), Group: i % in.Groups})
		}
		assertSound(t, in)
	})
}

type reporter interface {
	Helper()
	Errorf(string, ...any)
}

// assertSound checks all guarantees of a drawing.
func assertSound(t reporter, in layoutInput) {
	t.Helper()
	d := arrange(in)
	if diff := cmp.Diff(d, arrange(in)); diff != "" {
		t.Errorf("the same input, another drawing:\n%s", diff)
	}
	assertInside(t, in, d)
	assertApart(t, "box", d.Boxes)
	assertApart(t, "area", d.Groups)
	cyclic := cycles(in)
	for i, e := range in.Edges {
		owner, dependent := d.Boxes[e.Owner], d.Boxes[e.Dependent]
		if !cyclic[i] && owner.X+owner.W >= dependent.X {
			t.Errorf("edge %d: owner %v is not left of %v", i, owner, dependent)
		}
		assertRoute(t, in, d, i)
	}
	assertOrder(t, in, d)
}

func assertInside(t reporter, in layoutInput, d *layout) {
	t.Helper()
	page := Rect{0, 0, d.Width, d.Height}
	for i, area := range d.Groups {
		if !contains(page, area) {
			t.Errorf("area %d %v is not within the page %v", i, area, page)
		}
	}
	for i, box := range d.Boxes {
		area := d.Groups[in.Boxes[i].Group]
		area.Y += in.Header
		area.H -= in.Header
		if !contains(area, box) {
			t.Errorf("box %d %v is not within %v", i, box, area)
		}
		if box.W < in.Boxes[i].W || box.H != in.Boxes[i].H {
			t.Errorf("box %d %v has not the size %v", i, box, in.Boxes[i])
		}
	}
}

func contains(a, b Rect) bool {
	return a.X <= b.X && a.Y <= b.Y && b.X+b.W <= a.X+a.W && b.Y+b.H <= a.Y+a.H
}

func assertApart(t reporter, what string, all []Rect) {
	t.Helper()
	for i, a := range all {
		for j, b := range all[:i] {
			if overlap(a, b) {
				t.Errorf("%s %d %v overlaps %d %v", what, i, a, j, b)
			}
		}
	}
}

func overlap(a, b Rect) bool {
	return a.X < b.X+b.W && b.X < a.X+a.W && a.Y < b.Y+b.H && b.Y < a.Y+a.H
}

// assertRoute: a line leads from the right side of the owner to the left side of the dependent, in
// horizontal and vertical segments on the page, and through no box.
func assertRoute(t reporter, in layoutInput, d *layout, edge int) {
	t.Helper()
	route := d.Routes[edge]
	if len(route) < 2 {
		t.Errorf("edge %d has %d points", edge, len(route))
		return
	}
	owner, dependent := d.Boxes[in.Edges[edge].Owner], d.Boxes[in.Edges[edge].Dependent]
	first, last := route[0], route[len(route)-1]
	if first.X != owner.X+owner.W || first.Y < owner.Y || first.Y > owner.Y+owner.H {
		t.Errorf("edge %d begins at %v, owner %v", edge, first, owner)
	}
	if last.X != dependent.X || last.Y < dependent.Y || last.Y > dependent.Y+dependent.H {
		t.Errorf("edge %d ends at %v, dependent %v", edge, last, dependent)
	}
	for k := 1; k < len(route); k++ {
		a, b := route[k-1], route[k]
		piece := Rect{min(a.X, b.X), min(a.Y, b.Y), absolute(a.X - b.X), absolute(a.Y - b.Y)}
		if piece.W != 0 && piece.H != 0 || a == b {
			t.Errorf("edge %d: a piece from %v to %v", edge, a, b)
		}
		if !contains(Rect{0, 0, d.Width, d.Height}, piece) {
			t.Errorf("edge %d leaves the page: %v", edge, piece)
		}
		for i, box := range d.Boxes {
			if crosses(piece, box) {
				t.Errorf("edge %d %v runs through box %d %v", edge, piece, i, box)
			}
		}
	}
}

// crosses reports whether a horizontal or vertical segment runs inside of a box.
func crosses(piece, box Rect) bool {
	return piece.X < box.X+box.W && box.X < piece.X+piece.W && box.Y < piece.Y && piece.Y < box.Y+box.H ||
		piece.Y < box.Y+box.H && box.Y < piece.Y+piece.H && box.X < piece.X && piece.X < box.X+box.W
}

// cycles reports for each edge whether its ends reach each other in both directions, computed from
// every path.
func cycles(in layoutInput) []bool {
	n := len(in.Boxes)
	reach := make([][]bool, n)
	for i := range reach {
		reach[i] = make([]bool, n)
		reach[i][i] = true
	}
	for _, e := range in.Edges {
		reach[e.Owner][e.Dependent] = true
	}
	for k := range n {
		for i := range n {
			for j := range n {
				reach[i][j] = reach[i][j] || reach[i][k] && reach[k][j]
			}
		}
	}
	cyclic := make([]bool, len(in.Edges))
	for i, e := range in.Edges {
		cyclic[i] = reach[e.Dependent][e.Owner]
	}
	return cyclic
}

// TestNewspaper: many equal boxes do not make a strip, whatever owns them.
func TestNewspaper(t *testing.T) {
	alone := layoutInput{Groups: 1, Header: 28, Anchor: 22, Boxes: make([]layoutBox, 1000)}
	for i := range alone.Boxes {
		alone.Boxes[i] = layoutBox{W: 200, H: 44}
	}
	owned, trees, areas := alone, alone, alone
	for i := 1; i < 1000; i++ {
		owned.Edges = append(owned.Edges, layoutEdge{0, i})
		if i%4 != 0 {
			trees.Edges = append(trees.Edges, layoutEdge{i - i%4, i})
		}
	}
	areas.Groups, areas.Boxes = 250, make([]layoutBox, 1000)
	for i := range areas.Boxes {
		areas.Boxes[i] = layoutBox{W: 200, H: 44, Group: i / 4}
	}
	for name, in := range map[string]layoutInput{"boxes alone": alone, "one owner": owned, "trees": trees, "areas": areas} {
		d := arrange(in)
		if r := float64(d.Width) / float64(d.Height); r < 0.75 || r > 2 {
			t.Errorf("%s: %d×%d, a ratio of %.2f", name, d.Width, d.Height, r)
		}
	}
}

func TestNothing(t *testing.T) {
	if d := arrange(layoutInput{}); d.Width <= 0 || d.Height <= 0 {
		t.Errorf("a page of %d×%d", d.Width, d.Height)
	}
}

// assertOrder: every box is listed once, group by group.
func assertOrder(t reporter, in layoutInput, d *layout) {
	t.Helper()
	seen, group := map[int]bool{}, 0
	for _, i := range d.Order {
		if seen[i] || in.Boxes[i].Group < group {
			t.Errorf("box %d of group %d is read after group %d, or twice", i, in.Boxes[i].Group, group)
		}
		seen[i], group = true, in.Boxes[i].Group
	}
	if len(seen) != len(in.Boxes) {
		t.Errorf("%d boxes are read, want %d", len(seen), len(in.Boxes))
	}
}
