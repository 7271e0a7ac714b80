package draw

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/mattn/go-runewidth"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/render"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// Sizes of a box, in pixels.
const (
	minWidth = 136
	maxWidth = 320
	// groupWidth is the maximum width of a group, which has more text.
	groupWidth = 440
	boxHeight  = 46
	noteHeight = 18
	// inset is the distance from the border of a box to its text, anchor from its top to its
	// arrows.
	inset  = 12
	anchor = 23
	// header is the height of the name of an area.
	header = 32
)

// compose lays out the figures.
func compose(title string, f *figures, words func(Look) string, o Options) *Scene {
	if o.Fold {
		f.fold()
	}
	s := &Scene{Title: title, Areas: []Area{}, Legend: f.legend(words)}
	var piles []int
	switch {
	case o.Page:
		if len(f.list) > maxPageBoxes {
			s.Grouped = leftWords(f.group(pageRoom))
		}
		if len(f.list) > maxUngroupedPage {
			piles, s.Elsewhere = f.closed()
			s.Piles = make([]int, len(piles))
		}
	case o.Most > 0 && len(f.list) > o.Most:
		s.Grouped = groupedWords(f.group(pictureRoom))
	}
	in := layoutInput{Header: header, Anchor: anchor, Boxes: make([]layoutBox, len(f.list)), Edges: make([]layoutEdge, len(f.lines))}
	boxes := make([]Box, len(f.list))
	spaces, area := f.areas()
	for i := range f.list {
		boxes[i] = boxOf(&f.list[i])
		boxes[i].Area = area[i]
		in.Boxes[i] = layoutBox{W: boxes[i].W, H: boxes[i].H, Group: boxes[i].Area}
	}
	for i, l := range f.lines {
		in.Edges[i] = layoutEdge{Owner: l.owner, Dependent: l.dependent}
	}
	in.Groups = len(spaces)
	d := arrange(in)
	s.Width, s.Height = d.Width, d.Height
	for i, a := range spaces {
		a.Rect = d.Groups[i]
		s.Areas = append(s.Areas, a)
	}
	number := make([]int, len(boxes))
	s.Boxes, s.Arrows = make([]Box, len(boxes)), make([]Arrow, len(f.lines))
	for n, i := range d.Order {
		number[i] = n
		if piles != nil {
			s.Piles[n] = piles[i]
		}
		boxes[i].Rect = d.Boxes[i]
		s.Boxes[n] = boxes[i]
	}
	for i, l := range f.lines {
		s.Arrows[i] = Arrow{
			Owner: number[l.owner], Dependent: number[l.dependent],
			Controller: l.controller, Blocks: l.blocks, Class: l.class, Use: l.use, Removed: l.removed, Path: d.Routes[i],
		}
	}
	return s
}

// areas returns the sorted areas, that of other namespaces last, and the area of each figure.
func (f *figures) areas() (list []Area, of []int) {
	var found numbers[Area]
	of = make([]int, len(f.list))
	for i := range f.list {
		a := Area{Elsewhere: f.list[i].elsewhere}
		if !a.Elsewhere {
			a.Namespace = f.list[i].refs[0].Namespace
		}
		of[i] = found.number(a)
	}
	list = slices.Clone(found.list)
	slices.SortFunc(list, func(a, b Area) int {
		return cmp.Or(object.TrueFirst(!a.Elsewhere, !b.Elsewhere), cmp.Compare(a.Namespace, b.Namespace))
	})
	place := make([]int, len(list))
	for i, a := range list {
		place[found.number(a)] = i
	}
	for i, n := range of {
		of[i] = place[n]
	}
	return list, of
}

func boxOf(x *figure) Box {
	r := x.refs[0]
	b := Box{Refs: x.refs, Kind: r.Kind, Name: r.Name, Look: x.look, Target: x.target, Note: x.note, Why: x.why}
	if r.Kind == "" && r.Name == "" {
		b.Kind, b.Name = "uid", string(r.UID)
	}
	most := maxWidth
	if x.group != nil {
		b.Group, b.Note, most = true, x.group.noteWith(x.note), groupWidth
		for _, n := range x.group.below {
			b.Below += n
		}
		if x.kinds > 1 {
			b.Kind = strconv.Itoa(x.kinds) + " more kinds"
		}
	}
	if n := len(x.refs); n > 1 {
		b.Kind = times(b.Kind, n)
		b.Name = sharedName(x.refs)
	}
	width := max(nameWidth(render.Escape(b.Name)), smallWidth(render.Escape(b.Kind)+"  "+appearanceOf(b.Look).Word)+18, smallWidth(render.Escape(b.Note)))
	b.W, b.H = min(max(width+2*inset, minWidth), most), boxHeight
	if b.Note != "" {
		b.H += noteHeight
	}
	return b
}

// sharedName returns the common prefix of many names.
func sharedName(refs []object.Ref) string {
	names := object.Mapped(refs, func(r object.Ref) string { return r.Name })
	const short = 2
	if p := prefix(names); len(p) > short {
		return p + "…"
	}
	return names[0] + ", …"
}

// withNotes adds the notes about missing input.
func (s *Scene) withNotes(src report.Source, complete bool, gaps []report.Gap) *Scene {
	s.Notes = render.Completeness(src, complete, gaps)
	return s
}

// Sizes of text, in pixels. They are upper bounds for all requested fonts, since the rendering
// machine is unknown.
const (
	// nameColumn and smallColumn are the maximum average widths of a column: of a monospaced name,
	// and of a proportional word.
	nameColumn  = 7.4
	smallColumn = 6.6
)

// columns counts terminal columns, independent of the locale.
var columns = &runewidth.Condition{StrictEmojiNeutral: true}

// nameWidth returns the width of an escaped name.
func nameWidth(shown string) int { return int(nameColumn*float64(columns.StringWidth(shown))) + 1 }

// smallWidth returns the width of an escaped small word.
func smallWidth(shown string) int { return int(smallColumn*float64(columns.StringWidth(shown))) + 1 }

// smallColumns returns the number of columns of small text that fit into a width.
func smallColumns(room int) int { return int(float64(room) / smallColumn) }

// fitName escapes a name, and cuts its middle if it exceeds the width.
func fitName(name string, room int) string {
	return fit(render.Escape(name), int(float64(room)/nameColumn))
}

// fitSmall is fitName for a small word.
func fitSmall(word string, room int) string {
	return fit(render.Escape(word), int(float64(room)/smallColumn))
}

// fit cuts the middle of a text: generated names differ mostly at their ends.
func fit(shown string, room int) string {
	if columns.StringWidth(shown) <= room {
		return shown
	}
	runes := []rune(shown)
	head, tail := (room-1)-(room-1)/2, (room-1)/2
	from, to := 0, len(runes)
	for from < to && columns.RuneWidth(runes[from]) <= head {
		head -= columns.RuneWidth(runes[from])
		from++
	}
	for to > from && columns.RuneWidth(runes[to-1]) <= tail {
		tail -= columns.RuneWidth(runes[to-1])
		to--
	}
	return string(slices.Concat(runes[:from], []rune{'…'}, runes[to:]))
}
