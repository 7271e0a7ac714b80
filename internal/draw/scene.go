package draw

import "github.com/kubectl-gc/kubectl-gc/internal/report"

// Options say how a scene is made.
type Options struct {
	// Fold draws objects that cannot be told apart but by their names as one box.
	Fold bool
	// Most is the number of boxes that a picture may have; beyond, it has groups. Without
	// it there is none.
	Most int
	// Page makes groups that a reader can open: all objects are in the drawing, unless there
	// are more than a page can hold.
	Page bool
}

// Scene is a drawing before it has a format. Lengths are in CSS pixels, y grows
// downwards. Strings are raw: whoever writes them escapes them.
type Scene struct {
	Title  string `json:"title"`
	Width  int    `json:"width"`
	Height int    `json:"height"`
	// Areas are sorted by namespace; the first is what is in none, if anything is.
	Areas []Area `json:"areas"`
	// Boxes are in the order in which a person reads them: by area, from top to
	// bottom, then the next columns; beside which owner a box stands, that comes before
	// it.
	Boxes  []Box   `json:"boxes"`
	Arrows []Arrow `json:"arrows"`
	// Legend explains the looks that occur, in a fixed order.
	Legend []Entry `json:"legend"`
	// Notes are what the picture rests on, and does not show.
	Notes []string `json:"notes,omitempty"`
	// Grouped says how much is counted in groups, and what has the rest; mostly it is
	// empty.
	Grouped string `json:"grouped,omitempty"`
	// Piles are the groups that the boxes of a page are in until they are opened, -1 for
	// none; Elsewhere are those of several namespaces.
	Piles     []int `json:"piles,omitempty"`
	Elsewhere []int `json:"elsewhere,omitempty"`
}

// Rect is a place on the plane.
type Rect struct {
	X int `json:"x"`
	Y int `json:"y"`
	W int `json:"w"`
	H int `json:"h"`
}

// Area is a namespace.
type Area struct {
	Rect
	// Namespace is empty for objects that are in none.
	Namespace string `json:"namespace"`
	// Elsewhere marks the area for namespaces that have none of their own.
	Elsewhere bool `json:"elsewhere,omitempty"`
}

// Box is an object, or several that are drawn as one: "Pod ×48".
type Box struct {
	Rect
	// Refs are the objects, at least one, sorted.
	Refs []report.Ref `json:"refs"`
	// Kind and Name are what is written in it: "Pod ×48" and "web-5d47c484f4-…".
	Kind string `json:"kind"`
	Name string `json:"name"`
	// Area is the number of the area that it is in.
	Area int `json:"area"`
	// Look says how the box is drawn.
	Look Look `json:"look"`
	// Group marks a box that stands for what is below its objects, too.
	Group bool `json:"group,omitempty"`
	// Below is how many objects are below those of a group.
	Below int `json:"below,omitempty"`
	// Target marks what the user has asked about.
	Target bool `json:"target,omitempty"`
	// Note is what is remarkable, in a few words: "held by a/b".
	Note string `json:"note,omitempty"`
	// Why is a sentence that explains the look.
	Why string `json:"why,omitempty"`
}

// Look is why a box is drawn as it is: an outcome of a plan, or the state of an object
// in a graph.
type Look string

// The looks beside the outcomes of a plan, which have their own names.
const (
	Plain        Look = "Plain"
	BeingDeleted Look = "BeingDeleted"
	// Waiting: being deleted, and waits for its dependents.
	Waiting Look = "WaitingForDependents"
	// Absent: an owner that does not exist.
	Absent Look = "Absent"
	// Unseen: an owner of which nothing is known.
	Unseen Look = "Unseen"
)

// looks lists all looks in the order in which they are shown.
func looks() []Look {
	var looks []Look
	for _, o := range report.Outcomes() {
		looks = append(looks, Look(o))
	}
	return append(looks, BeingDeleted, Waiting, Absent, Unseen, Plain)
}

// Arrow is an owner reference, drawn from the owner to its dependent.
type Arrow struct {
	// Owner and Dependent are indexes of boxes.
	Owner     int `json:"owner"`
	Dependent int `json:"dependent"`
	// Controller and Blocks are true if that is so for every reference that the arrow
	// stands for.
	Controller bool         `json:"controller,omitempty"`
	Blocks     bool         `json:"blocks,omitempty"`
	Class      report.Class `json:"class,omitempty"`
	// Removed marks a reference that the plan takes off.
	Removed bool `json:"removed,omitempty"`
	// Path is a polyline with at least two points, around the boxes between them.
	Path []Point `json:"path"`
}

// Point is a point on the plane.
type Point struct {
	X int `json:"x"`
	Y int `json:"y"`
}

// Entry is a line of the legend.
type Entry struct {
	Look  Look   `json:"look"`
	Words string `json:"words"`
	// Count is the number of objects, not of boxes.
	Count int `json:"count"`
}
