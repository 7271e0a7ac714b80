package layout

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

// within routes the lines inside of areas; page routes the others.
func (r *router) within() {
	for i := range r.Edges {
		switch e := int32(i); {
		case !r.graph.within(e):
			r.across(e)
		case r.extra(e) || len(r.units[r.unitOf(int32(r.Edges[i].Owner))]) > 1:
			r.around(e)
		default:
			r.along(e)
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

// along routes a line of a tree. It passes above the dependents, where the columns in between are
// free.
func (r *router) along(e int32) {
	owner, dependent := r.Edges[e].Owner, r.Edges[e].Dependent
	u := r.unitOf(int32(owner))
	if r.right(owner) != r.left(dependent) {
		r.turn(r.right(owner), u, r.row[owner]+r.lane[owner], true)
	}
	r.turn(r.left(dependent), u, r.anchor(dependent), true)
}

// around routes other lines of an area, through gaps between boxes.
func (r *router) around(e int32) {
	owner, dependent := r.Edges[e].Owner, r.Edges[e].Dependent
	u, from, to := r.unitOf(int32(owner)), r.at[owner]+1, r.at[dependent]
	if from != to {
		low, high := min(from, to), max(from, to)
		y, apart := r.gap(int32(owner), low, high, r.anchor(dependent))
		if apart {
			y = r.apart(owner, u, y)
		}
		r.turn(r.first[u]+from, u, y, false)
	}
	r.turn(r.first[u]+to, u, r.anchor(dependent), false)
}

// across routes a line between areas: above the boxes to the border, and along the gutters of the
// page.
func (r *router) across(e int32) {
	owner, dependent := r.Edges[e].Owner, r.Edges[e].Dependent
	u, v := r.unitOf(int32(owner)), r.unitOf(int32(dependent))
	r.turn(r.right(owner), u, r.apart(owner, u, r.channel[r.Boxes[owner].Group]), false)
	// The gutters of the page are assigned later.
	r.turn(none, none, 0, false)
	r.turn(none, v, r.apart(owner, v, r.channel[r.Boxes[dependent].Group]), false)
	r.turn(r.left(dependent), v, r.anchor(dependent), false)
}

// apart shifts the lines of an owner slightly, so that lines of several owners at the same height
// are distinguishable. Every gap has room for that.
func (r *router) apart(owner int, unit int32, y int) int {
	at := height{unit, y}
	by, known := r.moved[mover{at, owner}]
	if !known {
		by = [...]int{0, -3, 3}[r.used[at]%3]
		r.used[at]++
		r.moved[mover{at, owner}] = by
	}
	return y + by
}
