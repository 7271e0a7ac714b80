package draw

import (
	"strconv"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/render"
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
	if word := word(b.Look); word != "" {
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

// mostNamed is the number of objects that a tooltip names.
const mostNamed = 20

// tooltip returns the details that do not fit into the box.
func tooltip(b *Box) string {
	var named strings.Builder
	for k, r := range b.Refs {
		if k == mostNamed {
			named.WriteString("and " + strconv.Itoa(len(b.Refs)-k) + " more\n")
			break
		}
		named.WriteString(render.Escape(render.Place(r)) + "\n")
	}
	text := named.String()
	if r := b.Refs[0]; len(b.Refs) == 1 && r.UID != "" {
		text += "uid " + render.Escape(string(r.UID)) + "\n"
	}
	if word := word(b.Look); word != "" {
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
