package draw

import (
	"cmp"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

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

// Rect is a rectangle on the plane; y grows downwards.
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
	Refs []object.Ref `json:"refs"`
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

// Arrow is an owner reference, drawn from the owner to its dependent, or another reference, drawn from the
// used object.
type Arrow struct {
	// Owner and Dependent are indexes of boxes.
	Owner     int `json:"owner"`
	Dependent int `json:"dependent"`
	// Controller and Blocks are true only if they hold for every reference that the arrow
	// represents.
	Controller bool         `json:"controller,omitempty"`
	Blocks     bool         `json:"blocks,omitempty"`
	Class      report.Class `json:"class,omitempty"`
	// Use names the fields of a reference that is no owner reference.
	Use string `json:"use,omitempty"`
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

// appearance is how a look is drawn: two colours in each theme, and properties that distinguish it
// without colour.
type appearance struct {
	Look Look
	// Word is the look in one or two words for a box, Text explains it. Both are empty for Plain.
	Word, Text string
	// Fill is the colour of the box, Ink that of its border, mark and word.
	Fill, Ink shading
	// Dash is the pattern of the border; empty for a solid one.
	Dash string
	// Mark is an SVG path in a square of 12, to be stroked; empty for Plain.
	Mark string
}

// shading is a colour in the light and the dark theme.
type shading struct{ Light, Dark string }

const circle = "M1 6a5 5 0 1 0 10 0a5 5 0 1 0-10 0"

// appearances are in display order.
var appearances = []appearance{
	{Look(report.Deleted), "deleted", "deleted", shading{"#ffebe9", "#3b1618"}, shading{"#b3261e", "#ff8e86"}, "", "M2 2L10 10M10 2L2 10"},
	{Look(report.Blocked), "blocked", "blocked: being deleted, and still there in the end", shading{"#fff3d1", "#352708"}, shading{"#7a4b00", "#e8b339"}, "7 3", "M4 2V10M8 2V10"},
	{Look(report.Orphaned), "orphaned", "orphaned: stays, without its owner", shading{"#e3f0ff", "#0f2a4a"}, shading{"#0a57b8", "#79b8ff"}, "2 3", "M0 6H4M8 6H12M7.5 2L4.5 10"},
	{Look(report.Pruned), "pruned", "pruned: stays, and loses a reference", shading{"#dcf4f4", "#0b2f33"}, shading{"#0b6470", "#56d4dd"}, "9 3 2 3", circle + "M4 6H8"},
	{Look(report.Kept), "kept", "kept", shading{"#e6f6e9", "#12301b"}, shading{"#1a6b32", "#6bd482"}, "", "M1.5 6.5L4.5 9.5L10.5 3"},
	{Look(report.Unknown), "unknown", "unknown: depends on what could not be read", shading{"#f3ebff", "#2b1d48"}, shading{"#6b35c2", "#c4a1ff"}, "4 3", "M3.5 4a2.5 2.5 0 1 1 3.6 2.2c-.8.4-1.1.9-1.1 1.7M6 10.4v.1"},
	{BeingDeleted, "being deleted", "being deleted", shading{"#ffe9dc", "#3d2010"}, shading{"#953800", "#ffa657"}, "11 4", "M2.5 1.5H9.5M2.5 10.5H9.5M3.5 1.5L8.5 10.5M8.5 1.5L3.5 10.5"},
	{Waiting, "waiting", "being deleted, waits for its dependents", shading{"#fff0e0", "#372410"}, shading{"#8a4600", "#f5b871"}, "5 4", circle + "M6 3V6L8 7.5"},
	{Absent, "absent", "absent: does not exist", shading{"#ffffff", "#0d1117"}, shading{"#a11d33", "#ff9aa8"}, "3 4", circle + "M2.5 9.5L9.5 2.5"},
	{Unseen, "not seen", "not in the dump", shading{"#ffffff", "#0d1117"}, shading{"#57606a", "#9198a1"}, "1 4", "M2 6h.1M6 6h.1M10 6h.1"},
	{Plain, "", "", shading{"#ffffff", "#1c232c"}, shading{"#6e7781", "#848d97"}, "", ""},
}

// appearanceOf returns the appearance of a look. An unknown look, which may be untrusted text, is
// drawn as Plain.
func appearanceOf(l Look) *appearance {
	for i := range appearances {
		if appearances[i].Look == l {
			return &appearances[i]
		}
	}
	return &appearances[len(appearances)-1]
}

// seenText explains Plain in a picture without outcomes. It does not say live: its owners may be
// absent.
const seenText = "seen, not being deleted"

// wordsOf returns a function that explains a look in a picture of the given source.
func wordsOf(src report.Source, plain string) func(Look) string {
	return func(l Look) string {
		if l == Unseen && src.Type == "cluster" {
			return "not read from the cluster"
		}
		return cmp.Or(appearanceOf(l).Text, plain)
	}
}

// legend counts the objects of each look.
func (f *figures) legend(words func(Look) string) []Entry {
	count := map[Look]int{}
	for i := range f.list {
		count[f.list[i].look] += len(f.list[i].refs)
	}
	entries := []Entry{}
	for _, a := range appearances {
		if n := count[a.Look]; n > 0 {
			entries = append(entries, Entry{Look: a.Look, Words: words(a.Look), Count: n})
		}
	}
	return entries
}

// words returns the title of an area without a namespace.
func (a *Area) words() string {
	switch {
	case a.Elsewhere:
		return "in other namespaces"
	case a.Namespace == "":
		return "in no namespace"
	}
	return ""
}
