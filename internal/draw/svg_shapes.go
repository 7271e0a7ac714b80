package draw

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/render"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

const (
	kindLine = 18
	nameLine = 36
	noteLine = 54
	markSize = 12
)

// box draws an object.
func (w *writer) box(i int) {
	b := &w.scene.Boxes[i]
	w.raw(`<g id="box-`).num(i).raw(`" class="b `).raw(class(b.Look)).raw(`" transform="translate(`).num(b.X).raw(` `).num(b.Y).raw(`)">`)
	w.raw("<title>").text(tooltip(b)).raw("</title>")
	if b.Target {
		w.rect("ring", -ring, -ring, b.W+2*ring, b.H+2*ring, round+ring)
	}
	if len(b.Refs) > 1 || b.Group {
		w.rect("f", pileStep, pileStep, b.W, b.H, round)
	}
	w.rect("f", 0, 0, b.W, b.H, round)
	room := b.W - 2*inset
	if word := appearanceOf(b.Look).Word; word != "" {
		w.raw(`<path class="m" transform="translate(`).num(b.W - inset - markSize).raw(` 8)" d="`).raw(mark(b.Look)).raw(`"/>`)
		w.raw(`<text class="w" x="`).num(b.W - inset - markSize - 5).raw(`" y="`).num(kindLine).raw(`">`).raw(word).raw(`</text>`)
		room -= smallWidth(word) + markSize + 13
	}
	w.line("k", kindLine, fitSmall(b.Kind, room))
	w.line("n", nameLine, fitName(b.Name, b.W-2*inset))
	if b.Note != "" {
		w.line("t", noteLine, fitSmall(b.Note, b.W-2*inset))
	}
	w.raw("</g>\n")
}

const (
	ring     = 4
	round    = 7
	pileStep = 3
)

func (w *writer) rect(class string, x, y, width, height, rx int) {
	w.raw(`<rect class="`).raw(class).raw(`"`)
	if x != 0 {
		w.raw(` x="`).num(x).raw(`" y="`).num(y).raw(`"`)
	}
	w.raw(` width="`).num(width).raw(`" height="`).num(height).raw(`" rx="`).num(rx).raw(`"/>`)
}

func (w *writer) line(class string, y int, shown string) {
	w.raw(`<text class="`).raw(class).raw(`" x="`).num(inset).raw(`" y="`).num(y).raw(`">`).text(shown).raw(`</text>`)
}

// maxNamed is the number of objects that a tooltip names.
const maxNamed = 20

// tooltip returns the details that do not fit into the box.
func tooltip(b *Box) string {
	var named strings.Builder
	for k, r := range b.Refs {
		if k == maxNamed {
			named.WriteString("and " + strconv.Itoa(len(b.Refs)-k) + " more\n")
			break
		}
		named.WriteString(render.Escape(render.NamespacedName(r)) + "\n")
	}
	text := named.String()
	if r := b.Refs[0]; len(b.Refs) == 1 && r.UID != "" {
		text += "uid " + render.Escape(string(r.UID)) + "\n"
	}
	if word := appearanceOf(b.Look).Word; word != "" {
		text += word
		if b.Why != "" {
			text += ": "
		}
	}
	text += render.Escape(b.Why)
	if b.Note != "" {
		text += "\n" + render.Escape(b.Note)
	}
	if b.Target {
		text += "\nthis is what you ask about"
	}
	return text
}

// class returns the CSS class of a look.
func class(l Look) string { return string(appearanceOf(l).Look) }

func mark(l Look) string { return appearanceOf(l).Mark }

// bendRadius is the radius of bends of arrows, headSize the size of their heads.
const (
	bendRadius = 6
	headSize   = 5
)

// minLinkPoints is the minimum number of points of an arrow that is a link to its owner, which may
// be far away.
const minLinkPoints = 5

// arrow draws an owner reference.
func (w *writer) arrow(a *Arrow) {
	far := len(a.Path) >= minLinkPoints
	if far {
		w.raw(`<a href="#box-`).num(a.Owner).raw(`">`)
	}
	w.raw(`<path class="a`)
	for _, c := range classes(a) {
		w.raw(" ").raw(c)
	}
	w.raw(`" d="`)
	w.path(a.Path)
	if !isDashed(a) {
		w.tip(a.Path[len(a.Path)-1])
	}
	w.raw(`"><title>`).text(w.nameOf(a.Owner)).raw(" → ").text(w.nameOf(a.Dependent)).raw(words(a)).raw("</title></path>")
	if isDashed(a) {
		w.raw(`<path class="a whole `).raw(strings.Join(classes(a), " ")).raw(`" d="`)
		w.tip(a.Path[len(a.Path)-1])
		w.raw(`"/>`)
	}
	if far {
		w.raw("</a>")
	}
	w.raw("\n")
}

// path draws a line with round corners. Their radius is limited by the segments before and after them.
func (w *writer) path(points []Point) {
	w.raw("M").point(points[0])
	for i := 1; i+1 < len(points); i++ {
		before, at, after := points[i-1], points[i], points[i+1]
		r := min(bendRadius, length(before, at)/2, length(at, after)/2)
		w.raw("L").point(pointTowards(at, before, r)).raw("Q").point(at).raw(" ").point(pointTowards(at, after, r))
	}
	w.raw("L").point(points[len(points)-1])
}

// tip draws the head of an arrow.
func (w *writer) tip(at Point) {
	w.raw("M").point(Point{X: at.X - headSize, Y: at.Y - headSize + 1}).raw("L").point(at)
	w.raw("L").point(Point{X: at.X - headSize, Y: at.Y + headSize - 1})
}

// isDashed reports whether the line is dashed; its head should not be.
func isDashed(a *Arrow) bool {
	return slices.ContainsFunc(classes(a), func(c string) bool { return c != blocks })
}

// blocks is the class of a solid, thick arrow.
const blocks = "blocks"

func (w *writer) point(p Point) *writer { return w.num(p.X).raw(" ").num(p.Y) }

func length(a, b Point) int { return max(a.X-b.X, b.X-a.X) + max(a.Y-b.Y, b.Y-a.Y) }

// pointTowards returns the point at distance r from a on the way to b.
func pointTowards(a, b Point, r int) Point {
	step := func(from, to int) int { return from + min(max(to-from, -r), r) }
	return Point{X: step(a.X, b.X), Y: step(a.Y, b.Y)}
}

// classes returns the CSS classes of an arrow; each has distinct dashes or weight.
func classes(a *Arrow) []string {
	var list []string
	if a.Blocks {
		list = append(list, blocks)
	}
	switch {
	case a.Removed:
		return append(list, "cut")
	case a.Class == report.Dangling:
		return append(list, "dangling")
	case a.Class == report.Waiting:
		return append(list, "waits")
	case a.Class == report.UnknownClass:
		return append(list, "doubt")
	case !a.Controller:
		return append(list, "second")
	}
	return list
}

// words returns the same as text for a tooltip.
func words(a *Arrow) string {
	text := ""
	if a.Use != "" {
		return ", used by its " + a.Use
	}
	if a.Controller {
		text += ", controller"
	}
	if a.Blocks {
		text += ", blocks its owner's foreground delete"
	}
	switch a.Class {
	case report.Dangling:
		text += ", dangling: the owner does not exist"
	case report.Waiting:
		text += ", the owner waits for its dependents"
	case report.UnknownClass:
		text += ", nothing is known of the owner"
	case report.Existing:
	}
	if a.Removed {
		text += ", the reference is removed"
	}
	return text
}
