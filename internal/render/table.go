package render

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/mattn/go-runewidth"
	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
)

const (
	// columnGap is what kubectl puts between columns.
	columnGap = 3
	// leastCell is the width below which nothing is cut or wrapped.
	leastCell = 8
	// belowIndent is put before what stands below a row.
	belowIndent = "    "
)

// measure counts columns of a terminal. It does not follow the locale, so that
// output does not depend on it.
var measure = &runewidth.Condition{StrictEmojiNeutral: true}

// width is the number of columns that s takes. Colour takes none; text that is
// not ours has no escape sequences any more when it gets here.
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

// table is columns and rows in kubectl's look. Cells are escaped text without
// line breaks; the last column is prose.
type table struct {
	headers []string
	rows    []row
	// indent moves the whole table to the right.
	indent int
}

// row is one line of a table, and what belongs to it.
type row struct {
	cells []string
	// colour is that of the first cell.
	colour string
	// tail stands behind the cells where they leave room.
	tail string
	// below are lines that stand below.
	below []string
}

func (t *table) add(colour string, cells ...string) {
	t.rows = append(t.rows, row{cells: cells, colour: colour})
}

// write lays the table out. A table without rows is nothing at all.
func (t *table) write(w io.Writer, s Style) error {
	if len(t.rows) == 0 {
		return nil
	}
	l := t.fit(s)
	var laid bytes.Buffer
	if err := l.lay(&laid, s); err != nil {
		return err
	}
	return l.emit(w, laid.Bytes(), s)
}

// lay lets tablewriter set the columns. Colour is added later: tablewriter
// leaves stray resets behind coloured cells.
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
		// Without this, ambiguous characters are as wide as the locale says.
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

// emit writes the laid lines without trailing blanks, coloured, and with what
// goes behind and below them.
func (l *layout) emit(w io.Writer, laid []byte, s Style) error {
	b := bufio.NewWriter(w)
	i := 0
	if !s.NoHeaders {
		i = -1
	}
	for line := range bytes.Lines(laid) {
		text := string(bytes.TrimRight(line, " \n"))
		if i >= len(l.rows) {
			return errLines
		}
		if i < 0 {
			b.WriteString(l.indent + text + "\n")
		} else {
			l.emitRow(b, &l.rows[i], text, s)
		}
		i++
	}
	if i != len(l.rows) {
		return errLines
	}
	return b.Flush()
}

func (l *layout) emitRow(b *bufio.Writer, r *row, text string, s Style) {
	if r.tail != "" {
		text += strings.Repeat(" ", max(l.tailAt-width(text), 0)) + r.tail
	}
	if first := r.cells[0]; strings.HasPrefix(text, first) {
		text = s.paint(r.colour, first) + text[len(first):]
	}
	b.WriteString(strings.TrimRight(l.indent+text, " "))
	b.WriteByte('\n')
	for _, more := range r.below {
		b.WriteString(strings.TrimRight(l.indent+belowIndent+more, " "))
		b.WriteByte('\n')
	}
}
