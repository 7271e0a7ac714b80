// Package layout places boxes on a plane and routes lines between them: owners on the left, their
// dependents on the right, each group of boxes in an area of its own. It is pure geometry, and the
// same input always gives the same drawing.
//
// Within a group, all trees share the columns. A dependent is at least one column to the right of
// each of its owners. Long rows of trees, or of dependents of one owner, are broken into adjacent
// columns like the text of a newspaper, so that the page is about as wide as it is high. Lines run
// in the gutters between columns and through gaps between boxes, never through a box.
package layout

// Box is a box to be placed.
type Box struct {
	// W and H are the minimum width and the height. All boxes of a column get the width of the
	// widest.
	W, H int
	// Group is the number of its area.
	Group int
}

// Edge leads from an owner to a dependent; both are numbers of boxes.
type Edge struct{ Owner, Dependent int }

// Input is the graph to be placed. Boxes and edges are placed in their order. Among several owners,
// a box is placed next to the one furthest to the right, or the first of these.
type Input struct {
	Boxes []Box
	Edges []Edge
	// Groups is the number of groups; each has at least one box.
	Groups int
	// Header is the height for a name at the top of an area.
	Header int
	// Anchor is the distance of line ends from the top of a box.
	Anchor int
}

// Rect is a rectangle on the plane; y grows downwards.
type Rect struct{ X, Y, W, H int }

// Point is a point on the plane.
type Point struct{ X, Y int }

// Drawing contains the computed positions.
type Drawing struct {
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

// ratio is the preferred ratio of width to height of a page.
const ratio = 1.4

// none is the number of a missing item.
const none = int32(-1)

// Arrange computes the layout.
func Arrange(in Input) *Drawing {
	if len(in.Boxes) == 0 {
		return &Drawing{Width: 2 * margin, Height: 2 * margin}
	}
	g := newGraph(in)
	f := newForest(g)
	f.place()
	r := newRouter(f)
	r.within()
	p := newPage(f, r)
	return p.draw()
}
