package layout

// draw returns the final positions.
func (p *page) draw() *Drawing {
	d := &Drawing{
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
	broadest := make([]int, p.pages)
	for i, b := range p.Boxes {
		g := p.left(i)
		broadest[g] = max(broadest[g], b.W)
	}
	for i, b := range p.Boxes {
		u, g := p.unitOf(int32(i)), p.left(i)
		d.Boxes[i] = Rect{X: p.unitX[u] + p.x[g], Y: p.unitY[u] + p.y[i], W: broadest[g], H: b.H}
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
	return a.X == b.X && b.X == x && between(a.Y, b.Y, y) || a.Y == b.Y && b.Y == y && between(a.X, b.X, x)
}

func between(a, b, c int) bool { return a <= b && b <= c || a >= b && b >= c }

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
