package render

import (
	"bufio"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/mattn/go-runewidth"
	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
)

const (
	// columnGap is the gap between columns in kubectl.
	columnGap = 3
	// leastCell is the width below which nothing is cut or wrapped.
	leastCell = 8
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
}

// row is one line of a table with its additions.
type row struct {
	cells []string
	// colour is the colour of the first cell.
	colour string
	// tail is written after the cells if they leave room.
	tail string
	// below are lines below the row.
	below []string
}

func (t *table) add(colour string, cells ...string) {
	t.rows = append(t.rows, row{cells: cells, colour: colour})
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
	cells := make([][]string, len(l.rows))
	for i := range l.rows {
		cells[i] = l.rows[i].cells
	}
	if err := t.Bulk(cells); err != nil {
		return err
	}
	return t.Render()
}

var errLines = errors.New("render: the table has another number of lines than rows")

// emit writes the laid lines without trailing blanks, with colour, tails and the lines below.
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
	if r.tail != "" {
		first += strings.Repeat(" ", max(l.tailAt-width(first), 0)) + r.tail
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
