package render

import (
	"bufio"
	"bytes"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// linesOf are the lines that write writes.
func linesOf(s Style, write func(*writer)) []string {
	var b bytes.Buffer
	w := &writer{Writer: bufio.NewWriter(&b), style: s}
	write(w)
	if w.done() != nil || b.Len() == 0 { // nothing fails that writes into memory
		return nil
	}
	return strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
}

// atMost writes prose in so many lines, shortened where it has to be.
func (w *writer) atMost(most int, text string, indent int) {
	lay := func(text string) []string {
		return linesOf(w.style, func(x *writer) { x.prose(text, indent) })
	}
	if w.style.Wide {
		w.prose(text, indent)
		return
	}
	lead := text[:len(text)-len(strings.TrimLeft(text, " "))]
	w.lines(w.style.shorten(text[len(lead):], most, func(text string) []string { return lay(lead + text) }))
}

// lines writes lines that are laid out already.
func (w *writer) lines(list []string) {
	for _, line := range list {
		w.line(line)
	}
}

// command writes a command to paste: on a line of its own, which is never broken.
func (w *writer) command(indent string, r report.Remedy) { w.line(indent, w.style.text(r.Command)) }

// where is the object with the namespace that it is in.
func (s Style) where(r report.Ref) string {
	if r.Namespace == "" {
		return s.name(r)
	}
	return s.name(r) + " in namespace " + s.text(r.Namespace)
}
