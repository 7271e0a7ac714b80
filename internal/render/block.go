package render

import (
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// forScreen returns the style for an answer that fits on a screen.
func (s Style) forScreen() Style {
	if !s.Wide && (s.Width <= 0 || s.Width > maxScreenWidth) {
		s.Width = maxScreenWidth
	}
	return s
}

// block is a finding in a few lines next to its severity: title, objects and advice.
type block struct {
	severity reason.Severity
	lines    []string
	// brief is title and objects in one line, used if there are many blocks.
	brief string
}

// severityLabels are the labels in the severity column.
var severityLabels = map[reason.Severity]string{reason.Error: "ERROR", reason.Warning: "WARNING", reason.Info: "NOTE"}

const severityColumn = len("WARNING") + 2

// layOut returns the lines of a block, wrapped to the width.
func (b block) layOut(s Style) []string {
	var laid []string
	room := s.limit()
	if room > 0 {
		room = max(room-severityColumn, minCell)
	}
	for i, text := range b.lines {
		for _, line := range wrapText(text, room, 0) {
			lead := strings.Repeat(" ", severityColumn)
			if len(laid) == 0 && i == 0 {
				label := severityLabels[b.severity]
				lead = s.paint(severityColours[b.severity], label) + strings.Repeat(" ", severityColumn-len(label))
			}
			laid = append(laid, lead+line)
		}
	}
	return laid
}

// shortenBlocks shortens all blocks equally until they fit into the lines: whole, then title and
// objects, then the brief line.
func shortenBlocks(s Style, list []block, lines int) []block {
	for _, shorten := range []func(block) block{
		func(b block) block { return b },
		func(b block) block { b.lines = b.lines[:min(len(b.lines), 2)]; return b },
		func(b block) block { b.lines = []string{b.brief}; return b },
	} {
		shorter, n := make([]block, len(list)), 0
		for i, b := range list {
			shorter[i] = shorten(b)
			n += len(shorter[i].layOut(s))
		}
		if list = shorter; n <= lines {
			break
		}
	}
	return list
}

// blocks writes the blocks in at most lines lines and returns the number of omitted ones. The first
// block is always written.
func (w *writer) blocks(list []block, lines int) (left int) {
	list = shortenBlocks(w.style, list, lines)
	for i, b := range list {
		laid := b.layOut(w.style)
		if i > 0 && len(laid) > lines {
			return len(list) - i
		}
		lines -= len(laid)
		for _, line := range laid {
			w.line(line)
		}
	}
	return 0
}

// height returns the number of lines of texts, wrapped.
func (s Style) height(texts ...string) int {
	n := 0
	for _, text := range texts {
		n += len(wrapText(text, s.limit(), 2))
	}
	return n
}

// height returns the number of lines of a table.
func (t *table) height(s Style) int {
	var b strings.Builder
	if err := t.write(&b, s); err != nil {
		return 0
	}
	return strings.Count(b.String(), "\n")
}

// moreText returns the line for omitted blocks.
func moreText(left int, noun string) string {
	return "and " + report.Plural(left, "more "+noun) + ": -o wide"
}
