package draw

// layoutBox is a box to be placed.
type layoutBox struct {
	// W and H are the minimum width and the height. All boxes of a column get the width of the
	// widest.
	W, H int
	// Group is the number of its area.
	Group int
}

// layoutEdge leads from an owner to a dependent; both are numbers of boxes.
type layoutEdge struct{ Owner, Dependent int }

// layoutInput is the graph to be placed. Boxes and edges are placed in their order. Among several owners,
// a box is placed next to the one furthest to the right, or the first of these.
type layoutInput struct {
	Boxes []layoutBox
	Edges []layoutEdge
	// Groups is the number of groups; each has at least one box.
	Groups int
	// Header is the height for a name at the top of an area.
	Header int
	// Anchor is the distance of line ends from the top of a box.
	Anchor int
}

// layout contains the computed positions.
type layout struct {
	Width, Height int
	Groups        []Rect
	Boxes         []Rect
	// Routes has a polyline of horizontal and vertical segments for each edge, from the right side
	// of the owner to the left side of the dependent.
	Routes [][]Point
	// Order lists the boxes in reading order: by group, an owner before its dependents unless they
	// are in a cycle.
	Order []int
}

// Distances in pixels.
const (
	margin    = 24 // around the page
	boxGap    = 14 // between boxes of a column
	treeGap   = 26 // between trees
	areaGap   = 28 // between areas of a column
	areaPad   = 18 // between the border of an area and its boxes
	laneRoom  = 16 // for a line above dependents in several columns
	laneStep  = 7  // between lines in a gutter
	laneStart = 18 // from a box to the first line in the gutter on its right
	laneEnd   = 26 // from the last line in a gutter to the box on its right
)

// pageRatio is the preferred ratio of width to height of a page.
const pageRatio = 1.4

// noBox is the number of a missing item.
const noBox = int32(-1)

// arrange places boxes on a plane and routes lines between them: owners on the left, their
// dependents on the right, each group of boxes in an area of its own.
//
// Within a group, all trees share the columns. A dependent is at least one column to the right of
// each of its owners. Long rows of trees, or of dependents of one owner, are broken into adjacent
// columns like the text of a newspaper, so that the page is about as wide as it is high. Lines run
// in the gutters between columns and through gaps between boxes, never through a box.
func arrange(in layoutInput) *layout {
	if len(in.Boxes) == 0 {
		return &layout{Width: 2 * margin, Height: 2 * margin}
	}
	g := newLayoutGraph(in)
	f := &forest{layoutGraph: g}
	f.choose()
	f.gather()
	f.markTied()
	f.settle()
	f.place()
	r := newRouter(f)
	r.routeWithinAreas()
	p := newPage(f, r)
	return p.draw()
}

// draw returns the final positions.
func (p *page) draw() *layout {
	d := &layout{
		Width: p.gutterX[len(p.gutterX)-1], Height: p.height,
		Groups: make([]Rect, p.Groups), Boxes: make([]Rect, len(p.Boxes)),
		Routes: make([][]Point, len(p.Edges)), Order: p.reading,
	}
	for group := range d.Groups {
		u := p.unit[group]
		d.Groups[group] = Rect{
			X: p.unitX[u], Y: p.unitY[u] + p.areaRow[group],
			W: p.broad[p.pageColumn[u]], H: p.areaHeight[group],
		}
	}
	for i, b := range p.Boxes {
		u, g := p.unitOf(int32(i)), p.left(i)
		d.Boxes[i] = Rect{X: p.unitX[u] + p.x[g], Y: p.unitY[u] + p.y[i], W: p.broadest[g], H: b.H}
	}
	points := make([]Point, 0, 4*len(p.Edges))
	for i := range p.Edges {
		from := len(points)
		points = p.route(points, i, d.Boxes)
		d.Routes[i] = points[from:len(points):len(points)]
	}
	return d
}

// route appends the points of a line.
func (p *page) route(points []Point, edge int, boxes []Rect) []Point {
	owner, dependent := p.Edges[edge].Owner, p.Edges[edge].Dependent
	start := len(points)
	add := func(x, y int) {
		if n := len(points); n-start >= 2 && straight(points[n-2], points[n-1], x, y) {
			points[n-1] = Point{x, y}
		} else if n == start || points[n-1] != (Point{x, y}) {
			points = append(points, Point{x, y})
		}
	}
	y := p.absolute(p.unitOf(int32(owner)), p.anchor(owner))
	add(boxes[owner].X+boxes[owner].W, y)
	for _, b := range p.bends[p.begin[edge]:p.begin[edge+1]] {
		x := p.laneX(b, owner, dependent)
		add(x, y)
		y = p.absolute(b.unit, b.y)
		add(x, y)
	}
	add(boxes[dependent].X, y)
	return points
}

// straight reports whether a line continues in the same direction or does not move.
func straight(a, b Point, x, y int) bool {
	return a.X == b.X && b.X == x && isBetween(a.Y, b.Y, y) || a.Y == b.Y && b.Y == y && isBetween(a.X, b.X, x)
}

func isBetween(a, b, c int) bool { return a <= b && b <= c || a >= b && b >= c }

// laneX returns the x coordinate of a line in a gutter.
func (p *page) laneX(b bend, owner, dependent int) int {
	if b.gutter >= p.pages {
		return p.gutterX[b.gutter-p.pages] + pageLane + int(b.lane)*laneStep
	}
	u := p.unitOf(int32(owner))
	if b.gutter < p.first[u] || b.gutter > p.first[u]+p.columns[u] {
		u = p.unitOf(int32(dependent))
	}
	begin := p.unitX[u] + p.x[b.gutter] - p.wide[b.gutter]
	if b.gutter == p.first[u] {
		return begin + areaPad + int(b.lane)*laneStep
	}
	return begin + laneStart + int(b.lane)*laneStep
}
