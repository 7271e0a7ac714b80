package render

import (
	"slices"
	"strings"
)

const (
	// leastProse is the width below which prose moves below its row. Longer words, such as names,
	// raise it up to mostProse.
	leastProse = 24
	mostProse  = 48
	// leastName is the width below which the last column of names moves below.
	leastName = 16
)

// layout is a table that is fitted to a width.
type layout struct {
	headers []string
	rows    []row
	indent  string
	// tailAt is the column where tails start.
	tailAt int
}

// fit fits the table into the width. It prefers steps that lose nothing: wrap the prose, move it
// below its row, move further columns from the right below. Only then are cells cut in the middle.
func (t *table) fit(s Style) layout {
	l := layout{headers: t.headers, rows: t.rows, indent: strings.Repeat(" ", t.indent)}
	limit := s.limit()
	if limit <= 0 {
		return l
	}
	limit = max(limit-t.indent, leastCell)
	widths := t.widths(s)
	last := len(widths) - 1
	switch start := offset(widths, last); {
	case start+widths[last] <= limit:
	case limit-start >= t.leastRoom():
		l.wrap(limit - start)
	case !l.wrapMost(widths, limit, t.leastRoom()):
		l.moveBelow(widths, limit, s)
	}
	return l
}

// leastRoom returns the width that the prose needs: no word should be broken.
func (t *table) leastRoom() int {
	least := leastProse
	for i := range t.rows {
		cells := t.rows[i].cells
		for word := range strings.SplitSeq(cells[len(cells)-1], " ") {
			if len(word) > least {
				least = max(least, width(word))
			}
		}
	}
	return min(least, mostProse)
}

// widths returns the widths of the columns.
func (t *table) widths(s Style) []int {
	widths := make([]int, len(t.headers))
	if !s.NoHeaders {
		for i, h := range t.headers {
			widths[i] = width(h)
		}
	}
	for i := range t.rows {
		for j, cell := range t.rows[i].cells {
			widths[j] = max(widths[j], width(cell))
		}
	}
	return widths
}

// offset returns the start of a column.
func offset(widths []int, column int) int {
	n := 0
	for _, w := range widths[:column] {
		n += w + columnGap
	}
	return n
}

// wrap breaks the prose into lines for a cell of tablewriter.
func (l *layout) wrap(room int) {
	last := len(l.headers) - 1
	rows := slices.Clone(l.rows)
	for i, r := range rows {
		rows[i].cells = append(slices.Clone(r.cells[:last]), strings.Join(wrapText(r.cells[last], room, 0), "\n"))
	}
	l.rows = rows
}

// wrapMost wraps prose if only a few names are too long. These extend over the column of the prose,
// which moves below them. It returns false and does nothing if more than a few are too long.
func (l *layout) wrapMost(widths []int, limit, prose int) bool {
	last := len(widths) - 1
	names := last - 1
	if names < 1 {
		return false
	}
	start := offset(widths, names)
	room := limit - start - columnGap - prose
	if room < leastName {
		return false
	}
	fitting, wide := width(l.headers[names]), 0
	for i := range l.rows {
		if n := width(l.rows[i].cells[names]); n > room {
			wide++
		} else {
			fitting = max(fitting, n)
		}
	}
	if wide > len(l.rows)/4 || fitting > room {
		return false
	}
	rows := make([]row, len(l.rows))
	for i, r := range l.rows {
		if name := r.cells[names]; width(name) > room {
			r.cells = append(append(make([]string, 0, last+1), r.cells[:names]...), "", "")
			if width(name) <= limit-start {
				r.tail = name
			} else {
				r.addBelow(name, limit)
			}
			r.addBelow(l.rows[i].cells[last], limit)
		}
		rows[i] = r
	}
	l.rows, l.tailAt = rows, start
	l.wrap(limit - start - fitting - columnGap)
	return true
}

func (r *row) addBelow(text string, limit int) {
	if text != "" {
		r.below = append(r.below, wrapText(text, max(limit-len(belowIndent), leastCell), 0)...)
	}
}

// moveBelow moves the prose below the rows, and then columns from the right until the rest fits.
func (l *layout) moveBelow(widths []int, limit int, s Style) {
	keep := len(widths) - 1
	for keep > 1 && offset(widths, keep)-columnGap > limit && limit-offset(widths, keep-1) < leastName {
		keep--
	}
	room := limit - offset(widths, keep-1)
	rows := make([]row, len(l.rows))
	for i, r := range l.rows {
		cells := r.cells
		r.cells = append(make([]string, 0, keep), cells[:keep]...)
		if keep > 1 && width(cells[keep-1]) > room {
			r.cells[keep-1] = ""
			r.addBelow(cells[keep-1], limit)
		}
		for j := keep; j < len(cells)-1; j++ {
			if cells[j] != "" {
				r.addBelow(strings.ToLower(l.headers[j])+" "+cells[j], limit)
			}
		}
		r.addBelow(cells[len(cells)-1], limit)
		rows[i] = r
	}
	l.headers, l.rows = l.headers[:keep:keep], rows
	l.cut(limit, s)
}

// cut shortens cells of the widest columns until the rows fit.
func (l *layout) cut(limit int, s Style) {
	widths := (&table{headers: l.headers, rows: l.rows}).widths(s)
	excess := offset(widths, len(widths)) - columnGap - limit
	if excess <= 0 {
		return
	}
	for ; excess > 0; excess-- {
		widest := 0
		for i := range widths {
			if widths[i] > widths[widest] {
				widest = i
			}
		}
		if widths[widest] <= 1 {
			break
		}
		widths[widest]--
	}
	l.headers = cutCells(l.headers, widths, s)
	for i := range l.rows {
		l.rows[i].cells = cutCells(l.rows[i].cells, widths, s)
	}
}

func cutCells(cells []string, widths []int, s Style) []string {
	cut := make([]string, len(cells))
	for i, cell := range cells {
		cut[i] = cutMiddle(cell, widths[i], s)
	}
	return cut
}
