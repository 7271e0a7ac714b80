package unserve

import (
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// message says what becomes of a dependent when it is looked at.
func message(d *report.ExposedDependent) string {
	lost := names(d.References)
	switch d.Outcome {
	case report.Deleted:
		return "deleted as if " + lost + " were gone; nothing else keeps it"
	case report.Blocked:
		return "its deletion begins as if " + lost + " were gone, and cannot be taken back" + heldBy(d.BlockedBy)
	case report.Pruned:
		return "stays because of " + names(d.KeptBy) + ", and loses its reference to " + lost + " for good"
	case report.Orphaned:
		return "stays, and loses references"
	default:
		return "what would become of it rests on what was not seen"
	}
}

func heldBy(b *report.BlockedBy) string {
	switch {
	case b == nil:
		return ""
	case len(b.Finalizers) > 0:
		return "; " + strings.Join(b.Finalizers, ", ") + " holds it"
	case len(b.Dependents) > 0:
		return "; " + names(b.Dependents) + " hold it"
	default:
		return ""
	}
}

// names are the first few objects as kubectl names them.
func names(refs []report.Ref) string {
	const most = 3
	var list []string
	for _, r := range refs[:min(len(refs), most)] {
		list = append(list, r.ShortName())
	}
	if len(refs) > most {
		list = append(list, "…")
	}
	return strings.Join(list, ", ")
}
