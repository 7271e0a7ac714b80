package render

import (
	"bufio"
	"bytes"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// linesOf returns the lines that write writes.
func linesOf(s Style, write func(*writer)) []string {
	var b bytes.Buffer
	w := &writer{Writer: bufio.NewWriter(&b), style: s}
	write(w)
	if w.done() != nil || b.Len() == 0 { // writing to memory does not fail
		return nil
	}
	return strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
}

// atMost writes prose in at most most lines, shortened if necessary.
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

// lines writes finished lines.
func (w *writer) lines(list []string) {
	for _, line := range list {
		w.line(line)
	}
}

// command writes a command to paste, on a line of its own that is never wrapped.
func (w *writer) command(indent string, r report.Remedy) { w.line(indent, w.style.text(r.Command)) }

// where returns the object with its namespace.
func (s Style) where(r report.Ref) string {
	if r.Namespace == "" {
		return s.name(r)
	}
	return s.name(r) + " in namespace " + s.text(r.Namespace)
}
