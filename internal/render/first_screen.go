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

// atMost writes prose in at most so many lines, of which the last says that there is more.
func (w *writer) atMost(most int, text string, indent int) {
	lines := linesOf(w.style, func(x *writer) { x.prose(text, indent) })
	if len(lines) <= most || w.style.Wide {
		w.prose(text, indent)
		return
	}
	mark := w.style.pick("…", "...")
	last := lines[most-1]
	for room := w.style.limit() - width(mark); width(last) > room; {
		if i := strings.LastIndex(last, " "); i > len(last)/2 || strings.Contains(last, "\x1b") {
			last = last[:max(i, 0)]
			continue
		}
		last = prefixOf(last, room)
	}
	lines[most-1] = strings.TrimRight(last, " ") + mark
	if text := strings.Join(lines[:most], ""); strings.Count(text, "\x1b[") > 2*strings.Count(text, "\x1b[0m") {
		lines[most-1] += "\x1b[0m" // the colour ended in what is left out
	}
	w.lines(lines[:most])
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
