package render

import (
	"strconv"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// explainDeadlock writes why a deletion never finishes by itself, and the cycle of waiting objects.
func explainDeadlock(w *writer, d *report.Deadlock) {
	if d == nil {
		return
	}
	s := w.style
	w.line()
	w.prose(s.paint(red, "Deadlock:")+" "+s.text(d.Message)+". Nothing ends this by itself ("+s.text(d.Reason)+").", 2)
	if len(d.Path) > 1 {
		links := make([]string, 0, len(d.Path))
		for _, r := range d.Path {
			links = append(links, s.place(r))
		}
		w.prose("What waits for what: "+strings.Join(links, " "+s.pick("→", "->")+" ")+".", 2)
	}
}

// explainEvents lists the events of an object, or why they are unknown.
func explainEvents(w *writer, e *report.Explanation) {
	s := w.style
	if e.EventsUnknown != "" {
		w.line()
		w.prose("Events could not be read: "+s.text(e.EventsUnknown)+".", 2)
	}
	if len(e.Events) == 0 {
		return
	}
	w.section("Last events")
	t := &table{headers: []string{"TYPE", "REASON", "LAST SEEN", "COUNT", "FROM", "MESSAGE"}, indent: 2}
	for _, x := range e.Events {
		colour := ""
		if x.Type == "Warning" {
			colour = yellow
		}
		t.add(colour, s.text(x.Type), s.text(x.Reason), s.text(x.Last), strconv.Itoa(x.Count), s.text(x.From), s.text(x.Message))
	}
	w.table(t)
}
