package render

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// treeRows are the lines of a tree before layout.
type treeRows []treeRow

// treeRow is one line of a tree.
type treeRow struct {
	// lead are the branches before the name, under those before its continuation lines.
	lead, under string
	name        string
	// nameLen is the length of the object's name in name; the rest is its location.
	nameLen int

	ready, status, age, uid string
	// problem reports a problem of the object. loose marks a line without an object, which has no
	// columns.
	problem, loose bool
}

// emptyCell is the text of an empty cell.
const emptyCell = "-"

// write writes the rows with all columns that are not empty. If the columns don't fit, their values
// follow the name.
func (t treeRows) write(w *writer) {
	names, columns := t.columns()
	total := names
	for _, c := range columns {
		total += columnGap + c.width
	}
	limit := w.style.limit()
	if len(columns) == 0 || limit > 0 && total > limit {
		for i := range t {
			t[i].writeNarrow(w, limit)
		}
		return
	}
	gap := strings.Repeat(" ", columnGap)
	if !w.style.NoHeaders {
		cells := []string{padded("NAME", names)}
		for _, c := range columns {
			cells = append(cells, padded(c.header, c.width))
		}
		w.line(strings.Join(cells, gap))
	}
	for i := range t {
		r := &t[i]
		if r.loose {
			r.writeNarrow(w, limit)
			continue
		}
		cells := []string{padded(r.lead+r.painted(w.style), names)}
		for _, c := range columns {
			cells = append(cells, padded(*c.cell(r), c.width))
		}
		w.line(strings.Join(cells, gap))
	}
}

// treeColumn is a column next to the names.
type treeColumn struct {
	header string
	cell   func(*treeRow) *string
	width  int
}

// columns returns the columns that are not empty, and the width of the names.
func (t treeRows) columns() (names int, columns []treeColumn) {
	names = len("NAME")
	all := [...]treeColumn{
		{header: "READY", cell: func(r *treeRow) *string { return &r.ready }},
		{header: "STATUS", cell: func(r *treeRow) *string { return &r.status }},
		{header: "AGE", cell: func(r *treeRow) *string { return &r.age }},
		{header: "UID", cell: func(r *treeRow) *string { return &r.uid }},
	}
	for i := range t {
		if t[i].loose {
			continue
		}
		names = max(names, width(t[i].lead)+width(t[i].name))
		for n := range all {
			if text := *all[n].cell(&t[i]); text != emptyCell {
				all[n].width = max(all[n].width, width(text))
			}
		}
	}
	for _, c := range all {
		if c.width > 0 {
			c.width = max(c.width, len(c.header))
			columns = append(columns, c)
		}
	}
	return names, columns
}

func padded(text string, to int) string { return text + strings.Repeat(" ", max(to-width(text), 0)) }

// painted returns the name, coloured if the object has a problem.
func (r *treeRow) painted(s Style) string {
	if !r.problem {
		return r.name
	}
	return s.paint(yellow, r.name[:r.nameLen]) + r.name[r.nameLen:]
}

// writeNarrow writes the row with its values after the name. The rest is wrapped to lines that
// continue the branches.
func (r *treeRow) writeNarrow(w *writer, limit int) {
	known := object.Filtered([]string{r.ready, r.status, r.age, r.uid}, func(text string) bool {
		return text != "" && text != emptyCell
	})
	text := ""
	if len(known) > 0 {
		text = " (" + strings.Join(known, ", ") + ")"
	}
	room := limit
	if room > 0 {
		room = max(room-width(r.lead), minCell)
	}
	if room <= 0 || width(r.name)+width(text) <= room {
		w.line(r.lead, r.painted(w.style), text)
		return
	}
	lead := r.lead
	for _, line := range wrapText(r.name+text, room, width(r.under)-width(lead)) {
		w.line(lead, line)
		lead = r.under
	}
}

// secondsOf parses a time to seconds since 1970; 0 without one.
func secondsOf(text string) int64 {
	var t metav1.Time
	if err := t.UnmarshalQueryParameter(text); err != nil || t.IsZero() {
		return 0
	}
	return t.Unix()
}
