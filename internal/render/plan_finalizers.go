package render

import (
	"slices"
	"strconv"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// finalizers writes the finalizers to remove, what is lost with them, and the refusals.
func (w *writer) finalizers(p *report.Plan) {
	shown := slices.DeleteFunc(slices.Clone(p.Finalizers), func(f report.PlannedFinalizer) bool {
		return f.Objects == 0 // no object has it, which is why the plan is refused
	})
	if len(shown) > 0 {
		w.line()
	}
	all := len(shown)
	if !w.style.Wide {
		shown = shown[:min(all, manyFinalizers)]
	}
	for _, f := range shown {
		w.prose(w.style.text(f.Name)+" ("+w.style.text(lower(f.Class))+", on "+plural(f.Objects, "object")+"): "+keeper(w.style, f)+".", 2)
	}
	if left := all - len(shown); left > 0 {
		w.prose("and "+plural(left, "more finalizer")+": -o wide", 2)
	}
	if len(p.Refusals) == 0 || !w.style.Wide { // the error message contains them
		return
	}
	w.line()
	w.prose(w.style.paint(bold, "Refused")+", so that nothing would be written:", 2)
	w.line()
	w.table(refusalTable(w.style, p.Refusals))
}

// keeper names the controller of a finalizer, and what is lost without its work.
func keeper(s Style, f report.PlannedFinalizer) string {
	switch {
	case f.RemovedBy != "":
		return s.text(f.RemovedBy) + " would remove it, " + s.text(f.When) + ". Without it: " + s.text(f.Without)
	case f.Class == "Operator":
		return "the controller of a kind that this cluster serves would remove it after its own clean-up, which is unknown to this tool"
	default:
		return "unknown which controller removes it, and why it was added"
	}
}

// manyRefusals is the number of refusals in a narrow table.
const manyRefusals = 3

func refusalTable(s Style, list []report.Refusal) *table {
	_, several := namespaces(list, func(r *report.Refusal) report.Ref { return r.Object })
	t := &table{headers: []string{"OBJECT", "FINALIZER", "WHY", "LIFTED BY"}}
	if several {
		t.headers = append([]string{"NAMESPACE"}, t.headers...)
	}
	shown := list
	if !s.Wide {
		shown = list[:min(len(list), manyRefusals)]
	}
	for _, r := range shown {
		lift := "nothing"
		if r.LiftedBy != "" {
			lift = s.text(r.LiftedBy)
		}
		row := []string{s.name(r.Object), s.text(r.Finalizer), s.text(r.Message), lift}
		if several {
			row = append([]string{s.text(r.Object.Namespace)}, row...)
		}
		t.add(outcomeColour(report.Blocked), row...)
	}
	if left := len(list) - len(shown); left > 0 {
		row := make([]string, len(t.headers))
		row[0] = "and " + strconv.Itoa(left) + " more"
		t.add("", row...)
	}
	return t
}
