package render

import (
	"bufio"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// maxRunRows is the number of rows of each table on the first screen of a run.
const maxRunRows = 6

// RunText prints the result of a run: confirmed writes, pending objects, and differences from the
// prediction.
func RunText(out io.Writer, s Style, r *report.Run) error {
	w := &writer{Writer: bufio.NewWriter(out), style: s}
	w.prose(runHeadline(s, r), 2)
	if r.Message != "" {
		w.prose(s.text(r.Message), 2)
	}
	writes := &table{headers: []string{"STATE", "REQUEST", "NAMESPACE", "OBJECT", "WHY"}}
	for _, x := range r.Writes {
		if x.State != report.Confirmed {
			writes.add(yellow, s.text(string(x.State)), s.text(x.Verb), s.text(x.Object.Namespace), s.name(x.Object), s.text(x.Message))
		}
	}
	w.titled("", writes.first(maxRunRows, s))
	surprises := &table{headers: []string{"REQUEST", "NAMESPACE", "OBJECT", "WHY"}}
	for _, x := range r.Surprises {
		surprises.add(red, s.text(x.Verb), s.text(x.Object.Namespace), s.name(x.Object), s.text(x.Message))
	}
	w.titled("Not in the plan, so not sent:", surprises.first(maxRunRows, s))
	pending := &table{headers: []string{"NAMESPACE", "OBJECT", "HELD BY"}}
	for _, x := range r.Pending {
		pending.add("", s.text(x.Object.Namespace), s.name(x.Object), pendingReason(s, x))
	}
	title := "Being deleted, but not gone yet:"
	if slices.ContainsFunc(r.Pending, func(p report.Pending) bool { return p.NotBegun }) {
		title = "Not gone yet:"
	}
	w.titled(title, pending.first(maxRunRows, s))
	w.drift(r)
	if r.Bundle != "" {
		w.line()
		w.prose("Backup and journal: "+s.text(r.Bundle), 2)
	}
	return w.done()
}

func runHeadline(s Style, r *report.Run) string {
	var parts []string
	for _, state := range report.WriteStates() {
		if n := *r.Summary.Of(state); n > 0 {
			parts = append(parts, strconv.Itoa(n)+" "+writeWords[state])
		}
	}
	if len(parts) == 0 {
		parts = []string{"nothing to write"}
	}
	return requestText(s, r.Seed) + ": " + s.paint(stateColour(r.State), stateWords[r.State]) + "; " + strings.Join(parts, ", ")
}

var stateWords = map[report.RunState]string{
	report.Complete: "done", report.Partial: "partly done", report.NothingWritten: "nothing was written",
	report.Interrupted: "interrupted", report.TimedOut: "timed out", report.NotCollected: "not collected",
	report.NotAwaited: "accepted", report.Unseen: "sent, outcome unknown",
}

var writeWords = map[report.WriteState]string{
	report.Confirmed: "confirmed", report.AlreadyDone: "already done", report.Contended: "contended",
	report.Refused: "refused", report.UnknownWrite: "unknown", report.NotDone: "not done",
}

func stateColour(state report.RunState) string {
	switch state {
	case report.Complete, report.NotAwaited:
		return green
	case report.NothingWritten, report.Interrupted:
		return yellow
	default:
		return red
	}
}

// drift writes the differences from the prediction.
func (w *writer) drift(r *report.Run) {
	if r.Summary.Compared == 0 {
		return
	}
	s := w.style
	w.line()
	if len(r.Differences) == 0 {
		text := report.Plural(r.Summary.Compared, "object") + " checked afterwards: "
		if len(r.Pending) > 0 || r.State == report.TimedOut {
			text += "so far "
		}
		w.prose(text+"all as predicted, "+strconv.Itoa(r.Summary.Gone)+" of them gone.", 2)
		return
	}
	w.prose("Not as predicted: "+strconv.Itoa(len(r.Differences))+" of "+report.Plural(r.Summary.Compared, "object")+".", 2)
	w.line()
	t := &table{headers: []string{"DRIFT", "NAMESPACE", "OBJECT", "PREDICTED", "REALITY"}}
	for _, d := range r.Differences {
		t.add(red, s.text(string(d.Reason)), s.text(d.Object.Namespace), s.name(d.Object), s.text(string(d.Predicted)), s.text(d.Message))
	}
	w.table(t.first(maxRunRows, s))
}

// pendingReason returns what blocks an object that is being deleted.
func pendingReason(s Style, p report.Pending) string {
	if p.NotBegun {
		return "its deletion has not begun"
	}
	var parts []string
	if len(p.Finalizers) > 0 {
		parts = append(parts, strings.TrimPrefix(report.Plural(len(p.Finalizers), "finalizer"), "1 ")+" "+s.commaSeparated(p.Finalizers))
	}
	if len(p.Dependents) > 0 {
		parts = append(parts, s.firstRefs(p.Dependents, 3))
	}
	if len(parts) == 0 {
		return "unknown: its deletion may be in progress"
	}
	return strings.Join(parts, "; ")
}

// RunProgress returns one line about the progress of a run: what is gone, and what the rest waits
// for. It is cut to the width instead of wrapped.
func RunProgress(s Style, stage string, done, total int, waiting []report.Pending) string {
	text := progressText(s, stage, done, total, waiting)
	if limit := s.limit(); limit > 0 && width(text) > limit {
		return cutMiddle(text, limit, s)
	}
	return text
}

func progressText(s Style, stage string, done, total int, waiting []report.Pending) string {
	text := strconv.Itoa(done) + " of " + strconv.Itoa(total) + " " + stage
	const most = 2
	for i, p := range waiting {
		if i == most {
			return text + "; and " + strconv.Itoa(len(waiting)-most) + " more wait"
		}
		text += "; " + s.name(p.Object) + " waits"
		if len(p.Finalizers)+len(p.Dependents) > 0 {
			text += " (" + pendingReason(s, p) + ")"
		}
	}
	return text
}
