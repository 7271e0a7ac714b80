package draw

import (
	"bufio"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/render"
)

// WriteSVG writes the scene as SVG.
func WriteSVG(out io.Writer, s *Scene) error {
	w := &writer{Writer: bufio.NewWriterSize(out, 1<<16), scene: s}
	h := newHead(s)
	w.raw(`<svg xmlns="http://www.w3.org/2000/svg" class="gc" viewBox="0 0 `).num(h.width).raw(` `).num(h.height + s.Height + h.foot)
	w.raw(`" width="`).num(h.width).raw(`" height="`).num(h.height + s.Height + h.foot).raw(`" role="img" aria-labelledby="gc-title">` + "\n")
	w.raw(`<title id="gc-title">`).text(render.Escape(s.Title)).raw("</title>\n")
	w.raw("<style>\n" + stylesheet + "</style>\n")
	w.raw(`<rect class="paper" width="100%" height="100%"/>` + "\n")
	w.head(h)
	w.raw(`<g transform="translate(0 `).num(h.height).raw(`)">` + "\n")
	for i := range s.Areas {
		w.area(&s.Areas[i])
	}
	for i := range s.Arrows {
		w.arrow(&s.Arrows[i])
	}
	for i := range s.Boxes {
		w.box(i)
	}
	w.raw("</g>\n")
	for i, line := range h.notes {
		w.raw(`<text class="key" x="`).num(headInset).raw(`" y="`).num(h.height + w.scene.Height + noteStep*(i+1) - 6).raw(`">`).text(line).raw("</text>\n")
	}
	w.raw("</svg>\n")
	return w.Flush()
}

// writer writes markup and text. Its first error sticks, as bufio.Writer's does.
type writer struct {
	*bufio.Writer
	scene *Scene
}

// raw writes trusted markup.
func (w *writer) raw(markup string) *writer {
	w.WriteString(markup)
	return w
}

func (w *writer) num(n int) *writer {
	w.WriteString(strconv.Itoa(n))
	return w
}

// text writes escaped text, and replaces the XML special characters in it.
func (w *writer) text(shown string) *writer {
	_, _ = xmlEscaper.WriteString(w, shown)
	return w
}

var xmlEscaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// area draws a namespace.
func (w *writer) area(a *Area) {
	w.raw(`<rect class="area" x="`).num(a.X).raw(`" y="`).num(a.Y).raw(`" width="`).num(a.W).raw(`" height="`).num(a.H).raw(`" rx="10"/>`)
	w.raw(`<text class="place" x="`).num(a.X + areaInset).raw(`" y="`).num(a.Y + areaLine).raw(`">`)
	if words := a.words(); words != "" {
		w.raw(words).raw("</text>\n")
		return
	}
	const label = "namespace "
	w.raw(label + `<tspan class="ns">`)
	w.text(fitName(a.Namespace, a.W-2*areaInset-smallWidth(label)))
	w.raw("</tspan></text>\n")
}

const (
	areaInset = 18
	areaLine  = 25
)

// nameOf returns the name of a box in the tooltips of its arrows.
func (w *writer) nameOf(box int) string {
	b := &w.scene.Boxes[box]
	if len(b.Refs) > 1 {
		return render.Escape(b.Kind)
	}
	return render.Escape(b.Refs[0].ShortName())
}

// head is the text above and below the picture: title, legend and notes.
type head struct {
	width, height, foot int
	title, notes        []string
	// grouped is the text below the title of a picture with groups.
	grouped []string
	keys    []key
}

// key is an entry of the legend with its position.
type key struct {
	x, y  int
	look  Look
	arrow string
	words string
	// box is an example with that look; -1 for none.
	box int
}

const (
	minPageWidth = 640
	headInset    = 24
	titleLine    = 24
	titleStart   = 36
	keyLine      = 24
	keyGap       = 22
	keyMark      = 24
	noteStep     = 18
	// titleColumn is the maximum average width of a title column.
	titleColumn = 11
)

func newHead(s *Scene) *head {
	h := &head{width: max(s.Width, minPageWidth)}
	room := h.width - 2*headInset
	h.title = wrap(render.Escape(s.Title), int(float64(room)/titleColumn))
	y := titleStart + titleLine*len(h.title) + 2
	if s.Grouped != "" {
		h.grouped = wrap(s.Grouped, smallColumns(room))
		y += noteStep * len(h.grouped)
	}
	x := headInset
	for _, k := range keysOf(s) {
		size := keyMark + smallWidth(k.words) + keyGap
		if x > headInset && x+size > h.width-headInset+keyGap {
			x, y = headInset, y+keyLine
		}
		k.x, k.y = x, y
		h.keys = append(h.keys, k)
		x += size
	}
	h.height = y + 2
	for _, n := range s.Notes {
		h.notes = append(h.notes, wrap(render.Escape(n), smallColumns(room))...)
	}
	if len(h.notes) > 0 {
		h.foot = noteStep*len(h.notes) + noteStep
	}
	return h
}

// wrap breaks escaped text at blanks.
func wrap(text string, room int) []string {
	var lines []string
	line := ""
	for word := range strings.SplitSeq(text, " ") {
		if line != "" && columns.StringWidth(line)+1+columns.StringWidth(word) > room {
			lines, line = append(lines, line), ""
		}
		if line != "" {
			line += " "
		}
		line += fit(word, room)
	}
	return append(lines, line)
}

// keysOf returns an entry for each look and each kind of arrow in use.
func keysOf(s *Scene) []key {
	var keys []key
	for _, e := range s.Legend {
		i := slices.IndexFunc(s.Boxes, func(b Box) bool { return b.Look == e.Look })
		keys = append(keys, key{look: e.Look, words: strconv.Itoa(e.Count) + " " + e.Words, box: i})
	}
	used := map[string]bool{}
	for i := range s.Arrows {
		for _, c := range classes(&s.Arrows[i]) {
			used[c] = true
		}
	}
	for _, k := range [...]key{
		{arrow: "blocks", words: "blocks its owner's foreground delete"}, {arrow: "second", words: "owner, not controller"},
		{arrow: "waits", words: "owner waits for dependents"}, {arrow: "dangling", words: "owner does not exist"},
		{arrow: "doubt", words: "owner not known"}, {arrow: "cut", words: "reference is removed"},
	} {
		if used[k.arrow] {
			k.box = -1
			keys = append(keys, k)
		}
	}
	return keys
}

func (w *writer) head(h *head) {
	for i, line := range h.title {
		w.raw(`<text class="title" x="`).num(headInset).raw(`" y="`).num(titleStart + titleLine*i).raw(`">`).text(line).raw("</text>\n")
	}
	for i, line := range h.grouped {
		w.raw(`<text class="key" x="`).num(headInset).raw(`" y="`).num(titleStart + titleLine*len(h.title) + noteStep*i - 4).raw(`">`).text(line).raw("</text>\n")
	}
	for _, k := range h.keys {
		w.key(k)
	}
}

func (w *writer) key(k key) {
	if k.box >= 0 {
		w.raw(`<a href="#box-`).num(k.box).raw(`">`)
	}
	w.raw(`<g class="`).raw(class(k.look)).raw(`" transform="translate(`).num(k.x).raw(" ").num(k.y - 12).raw(`)">`)
	if k.arrow != "" {
		w.raw(`<path class="a `).raw(k.arrow).raw(`" d="M0 8L17 8"/><path class="a whole `).raw(k.arrow).raw(`" d="M12 4L17 8L12 12"/>`)
	} else {
		w.raw(`<rect class="f" x="0" y="0" width="17" height="16" rx="4"/><path class="m" transform="translate(2.5 2)" d="`).raw(mark(k.look)).raw(`"/>`)
	}
	w.raw(`<text class="key" x="`).num(keyMark).raw(`" y="12">`).text(render.Escape(k.words)).raw("</text></g>")
	if k.box >= 0 {
		w.raw("</a>")
	}
	w.raw("\n")
}

// The colours that do not belong to a look.
var (
	paper  = shade("#ffffff", "#0d1117")
	ground = shade("#f6f8fa", "#151b23") // of areas
	border = shade("#d0d7de", "#3d444d") // of areas
	ink    = shade("#1f2328", "#f0f6fc")
	faint  = shade("#57606a", "#9fa6ae")
	wire   = shade("#6e7781", "#848d97") // arrows
	accent = shade("#0969da", "#58a6ff") // targets
	alarm  = shade("#b3261e", "#ff8e86")
	delay  = shade("#953800", "#ffa657")
	doubt  = shade("#6b35c2", "#c4a1ff")
)

const (
	sans = `font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif`
	mono = `font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono","Liberation Mono",monospace`
)

// stylesheet is the same in every document.
var stylesheet = newStylesheet()

// sheet collects rules. Each colour is a custom property that the dark theme overrides. The plain
// colour precedes it, for readers without custom properties.
type sheet struct{ rules, light, dark strings.Builder }

func newStylesheet() string {
	s := &sheet{}
	s.rule(".gc text", sans, s.colour("fill", "ink", ink))
	s.rule(".gc .paper", s.colour("fill", "paper", paper))
	s.rule(".gc .area", s.colour("fill", "ground", ground), s.colour("stroke", "border", border))
	s.rule(".gc .title", "font-size:17px", "font-weight:600")
	s.rule(".gc .place,.gc .key,.gc .k", "font-size:11px", s.colour("fill", "faint", faint))
	s.rule(".gc .key,.gc .place", "font-size:12px")
	s.rule(".gc .ns,.gc .n", mono, "font-size:12px", s.use("fill", "ink", ink))
	s.rule(".gc .ns", "font-weight:600")
	s.rule(".gc .w,.gc .t", "font-size:11px")
	s.rule(".gc .w", "text-anchor:end", "font-weight:600")
	s.rule(".gc .m", "fill:none", "stroke-width:1.6", "stroke-linecap:round", "stroke-linejoin:round")
	s.rule(".gc .f", "stroke-width:1.25")
	s.rule(".gc .ring", "fill:none", "stroke-width:2", s.colour("stroke", "accent", accent))
	s.rule(".gc .b:target .f", "stroke-width:3")
	s.rule(".gc .a", "fill:none", "stroke-width:1.3", s.colour("stroke", "wire", wire))
	s.rule(".gc .blocks", "stroke-width:2.1")
	s.rule(".gc .second", "stroke-dasharray:5 3")
	s.rule(".gc .waits", "stroke-dasharray:9 3", s.colour("stroke", "delay", delay))
	s.rule(".gc .dangling", "stroke-dasharray:2 3", s.colour("stroke", "alarm", alarm))
	s.rule(".gc .doubt", "stroke-dasharray:1 4", s.colour("stroke", "doubt", doubt))
	s.rule(".gc .cut", "stroke-dasharray:9 3 2 3", s.use("stroke", "alarm", alarm))
	s.rule(".gc .whole", "stroke-dasharray:none")
	s.rule(".gc a:hover .a,.gc .a:hover", "stroke-width:3")
	for _, a := range appearances {
		name := "." + string(a.Look)
		dash := "stroke-dasharray:none"
		if a.Dash != "" {
			dash = "stroke-dasharray:" + a.Dash
		}
		s.rule(".gc "+name+" .f", s.colour("fill", string(a.Look)+"-fill", a.Fill), s.colour("stroke", string(a.Look), a.Ink), dash)
		s.rule(".gc "+name+" .m", s.use("stroke", string(a.Look), a.Ink))
		s.rule(".gc "+name+" .w,.gc "+name+" .t", s.use("fill", string(a.Look), a.Ink))
	}
	return ".gc{" + s.light.String() + "}\n" + s.rules.String() +
		"@media (prefers-color-scheme:dark){.gc{" + s.dark.String() + "}}\n"
}

func (s *sheet) rule(selector string, declarations ...string) {
	s.rules.WriteString(selector + "{" + strings.Join(declarations, ";") + "}\n")
}

// colour defines a custom property and returns a declaration that uses it.
func (s *sheet) colour(property, name string, c shading) string {
	s.light.WriteString("--gc-" + name + ":" + c.Light + ";")
	s.dark.WriteString("--gc-" + name + ":" + c.Dark + ";")
	return s.use(property, name, c)
}

func (s *sheet) use(property, name string, c shading) string {
	return property + ":" + c.Light + ";" + property + ":var(--gc-" + name + "," + c.Light + ")"
}

func shade(light, dark string) shading { return shading{Light: light, Dark: dark} }
