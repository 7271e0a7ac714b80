package render

import (
	"bufio"
	"cmp"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// maxRowKinds is the number of kinds that a row names unless it is wide.
const maxRowKinds = 4

const (
	// maxScreenKinds is the number of kinds that a row on a screen names.
	maxScreenKinds = 3
	// kindsShare is the divisor of the width that is reserved for kinds next to long names.
	kindsShare = 5
)

// RiskTable lists objects by the effect of their delete.
func RiskTable(out io.Writer, s Style, r *report.Risk) error {
	s = s.forScreen()
	w := &writer{Writer: bufio.NewWriter(out), style: s}
	w.prose(riskHeadline(s, r), 2)
	if len(r.Items) > 0 {
		w.line()
		if s.Wide {
			w.table(riskTable(s, r.Items))
		} else {
			w.table(riskScreen(s, r.Items))
		}
		w.line()
		w.prose(riskScope(s, r), 2)
	}
	var notes []string
	if r.Untried > 0 {
		notes = append(notes, s.paint(bold, "Not tried:")+" "+report.Plural(r.Untried, "object")+" whose delete may take more than the last of these.")
	}
	seen := r.Complete || r.Untried > 0 && len(r.Gaps) == 0
	if text := unknownOutcomes(s, r); !seen && text != "" && !slices.ContainsFunc(r.Gaps, func(g report.Gap) bool { return g.Matters }) {
		notes, seen = append(notes, s.paint(bold, "Incomplete:")+" "+text), true
	}
	writeNotes(w, append(notes, missingInput{source: r.Source, complete: seen, gaps: r.Gaps, ifIncomplete: "Each may take more:"}.notes(s)...))
	return w.done()
}

// unknownOutcomes names the first delete with unknown outcomes, and counts those of other objects; empty if there is none.
func unknownOutcomes(s Style, r *report.Risk) string {
	var text string
	if i := slices.IndexFunc(r.Items, func(x report.RiskItem) bool { return x.Unknown > 0 }); i >= 0 {
		x := &r.Items[i]
		text = "unknown what becomes of " + report.Plural(x.Unknown, "object") + " after a delete of " + s.namespacedName(x.Object) + "; its dry run says why."
	}
	switch others := report.Plural(r.OthersUnknown, "other object"); {
	case r.OthersUnknown == 0:
		return text
	case text == "":
		return "unknown what a delete of " + others + " takes."
	default:
		return text + " It is unknown what a delete of " + others + " takes, too."
	}
}

func riskHeadline(s Style, r *report.Risk) string {
	if len(r.Items) == 0 {
		takes := "takes"
		if !r.Complete {
			takes = "is known to take"
		}
		return "No delete of one object " + takes + " another, of " + report.Plural(r.Objects, "object") + "."
	}
	worst := &r.Items[0]
	return s.namespacedName(worst.Object) + " costs the most to delete: " + report.Plural(worst.Takes.Objects-countEvents(worst), "object") +
		" (" + strconv.Itoa(worst.Takes.Data) + " data, " + report.Plural(worst.Takes.Workloads, "workload") + ")."
}

// riskScope explains the numbers, and counts what a screen leaves out.
func riskScope(s Style, r *report.Risk) string {
	text := "Each row is a " + s.text(lower(r.Policy)) + " delete of that object alone, itself included, of " + report.Plural(r.Objects, "object") + "."
	if s.Wide {
		return text
	}
	unknown, later := 0, 0
	for i := range r.Items {
		if r.Items[i].Unknown > 0 {
			unknown++
		}
		if r.Items[i].Later > 0 || r.Items[i].Blocked > 0 {
			later++
		}
	}
	var open []string
	if unknown > 0 {
		open = append(open, strconv.Itoa(unknown)+" may take more")
	}
	if later > 0 {
		open = append(open, strconv.Itoa(later)+" only after finalizers are removed")
	}
	if len(open) > 0 {
		text += " " + strings.Join(open, ", ") + ": -o wide"
	}
	return text
}

// riskScreen returns the table for a screen: kinds without room are left out, and long names are
// cut in the middle.
func riskScreen(s Style, items []report.RiskItem) *table {
	t := &table{headers: []string{"OBJECT", "TAKES", "DATA", "WORKLOADS", "MOST OF IT"}}
	for i := range items {
		item := &items[i]
		t.add("", s.namespacedName(item.Object), strconv.Itoa(item.Takes.Objects-countEvents(item)), strconv.Itoa(item.Takes.Data), strconv.Itoa(item.Takes.Workloads), "")
	}
	widths := t.widths(s)
	numbers := offset(widths, 4) - offset(widths, 1)
	name := min(widths[0], s.limit()-numbers-columnGap-s.limit()/kindsShare)
	if name < minCell {
		name = widths[0]
	}
	for i := range items {
		cells := t.rows[i].cells
		cells[0] = cutMiddle(cells[0], name, s)
		cells[4] = largestKinds(s, items[i].ByKind, s.limit()-numbers-columnGap-name)
	}
	return t
}

// largestKinds returns as many kinds as fit, generated ones last.
func largestKinds(s Style, counts []report.KindCount, room int) string {
	sorted := slices.DeleteFunc(slices.Clone(counts), func(k report.KindCount) bool {
		return object.Ref{APIVersion: k.APIVersion, Kind: k.Kind}.IsEvent()
	})
	slices.SortStableFunc(sorted, func(a, b report.KindCount) int {
		return cmp.Or(object.TrueFirst(!isGenerated(a), !isGenerated(b)), b.Count-a.Count)
	})
	for n := maxScreenKinds; n > 0; n-- {
		if text := s.countKinds(sorted[:min(n, len(sorted))], n); width(text) <= room {
			return text
		}
	}
	return ""
}

// countEvents returns the number of Events that a delete takes with it. They do not count.
func countEvents(item *report.RiskItem) int {
	n := 0
	for _, k := range item.ByKind {
		if (object.Ref{APIVersion: k.APIVersion, Kind: k.Kind}).IsEvent() {
			n += k.Count
		}
	}
	return n
}

func isGenerated(k report.KindCount) bool {
	r := object.Ref{APIVersion: k.APIVersion, Kind: k.Kind}
	return r.IsEvent() || r.Generated()
}

func riskTable(s Style, items []report.RiskItem) *table {
	t := &table{headers: []string{"NAMESPACE", "OBJECT", "TAKES", "DATA", "WORKLOADS", "REST", "KINDS"}}
	for i := range items {
		item := &items[i]
		t.add("",
			s.text(item.Object.Namespace), s.name(item.Object), strconv.Itoa(item.Takes.Objects), strconv.Itoa(item.Takes.Data),
			strconv.Itoa(item.Takes.Workloads), strconv.Itoa(item.Takes.Rest), s.kindsText(item))
	}
	_, several := namespaces(items, func(i *report.RiskItem) object.Ref { return i.Object })
	t.dropUnless(several || items[0].Object.Namespace != "", "NAMESPACE")
	return t
}

// kindsText returns the counts by kind, the largest first, and how many are delayed, blocked or
// unknown.
func (s Style) kindsText(item *report.RiskItem) string {
	byCount := slices.Clone(item.ByKind)
	slices.SortStableFunc(byCount, func(a, b report.KindCount) int { return b.Count - a.Count })
	shown := byCount
	if !s.Wide && len(shown) > maxRowKinds {
		shown = shown[:maxRowKinds]
	}
	var parts []string
	for _, k := range shown {
		parts = append(parts, strconv.Itoa(k.Count)+" "+s.text(object.ShortKindName(k.APIVersion, k.Kind)))
	}
	if left := len(byCount) - len(shown); left > 0 {
		parts = append(parts, report.Plural(left, "other kind"))
	}
	if item.Later > 0 {
		parts = append(parts, strconv.Itoa(item.Later)+" of these only after finalizers are removed")
	}
	if item.Blocked > 0 {
		parts = append(parts, strconv.Itoa(item.Blocked)+" blocked")
	}
	if item.Unknown > 0 {
		parts = append(parts, strconv.Itoa(item.Unknown)+" unknown")
	}
	return strings.Join(parts, ", ")
}
