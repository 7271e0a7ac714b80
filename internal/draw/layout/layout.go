// Package layout places boxes on a plane and leads lines between them: owners on the
// left, their dependents on the right, each group of boxes in an area of its own. It
// knows nothing of objects; it is geometry, and the same input always gives the same
// drawing.
//
// Within a group the boxes stand in columns that all trees share. A dependent is at least
// one column to the right of each of its owners. Long rows of trees, or of dependents of
// one owner, are broken into several columns beside each other, as the text of a
// newspaper, so that a page is about as wide as it is high. Lines run in the gutters
// between columns and through gaps between boxes, never through a box.
package layout

// Box is something to be placed.
type Box struct {
	// W and H are the least width and the height. All boxes of a column are made as wide
	// as the widest.
	W, H int
	// Group is the number of the area that it is in.
	Group int
}

// Edge leads from an owner to a dependent; both are numbers of boxes.
type Edge struct{ Owner, Dependent int }

// Input is what is to be placed. The order of boxes and edges is the order in which they
// are shown, and of several owners the first counts as the one to stand beside, unless
// another is further to the right.
type Input struct {
	Boxes []Box
	Edges []Edge
	// Groups is the number of groups; each has at least one box.
	Groups int
	// Header is the room for a name at the top of an area.
	Header int
	// Anchor is how far below the top of a box lines begin and end.
	Anchor int
}

// Rect is a place on the plane; y grows downwards.
type Rect struct{ X, Y, W, H int }

// Point is a point on the plane.
type Point struct{ X, Y int }

// Drawing says where everything is.
type Drawing struct {
	Width, Height int
	Groups        []Rect
	Boxes         []Rect
	// Routes has a polyline of horizontal and vertical pieces for each edge, from the
	// right side of the owner to the left side of the dependent.
	Routes [][]Point
	// Order lists the boxes as they are read: by group, an owner before its dependents
	// unless they are in a cycle.
	Order []int
}

// What is kept free, in pixels.
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

// ratio is the width of a page divided by its height, as far as one can choose.
const ratio = 1.4

// none stands for the number of something that is not there.
const none = int32(-1)

// Arrange places the boxes.
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
