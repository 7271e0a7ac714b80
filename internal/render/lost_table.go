package render

import (
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// everyLoss lists all losses by request.
func (w *writer) everyLoss(l *lostLook) {
	first := true
	for i := range l.Requests {
		r := &l.Requests[i]
		if len(r.ByKind) == 0 {
			continue
		}
		if !first {
			w.line()
		}
		first = false
		w.request(l, r, false)
		w.losses(l, "", l.took[r.N])
	}
	usual, others := l.unasked()
	w.losses(l, "Not explained by a request:", others)
	w.losses(l, "Routine:", usual)
}

// unasked returns the losses without a request: routine ones and others.
func (l *lostLook) unasked() (usual, others []*report.Loss) {
	for _, x := range l.took[0] {
		if x.Routine {
			usual = append(usual, x)
		} else {
			others = append(others, x)
		}
	}
	return usual, others
}

// losses writes a table of losses below a title.
func (w *writer) losses(l *lostLook, title string, list []*report.Loss) {
	if len(list) == 0 {
		return
	}
	if w.line(); title != "" {
		w.prose(title, 2)
		w.line()
	}
	w.table(lossTable(w.style, l, list))
}

// lossTable returns a table with a row for each loss.
func lossTable(s Style, l *lostLook, list []*report.Loss) *table {
	_, several := namespaces(list, func(x **report.Loss) report.Ref { return (*x).Object })
	t := &table{headers: lossRow(s, several, "NAMESPACE", "OBJECT", "DELETED", "GONE", "WHY")}
	for _, x := range list {
		gone, colour := "", red
		switch {
		case x.Gone != nil:
			gone = clockText(s, l, *x.Gone)
		case x.State == report.LossBeingDeleted:
			gone, colour = "Terminating", yellow
		default:
			gone, colour = "stays", blue
		}
		row := lossRow(s, several, s.text(x.Object.Namespace), s.name(x.Object), clockText(s, l, x.Began), gone, lossWhy(s, x))
		t.add(colour, row...)
	}
	return t
}

// lossRow leaves out columns that are not needed.
func lossRow(s Style, several bool, namespace, name, began, gone, why string) []string {
	var row []string
	if several {
		row = append(row, namespace)
	}
	row = append(row, name)
	if s.Wide {
		row = append(row, began)
	}
	return append(row, gone, why)
}
