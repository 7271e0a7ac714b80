package shots

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
)

// Shot is what a person sees: a command, and what the terminal shows of it.
type Shot struct {
	// Title stands in the frame; Spoken is what is read aloud.
	Title, Spoken string
	Lines         []Line
	// Columns is the width of the terminal.
	Columns int
}

// The sizes of a picture, in pixels.
const (
	cell    = 8.4 // the width of a letter of 14 px in the usual fonts
	leading = 20
	size    = 14
	side    = 24 // what is free beside the text
	bar     = 40 // the height of the title bar
	above   = 18 // what is free over the first line and under the last
	round   = 10
)

// Palette is the colours of one theme.
type Palette struct {
	Ground, Bar, Border, Text, Faint string
	// Colours are those of the terminal, in the order of their numbers.
	Colours [8]string
}

// The themes. A reader gets the one that the system asks for.
var (
	Light = Palette{
		Ground: "#ffffff", Bar: "#f6f8fa", Border: "#d1d9e0", Text: "#1f2328", Faint: "#59636e",
		Colours: [8]string{"#1f2328", "#c01b28", "#1a7f37", "#855300", "#0860ca", "#8250df", "#136d74", "#59636e"},
	}
	Dark = Palette{
		Ground: "#0d1117", Bar: "#161b22", Border: "#30363d", Text: "#e6edf3", Faint: "#9198a1",
		Colours: [8]string{"#9198a1", "#ff7b72", "#56d364", "#e3b341", "#79c0ff", "#d2a8ff", "#56d4dd", "#e6edf3"},
	}
)

const fonts = `ui-monospace,SFMono-Regular,"SF Mono",Menlo,Consolas,"Liberation Mono","DejaVu Sans Mono",monospace`

// SVG draws the shot. It has no script and asks for nothing from elsewhere.
func (s Shot) SVG() []byte {
	var b bytes.Buffer
	width := 2*side + float64(s.Columns)*cell
	height := bar + 2*above + leading*len(s.Lines)
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%g" height="%d" viewBox="0 0 %g %d" role="img">`+"\n", width, height, width, height)
	fmt.Fprintf(&b, "<title>%s</title>\n<style>\n%s@media (prefers-color-scheme: dark) {\n%s}\n", escaped(s.Spoken), Light.css(), Dark.css())
	fmt.Fprintf(&b, "text{font:%dpx %s;fill:var(--text);white-space:pre}\n.b{font-weight:600}\n", size, fonts)
	for _, c := range s.used() {
		fmt.Fprintf(&b, ".%s{fill:var(--%s)}\n", c, c)
	}
	b.WriteString(".faint{fill:var(--faint)}\n</style>\n")
	fmt.Fprintf(&b, `<rect x=".5" y=".5" width="%g" height="%d" rx="%d" style="fill:var(--ground);stroke:var(--border)"/>`+"\n", width-1, height-1, round)
	fmt.Fprintf(&b, `<path d="M.5 %d V%d a%d %d 0 0 1 %d -%d H%g a%d %d 0 0 1 %d %d V%d Z" style="fill:var(--bar);stroke:var(--border)"/>`+"\n",
		bar, round, round, round, round, round, width-round-.5, round, round, round, round, bar)
	for i := range 3 {
		fmt.Fprintf(&b, `<circle cx="%d" cy="%d" r="5.5" style="fill:var(--border)"/>`+"\n", side+i*18, bar/2)
	}
	fmt.Fprintf(&b, `<text class="faint" x="%g" y="%d" text-anchor="middle">%s</text>`+"\n", width/2, bar/2+5, escaped(s.Title))
	for i, line := range s.Lines {
		s.line(&b, line, bar+above+leading*i+15)
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// line draws one line. Its length is fixed, so that columns stand below each other in
// whatever font the reader has.
func (s Shot) line(b *bytes.Buffer, line Line, y int) {
	columns := line.Columns()
	if columns == 0 {
		return
	}
	fmt.Fprintf(b, `<text x="%d" y="%d" textLength="%.1f" xml:space="preserve">`, side, y, float64(columns)*cell)
	for _, span := range line {
		if class := span.class(); class != "" {
			fmt.Fprintf(b, `<tspan class="%s">%s</tspan>`, class, escaped(span.Text))
		} else {
			b.WriteString(escaped(span.Text))
		}
	}
	b.WriteString("</text>\n")
}

func (l Look) class() string {
	if l.Bold {
		return strings.TrimSpace(l.Colour + " b")
	}
	return l.Colour
}

// used are the colours that occur.
func (s Shot) used() []string {
	var names []string
	for _, line := range s.Lines {
		for _, span := range line {
			if span.Colour != "" && span.Colour != faint && !slices.Contains(names, span.Colour) {
				names = append(names, span.Colour)
			}
		}
	}
	slices.Sort(names)
	return names
}

// css sets the colours of a theme.
func (p Palette) css() string {
	var b strings.Builder
	fmt.Fprintf(&b, "svg{--ground:%s;--bar:%s;--border:%s;--text:%s;--faint:%s", p.Ground, p.Bar, p.Border, p.Text, p.Faint)
	for i, c := range p.Colours {
		fmt.Fprintf(&b, ";--%s:%s", colours[i], c)
	}
	b.WriteString("}\n")
	return b.String()
}

// faint is the look of a prompt.
const faint = "faint"

// Typed is a command as it stands behind a prompt.
func Typed(command string) Line {
	return Line{{Look{Colour: faint}, "$ "}, {Look{Bold: true}, command}}
}

// escaped is text as XML shows it. What XML does not know becomes U+FFFD.
func escaped(text string) string {
	var b bytes.Buffer
	if err := xml.EscapeText(&b, []byte(text)); err != nil {
		panic("shots: a buffer refuses nothing: " + err.Error())
	}
	return b.String()
}
