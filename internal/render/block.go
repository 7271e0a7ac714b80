package render

import (
	"strconv"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// screen is the style for an answer that fits on a screen.
func (s Style) screen() Style {
	if !s.Wide {
		s.Width = narrow(s.Width)
	}
	return s
}

// block is one thing that was found, in a few lines behind its severity: what, with what,
// and what to do.
type block struct {
	severity reason.Severity
	lines    []string
	// brief is what and with what in one, where there are many blocks.
	brief string
}

// severityLabels are as wide as blocks are moved in.
var severityLabels = map[reason.Severity]string{reason.Error: "ERROR", reason.Warning: "WARNING", reason.Info: "NOTE"}

const severityColumn = len("WARNING") + 2

// laid are the lines of a block within the width.
func (b block) laid(s Style) []string {
	var laid []string
	room := s.limit()
	if room > 0 {
		room = max(room-severityColumn, leastCell)
	}
	for i, text := range b.lines {
		for _, line := range wrapText(text, room, 0) {
			lead := strings.Repeat(" ", severityColumn)
			if len(laid) == 0 && i == 0 {
				label := severityLabels[b.severity]
				lead = s.paint(severityColour(b.severity), label) + strings.Repeat(" ", severityColumn-len(label))
			}
			laid = append(laid, lead+line)
		}
	}
	return laid
}

// fitted are the blocks with as much as leaves room for all of them: all, or what
// and with what, or that in brief.
func fitted(s Style, list []block, lines int) []block {
	for _, shorten := range []func(block) block{
		func(b block) block { return b },
		func(b block) block { b.lines = b.lines[:min(len(b.lines), 2)]; return b },
		func(b block) block { b.lines = []string{b.brief}; return b },
	} {
		shorter, n := make([]block, len(list)), 0
		for i, b := range list {
			shorter[i] = shorten(b)
			n += len(shorter[i].laid(s))
		}
		if list = shorter; n <= lines {
			break
		}
	}
	return list
}

// blocks writes the blocks, as short as so many lines ask for, and counts those for which
// there is no room. The first is there in any case.
func (w *writer) blocks(list []block, lines int) (left int) {
	list = fitted(w.style, list, lines)
	for i, b := range list {
		laid := b.laid(w.style)
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

// height is the number of lines that texts take, one below the other.
func (s Style) height(texts ...string) int {
	n := 0
	for _, text := range texts {
		n += len(wrapText(text, s.limit(), 2))
	}
	return n
}

// height is the number of lines that a table takes.
func (t *table) height(s Style) int {
	var b strings.Builder
	if err := t.write(&b, s); err != nil {
		return 0
	}
	return strings.Count(b.String(), "\n")
}

// moreText is what stands for blocks that did not fit.
func moreText(left int, noun string) string {
	return "and " + strconv.Itoa(left) + " more " + noun + plurals(left) + ": -o wide"
}

func plurals(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}
