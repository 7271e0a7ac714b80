package draw

import (
	"cmp"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// router routes lines. A line leaves its owner to the right into a gutter, follows it to another
// height, and so on, until it reaches its dependent from the left.
type router struct {
	*forest
	// first is the number of the first gutter of each unit. A unit has one to the left of each
	// column and one at its right border; those of the page follow.
	first []int32
	pages int32
	// bends lists the bends of all lines, those of edge i from begin[i] to begin[i+1].
	bends []bend
	begin []int32
	// taken caches the occupied stretches of each column of units with extra edges.
	taken [][]column
	// used counts the owners with lines at a height. moved is the shift of an owner's lines there,
	// which keeps them apart from others.
	used  map[height]int
	moved map[mover]int
}

// bend is a turn into a gutter and along it, to y. y counts from the top of the unit, or of the
// page if unit is none.
type bend struct {
	gutter, unit, lane int32
	y                  int
	// tree reports that the line belongs to a tree.
	tree bool
}

type height struct {
	unit int32
	y    int
}

type mover struct {
	height
	owner int
}

func newRouter(f *forest) *router {
	r := &router{forest: f, used: map[height]int{}, moved: map[mover]int{}, taken: make([][]column, len(f.units))}
	r.first = make([]int32, len(f.units))
	for u := range f.units {
		r.first[u] = r.pages
		r.pages += f.columns[u] + 1
	}
	r.begin = make([]int32, 1, len(f.Edges)+1)
	r.bends = make([]bend, 0, 2*len(f.Edges))
	return r
}

// routeWithinAreas routes the lines inside of areas; page routes the others.
func (r *router) routeWithinAreas() {
	for i := range r.Edges {
		switch e := int32(i); {
		case !r.layoutGraph.within(e):
			r.routeBetweenAreas(e)
		case r.isExtra(e) || len(r.units[r.unitOf(int32(r.Edges[i].Owner))]) > 1:
			r.routeExtraEdge(e)
		default:
			r.routeTreeEdge(e)
		}
		r.begin = append(r.begin, int32(len(r.bends)))
	}
}

// left and right return the gutters next to a box.
func (r *router) left(box int) int32  { return r.first[r.unitOf(int32(box))] + r.at[box] }
func (r *router) right(box int) int32 { return r.left(box) + 1 }

func (r *router) turn(gutter, unit int32, y int, tree bool) {
	r.bends = append(r.bends, bend{gutter: gutter, unit: unit, y: y, tree: tree})
}

// routeTreeEdge routes a line of a tree. It passes above the dependents, where the columns in
// between are free.
func (r *router) routeTreeEdge(e int32) {
	owner, dependent := r.Edges[e].Owner, r.Edges[e].Dependent
	u := r.unitOf(int32(owner))
	if r.right(owner) != r.left(dependent) {
		r.turn(r.right(owner), u, r.row[owner]+r.lane[owner], true)
	}
	r.turn(r.left(dependent), u, r.anchor(dependent), true)
}

// routeExtraEdge routes other lines of an area, through gaps between boxes.
func (r *router) routeExtraEdge(e int32) {
	owner, dependent := r.Edges[e].Owner, r.Edges[e].Dependent
	u, from, to := r.unitOf(int32(owner)), r.at[owner]+1, r.at[dependent]
	if from != to {
		low, high := min(from, to), max(from, to)
		y, apart := r.gap(int32(owner), low, high, r.anchor(dependent))
		if apart {
			y = r.separate(owner, u, y)
		}
		r.turn(r.first[u]+from, u, y, false)
	}
	r.turn(r.first[u]+to, u, r.anchor(dependent), false)
}

// routeBetweenAreas routes a line between areas: above the boxes to the border, and along the
// gutters of the page.
func (r *router) routeBetweenAreas(e int32) {
	owner, dependent := r.Edges[e].Owner, r.Edges[e].Dependent
	u, v := r.unitOf(int32(owner)), r.unitOf(int32(dependent))
	r.turn(r.right(owner), u, r.separate(owner, u, r.channel[r.Boxes[owner].Group]), false)
	// The gutters of the page are assigned later.
	r.turn(noBox, noBox, 0, false)
	r.turn(noBox, v, r.separate(owner, v, r.channel[r.Boxes[dependent].Group]), false)
	r.turn(r.left(dependent), v, r.anchor(dependent), false)
}

// separate shifts the lines of an owner slightly, so that lines of several owners at the same height
// are distinguishable. Every gap has room for that.
func (r *router) separate(owner int, unit int32, y int) int {
	at := height{unit, y}
	by, known := r.moved[mover{at, owner}]
	if !known {
		by = [...]int{0, -3, 3}[r.used[at]%3]
		r.used[at]++
		r.moved[mover{at, owner}] = by
	}
	return y + by
}

// clearance is the minimum distance of a line from the upper or lower side of a box.
const clearance = 4

// column lists the occupied stretches of a column, from top to bottom.
type column []stretch

type stretch struct{ top, bottom int }

// maxTries bounds the search for a gap.
const maxTries = 40

// gap returns the free height nearest to y in the columns [low, high). apart reports whether lines
// there may be shifted slightly. If there is no gap, it is the channel above all boxes of the area.
func (r *router) gap(box, low, high int32, y int) (at int, apart bool) {
	u, group := r.unitOf(box), r.Boxes[box].Group
	columns := r.occupied(u)[low:high]
	top, bottom := r.areaRow[group]+r.Header, r.areaRow[group]+r.areaHeight[group]
	if _, taken := blocking(columns, y); !taken {
		return y, false
	}
	best, found := r.channel[group], false
	for _, step := range [2]func(stretch) int{
		func(s stretch) int { return s.top - boxGap/2 },
		func(s stretch) int { return s.bottom + boxGap/2 },
	} {
		at := y
		for range maxTries {
			s, taken := blocking(columns, at)
			if !taken {
				if !found || absolute(at-y) < absolute(best-y) {
					best, found = at, true
				}
				break
			}
			if at = step(s); at <= top || at >= bottom {
				break
			}
		}
	}
	return best, true
}

// blocking returns a box that a line at y would cross or come too close to.
func blocking(columns []column, y int) (stretch, bool) {
	for _, c := range columns {
		i, _ := slices.BinarySearchFunc(c, y, func(s stretch, y int) int { return cmp.Compare(s.bottom+clearance, y) })
		if i < len(c) && c[i].top-clearance <= y {
			return c[i], true
		}
	}
	return stretch{}, false
}

// occupied returns the occupied stretches of a unit's columns.
func (r *router) occupied(u int32) []column {
	if r.taken[u] == nil {
		r.taken[u] = make([]column, r.columns[u])
		for _, group := range r.units[u] {
			r.occupy(r.top[group], r.taken[u])
		}
		for _, c := range r.taken[u] {
			slices.SortFunc(c, func(a, b stretch) int { return cmp.Compare(a.top, b.top) })
		}
	}
	return r.taken[u]
}

func (r *router) occupy(node int32, columns []column) {
	if r.isBox(node) {
		columns[r.at[node]] = append(columns[r.at[node]], stretch{r.y[node], r.y[node] + r.Boxes[node].H})
	}
	for _, i := range r.below[node] {
		r.occupy(i, columns)
	}
}

func absolute(n int) int { return max(n, -n) }

// laneSpan is the part of a gutter that a line uses after one of its bends.
type laneSpan struct {
	gutter, owner, bend int32
	tree                bool
	low, high           int
}

// bundle is the lines of one owner in a gutter, which share a lane: spans[from:to].
type bundle struct {
	from, to  int
	gutter    int32
	tree      bool
	low, high int
}

// maxGutterLanes is the maximum number of lanes in a gutter; further lines share them.
const maxGutterLanes = 16

// lanes assigns lanes to the lines of all gutters. Lines of trees never overlap and get the first
// lane. Others get one that is free along their span. It returns the number of lanes of each
// gutter.
func (r *router) lanes(spans []laneSpan, gutters int32) []int32 {
	count := make([]int32, gutters)
	bundles := bundled(spans)
	for from := 0; from < len(bundles); {
		to := from
		for to < len(bundles) && bundles[to].gutter == bundles[from].gutter {
			to++
		}
		count[bundles[from].gutter] = r.share(spans, bundles[from:to])
		from = to
	}
	return count
}

// share assigns the lanes of one gutter, and returns their number.
func (r *router) share(spans []laneSpan, bundles []bundle) int32 {
	first, free := 0, []int{} // lower end of the last line in each lane
	if bundles[0].tree {
		first, free = 1, []int{0}
	}
	for i, b := range bundles {
		lane := 0
		if !b.tree {
			lane = first
			for lane < len(free) && free[lane] > b.low {
				lane++
			}
			if lane == maxGutterLanes {
				lane = first + i%(maxGutterLanes-first)
			}
			if lane == len(free) {
				free = append(free, 0)
			}
			free[lane] = b.high + laneStep
		}
		for _, s := range spans[b.from:b.to] {
			r.bends[s.bend].lane = int32(lane)
		}
	}
	return int32(len(free))
}

// bundled sorts the spans and joins those of one owner. Bundles are sorted by gutter, with those of
// trees first, then from top to bottom.
func bundled(spans []laneSpan) []bundle {
	slices.SortStableFunc(spans, func(a, b laneSpan) int {
		return cmp.Or(cmp.Compare(a.gutter, b.gutter), object.TrueFirst(a.tree, b.tree), cmp.Compare(a.owner, b.owner))
	})
	var bundles []bundle
	for i, s := range spans {
		if i == 0 || spans[i-1].gutter != s.gutter || spans[i-1].tree != s.tree || spans[i-1].owner != s.owner {
			bundles = append(bundles, bundle{from: i, gutter: s.gutter, tree: s.tree, low: s.low, high: s.high})
		}
		b := &bundles[len(bundles)-1]
		b.to, b.low, b.high = i+1, min(b.low, s.low), max(b.high, s.high)
	}
	slices.SortStableFunc(bundles, func(a, b bundle) int {
		return cmp.Or(cmp.Compare(a.gutter, b.gutter), object.TrueFirst(a.tree, b.tree), cmp.Compare(a.low, b.low))
	})
	return bundles
}
