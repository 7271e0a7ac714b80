package shots

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
)

// Look is how a piece of text stands on a terminal.
type Look struct {
	// Colour is one of the eight of a terminal, by name; empty for that of text.
	Colour string
	Bold   bool
}

// Span is text of one look.
type Span struct {
	Look
	Text string
}

// Line is one line of a screen.
type Line []Span

// Columns is how many cells the line takes.
func (l Line) Columns() int {
	n := 0
	for _, s := range l {
		n += runewidth.StringWidth(s.Text)
	}
	return n
}

// colours are the names of the parameters 30 to 37.
var colours = []string{"black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"}

const (
	escape = "\x1b["
	// erase begins a line anew, as progress does.
	erase = "\r\x1b[K"
)

// Screen is what a terminal of so many columns shows of a text. It goes on in the
// next line where the text does not fit, as terminals do. Of control sequences it
// knows those for colours and weight, and the one that begins a line anew; everything
// else is an error.
func Screen(text string, columns int) ([]Line, error) {
	var lines []Line
	look := Look{}
	for raw := range strings.Lines(text) {
		line, used := Line{}, 0
		raw = strings.TrimRight(raw, "\r\n")
		if i := strings.LastIndex(raw, erase); i >= 0 {
			raw = raw[i+len(erase):]
		}
		for raw != "" {
			if rest, ok := strings.CutPrefix(raw, escape); ok {
				parameters, after, found := strings.Cut(rest, "m")
				if !found {
					return nil, fmt.Errorf("a control sequence that is not of colour: %q", raw)
				}
				next, err := look.changed(parameters)
				if err != nil {
					return nil, err
				}
				look, raw = next, after
				continue
			}
			r, size := utf8.DecodeRuneInString(raw)
			if r < ' ' || r == 0x7f {
				return nil, fmt.Errorf("a control character %q", r)
			}
			if used+runewidth.RuneWidth(r) > columns {
				lines, line, used = append(lines, line), Line{}, 0
			}
			line, used = line.with(look, raw[:size]), used+runewidth.RuneWidth(r)
			raw = raw[size:]
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// with adds text at the end.
func (l Line) with(look Look, text string) Line {
	if n := len(l); n > 0 && l[n-1].Look == look {
		l[n-1].Text += text
		return l
	}
	return append(l, Span{look, text})
}

// changed is the look after the parameters of one sequence.
func (l Look) changed(parameters string) (Look, error) {
	for p := range strings.SplitSeq(parameters, ";") {
		n, err := strconv.Atoi(p)
		switch {
		case p == "" || n == 0 && err == nil:
			l = Look{}
		case err != nil:
			return l, fmt.Errorf("a colour of %q", parameters)
		case n == 1:
			l.Bold = true
		case n == 22:
			l.Bold = false
		case n == 39:
			l.Colour = ""
		case n >= 30 && n < 30+len(colours):
			l.Colour = colours[n-30]
		default:
			return l, fmt.Errorf("a colour of %q", parameters)
		}
	}
	return l, nil
}
