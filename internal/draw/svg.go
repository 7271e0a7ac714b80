package draw

import (
	"bufio"
	"io"
	"strconv"

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
	w.name()
	for i := range s.Arrows {
		w.arrow(&s.Arrows[i])
	}
	for i := range s.Boxes {
		w.box(i)
	}
	w.raw("</g>\n")
	w.feet(h)
	w.raw("</svg>\n")
	return w.Flush()
}

// writer writes markup and text. Its first error sticks, as bufio.Writer's does.
type writer struct {
	*bufio.Writer
	scene *Scene
	// names are the names of the boxes in tooltips.
	names []string
	digit [20]byte
}

// raw writes trusted markup.
func (w *writer) raw(markup string) *writer {
	w.WriteString(markup)
	return w
}

func (w *writer) num(n int) *writer {
	_, _ = w.Write(strconv.AppendInt(w.digit[:0], int64(n), 10))
	return w
}

// text writes escaped text, and replaces the XML special characters in it.
func (w *writer) text(shown string) *writer {
	from := 0
	for i := range len(shown) {
		entity := ""
		switch shown[i] {
		case '&':
			entity = "&amp;"
		case '<':
			entity = "&lt;"
		case '>':
			entity = "&gt;"
		default:
			continue
		}
		w.WriteString(shown[from:i])
		w.WriteString(entity)
		from = i + 1
	}
	w.WriteString(shown[from:])
	return w
}

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

// name computes the names of boxes for tooltips.
func (w *writer) name() {
	w.names = make([]string, len(w.scene.Boxes))
	for i := range w.scene.Boxes {
		b := &w.scene.Boxes[i]
		if n := len(b.Refs); n > 1 {
			w.names[i] = render.Escape(b.Kind)
		} else {
			w.names[i] = render.Escape(b.Refs[0].ShortName())
		}
	}
}
