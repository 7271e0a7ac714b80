package render

import (
	"bufio"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// manyKinds is the number of kinds that a row of risks names unless it is wide.
const manyKinds = 4

// RiskTable lists objects by what their delete would take, and what that is.
func RiskTable(out io.Writer, s Style, r *report.Risk) error {
	w := &writer{Writer: bufio.NewWriter(out), style: s}
	if len(r.Items) == 0 {
		takes := "takes"
		if !r.Complete {
			takes = "is known to take"
		}
		w.prose("No delete of one object "+takes+" another, of "+plural(r.Objects, "object")+".", 2)
	} else {
		w.table(riskTable(s, r.Items))
		w.line()
		w.prose("What a "+s.text(lower(r.Policy))+" delete of each alone takes, itself included; the first "+
			strconv.Itoa(len(r.Items))+" of "+plural(r.Objects, "object")+".", 2)
	}
	var notes []string
	if r.Untried > 0 {
		notes = append(notes, s.paint(bold, "Not tried:")+" "+plural(r.Untried, "object")+" whose delete may take more than the last of these.")
	}
	seen := r.Complete || r.Untried > 0 && len(r.Gaps) == 0
	writeNotes(w, append(notes, completeness(s, r.Source, seen, r.Gaps)...))
	return w.done()
}

func riskTable(s Style, items []report.RiskItem) *table {
	_, several := namespaces(items, func(i *report.RiskItem) report.Ref { return i.Object })
	several = several || items[0].Object.Namespace != ""
	t := &table{headers: []string{"OBJECT", "TAKES", "DATA", "WORKLOADS", "REST", "KINDS"}}
	if several {
		t.headers = slices.Insert(t.headers, 0, "NAMESPACE")
	}
	for i := range items {
		item := &items[i]
		row := []string{
			s.name(item.Object), strconv.Itoa(item.Takes.Objects), strconv.Itoa(item.Takes.Data),
			strconv.Itoa(item.Takes.Workloads), strconv.Itoa(item.Takes.Rest), s.kinds(item),
		}
		if several {
			row = slices.Insert(row, 0, s.text(item.Object.Namespace))
		}
		t.add("", row...)
	}
	return t
}

// kinds are the counts by kind, the most first, and what does not simply go.
func (s Style) kinds(item *report.RiskItem) string {
	byCount := slices.Clone(item.ByKind)
	slices.SortStableFunc(byCount, func(a, b report.KindCount) int { return b.Count - a.Count })
	shown := byCount
	if !s.Wide && len(shown) > manyKinds {
		shown = shown[:manyKinds]
	}
	var parts []string
	for _, k := range shown {
		parts = append(parts, strconv.Itoa(k.Count)+" "+s.text(report.ShortKindName(k.APIVersion, k.Kind)))
	}
	if left := len(byCount) - len(shown); left > 0 {
		parts = append(parts, plural(left, "other kind"))
	}
	if item.Later > 0 {
		parts = append(parts, strconv.Itoa(item.Later)+" of it only when finalizers come off")
	}
	if item.Blocked > 0 {
		parts = append(parts, strconv.Itoa(item.Blocked)+" blocked")
	}
	if item.Unknown > 0 {
		parts = append(parts, strconv.Itoa(item.Unknown)+" unknown")
	}
	return strings.Join(parts, ", ")
}
