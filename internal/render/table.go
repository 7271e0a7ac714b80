package render

import (
	"bufio"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/mattn/go-runewidth"
	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

const (
	// columnGap is the gap between columns in kubectl.
	columnGap = 3
	// minCell is the width below which nothing is cut or wrapped.
	minCell = 8
	// belowIndent is the indentation of lines below a row.
	belowIndent = "    "
)

// measure counts terminal columns. It ignores the locale, so that the output does not depend on it.
var measure = &runewidth.Condition{StrictEmojiNeutral: true}

// width returns the number of columns of s, without colour sequences. Untrusted text is escaped
// before and has no escape sequences.
func width(s string) int {
	n := 0
	for {
		before, after, found := strings.Cut(s, "\x1b[")
		n += measure.StringWidth(before)
		if !found {
			return n
		}
		_, s, _ = strings.Cut(after, "m")
	}
}

// table is a table in kubectl's style. Cells are escaped text without line breaks; the last column
// is prose.
type table struct {
	headers []string
	rows    []row
	// indent moves the whole table to the right.
	indent int
	// inWidth keeps the table within the terminal width even in wide output.
	inWidth bool
}

// row is one line of a table with its additions.
type row struct {
	cells []string
	// colour is the colour of the first cell.
	colour string
	// overflow is written after the cells if they leave room.
	overflow string
	// below are lines below the row.
	below []string
}

func (t *table) add(colour string, cells ...string) {
	t.rows = append(t.rows, row{cells: cells, colour: colour})
}

// dropUnless removes columns by their headers, unless they are shown.
func (t *table) dropUnless(shown bool, headers ...string) {
	if shown {
		return
	}
	for _, h := range headers {
		i := slices.Index(t.headers, h)
		t.headers = slices.Delete(t.headers, i, i+1)
		for j := range t.rows {
			t.rows[j].cells = slices.Delete(t.rows[j].cells, i, i+1)
		}
	}
}

// dropCommonNamespace removes the column NAMESPACE if all items have the same namespace.
func dropCommonNamespace[T any](t *table, items []T, ref func(*T) object.Ref) {
	_, several := namespaces(items, ref)
	t.dropUnless(several, "NAMESPACE")
}

// first keeps the first most rows and counts the others, unless the output is wide.
func (t *table) first(most int, s Style) *table {
	if left := len(t.rows) - most; !s.Wide && left > 1 {
		t.rows = t.rows[:most]
		last := &t.rows[most-1]
		last.below = append(last.below, "and "+strconv.Itoa(left)+" more: -o wide")
	}
	return t
}

// write lays out and writes the table. A table without rows writes nothing.
func (t *table) write(w io.Writer, s Style) error {
	if len(t.rows) == 0 {
		return nil
	}
	s.Wide = s.Wide && !t.inWidth
	l := t.fit(s)
	var laid strings.Builder
	if err := l.lay(&laid, s); err != nil {
		return err
	}
	return l.emit(w, laid.String(), s)
}

// lay lays out the columns with tablewriter. Colour is added later, because tablewriter leaves
// stray resets after coloured cells.
func (l *layout) lay(w io.Writer, s Style) error {
	t := tablewriter.NewTable(w,
		tablewriter.WithRenderer(renderer.NewBlueprint(tw.Rendition{
			Borders: tw.BorderNone,
			Symbols: tw.NewSymbols(tw.StyleNone),
			Settings: tw.Settings{
				Separators: tw.Separators{ShowHeader: tw.Off, ShowFooter: tw.Off, BetweenRows: tw.Off, BetweenColumns: tw.Off},
				Lines:      tw.Lines{ShowTop: tw.Off, ShowBottom: tw.Off, ShowHeaderLine: tw.Off, ShowFooterLine: tw.Off},
			},
		})),
		tablewriter.WithHeaderAlignment(tw.AlignLeft),
		tablewriter.WithRowAlignment(tw.AlignLeft),
		tablewriter.WithHeaderAutoFormat(tw.Off),
		tablewriter.WithHeaderAutoWrap(tw.WrapNone),
		tablewriter.WithRowAutoWrap(tw.WrapNone),
		tablewriter.WithPadding(tw.Padding{Right: strings.Repeat(" ", columnGap), Overwrite: true}),
		// Without this, indentation in cells is lost.
		tablewriter.WithTrimSpace(tw.Off),
		// Without this, the locale decides the width of ambiguous characters.
		tablewriter.WithEastAsian(tw.Off),
	)
	if !s.NoHeaders {
		t.Header(l.headers)
	}
	cells := object.Mapped(l.rows, func(r row) []string { return r.cells })
	if err := t.Bulk(cells); err != nil {
		return err
	}
	return t.Render()
}

var errLines = errors.New("render: the table has another number of lines than rows")

// emit writes the laid lines without trailing blanks, with colour, overflows and the lines below.
func (l *layout) emit(w io.Writer, laid string, s Style) error {
	lines := strings.Split(strings.TrimSuffix(laid, "\n"), "\n")
	b := bufio.NewWriter(w)
	if !s.NoHeaders {
		l.emitLine(b, lines[0])
		lines = lines[1:]
	}
	for _, r := range l.rows {
		n := 1 + strings.Count(r.cells[len(r.cells)-1], "\n")
		if n > len(lines) {
			return errLines
		}
		l.emitRow(b, r, lines[:n], s)
		lines = lines[n:]
	}
	if len(lines) > 0 {
		return errLines
	}
	return b.Flush()
}

func (l *layout) emitRow(b *bufio.Writer, r row, lines []string, s Style) {
	first := strings.TrimRight(lines[0], " ")
	if r.overflow != "" {
		first += strings.Repeat(" ", max(l.overflowAt-width(first), 0)) + r.overflow
	}
	if rest, ok := strings.CutPrefix(first, r.cells[0]); ok {
		first = s.paint(r.colour, r.cells[0]) + rest
	}
	l.emitLine(b, first)
	for _, more := range lines[1:] {
		l.emitLine(b, more)
	}
	for _, more := range r.below {
		l.emitLine(b, belowIndent+more)
	}
}

func (l *layout) emitLine(b *bufio.Writer, line string) {
	b.WriteString(strings.TrimRight(l.indent+line, " ") + "\n")
}

const (
	// minProse is the width below which prose moves below its row. Longer words, such as names,
	// raise it up to maxProse.
	minProse = 24
	maxProse = 48
	// minName is the width below which the last column of names moves below.
	minName = 16
)

// layout is a table that is fitted to a width.
type layout struct {
	headers []string
	rows    []row
	indent  string
	// overflowAt is the column where overflows start.
	overflowAt int
}

// fit fits the table into the width. It prefers steps that lose nothing: wrap the prose, move it
// below its row, move further columns from the right below. Only then are cells cut in the middle.
func (t *table) fit(s Style) layout {
	l := layout{headers: t.headers, rows: t.rows, indent: strings.Repeat(" ", t.indent)}
	limit := s.limit()
	if limit <= 0 {
		return l
	}
	limit = max(limit-t.indent, minCell)
	widths := t.widths(s)
	last := len(widths) - 1
	switch start := offset(widths, last); {
	case start+widths[last] <= limit:
	case limit-start >= t.proseWidth():
		l.wrap(limit - start)
	case !l.wrapMost(widths, limit, t.proseWidth()):
		l.moveBelow(widths, limit, s)
	}
	return l
}

// proseWidth returns the width that the prose needs: no word should be broken.
func (t *table) proseWidth() int {
	least := minProse
	for i := range t.rows {
		cells := t.rows[i].cells
		for word := range strings.SplitSeq(cells[len(cells)-1], " ") {
			if len(word) > least {
				least = max(least, width(word))
			}
		}
	}
	return min(least, maxProse)
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
	if room < minName {
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
				r.overflow = name
			} else {
				r.addBelow(name, limit)
			}
			r.addBelow(l.rows[i].cells[last], limit)
		}
		rows[i] = r
	}
	l.rows, l.overflowAt = rows, start
	l.wrap(limit - start - fitting - columnGap)
	return true
}

func (r *row) addBelow(text string, limit int) {
	if text != "" {
		r.below = append(r.below, wrapText(text, max(limit-len(belowIndent), minCell), 0)...)
	}
}

// moveBelow moves the prose below the rows, and then columns from the right until the rest fits.
func (l *layout) moveBelow(widths []int, limit int, s Style) {
	keep := len(widths) - 1
	for keep > 1 && offset(widths, keep)-columnGap > limit && limit-offset(widths, keep-1) < minName {
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
