package draw

import "github.com/kubectl-gc/kubectl-gc/internal/report"

// Options select the form of a scene.
type Options struct {
	// Fold draws objects that differ only in their names as one box.
	Fold bool
	// Most is the number of boxes above which a picture has groups; 0 for no groups.
	Most int
	// Page makes groups that can be opened: all objects are in the drawing, unless there are more
	// than a page can hold.
	Page bool
}

// Scene is a drawing independent of its format. Lengths are in CSS pixels, y grows downwards.
// Strings are raw: each writer escapes them.
type Scene struct {
	Title  string `json:"title"`
	Width  int    `json:"width"`
	Height int    `json:"height"`
	// Areas are sorted by namespace; that of cluster-scoped objects comes first.
	Areas []Area `json:"areas"`
	// Boxes are in reading order: by area, from top to bottom, then the next columns. The owner
	// that a box is placed next to comes before it.
	Boxes  []Box   `json:"boxes"`
	Arrows []Arrow `json:"arrows"`
	// Legend explains the looks in use, in a fixed order.
	Legend []Entry `json:"legend"`
	// Notes are about missing input.
	Notes []string `json:"notes,omitempty"`
	// Grouped describes how much is counted in groups, and where the rest is. It is usually empty.
	Grouped string `json:"grouped,omitempty"`
	// Piles are the groups that hide the boxes of a page until they are opened, -1 for none;
	// Elsewhere are those of several namespaces.
	Piles     []int `json:"piles,omitempty"`
	Elsewhere []int `json:"elsewhere,omitempty"`
}

// Rect is a rectangle on the plane.
type Rect struct {
	X int `json:"x"`
	Y int `json:"y"`
	W int `json:"w"`
	H int `json:"h"`
}

// Area is a namespace.
type Area struct {
	Rect
	// Namespace is empty for cluster-scoped objects.
	Namespace string `json:"namespace"`
	// Elsewhere marks the area of namespaces without their own.
	Elsewhere bool `json:"elsewhere,omitempty"`
}

// Box is an object, or several that are drawn as one: "Pod ×48".
type Box struct {
	Rect
	// Refs are the objects, at least one, sorted.
	Refs []report.Ref `json:"refs"`
	// Kind and Name are the texts in the box: "Pod ×48" and "web-5d47c484f4-…".
	Kind string `json:"kind"`
	Name string `json:"name"`
	// Area is the number of its area.
	Area int `json:"area"`
	// Look selects the appearance.
	Look Look `json:"look"`
	// Group marks a box that also represents descendants of its objects.
	Group bool `json:"group,omitempty"`
	// Below is the number of descendants of a group.
	Below int `json:"below,omitempty"`
	// Target marks an object that the user asked about.
	Target bool `json:"target,omitempty"`
	// Note is a short remark: "held by a/b".
	Note string `json:"note,omitempty"`
	// Why is a sentence that explains the look.
	Why string `json:"why,omitempty"`
}

// Look is the reason for the appearance of a box: an outcome of a plan, or the state of an object
// in a graph.
type Look string

// The looks in addition to the outcomes of a plan, which have their own names.
const (
	Plain        Look = "Plain"
	BeingDeleted Look = "BeingDeleted"
	// Waiting: being deleted, and waits for its dependents.
	Waiting Look = "WaitingForDependents"
	// Absent: an owner that does not exist.
	Absent Look = "Absent"
	// Unseen: an owner about which nothing is known.
	Unseen Look = "Unseen"
)

// looks returns all looks in display order.
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
	// Controller and Blocks are true only if they hold for every reference that the arrow
	// represents.
	Controller bool         `json:"controller,omitempty"`
	Blocks     bool         `json:"blocks,omitempty"`
	Class      report.Class `json:"class,omitempty"`
	// Removed marks a reference that the plan removes.
	Removed bool `json:"removed,omitempty"`
	// Path is a polyline with at least two points, around the boxes in between.
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
