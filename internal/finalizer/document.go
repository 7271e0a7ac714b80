package finalizer

import (
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// Describe returns what a plan reports about the finalizers to remove.
func Describe(names []string, objects []*object.Object, served *object.Resources) []report.PlannedFinalizer {
	list := make([]report.PlannedFinalizer, 0, len(names))
	for _, name := range names {
		k, _ := Of(name)
		f := report.PlannedFinalizer{
			Name: name, Class: string(ClassIn(name, served)), RemovedBy: k.RemovedBy, When: k.When, Without: k.Without,
		}
		for _, o := range objects {
			if has, _ := Has(o, name); has {
				f.Objects++
			}
		}
		list = append(list, f)
	}
	return list
}

// Document converts refusals for a plan.
func Document(refusals []Refusal) []report.Refusal {
	list := make([]report.Refusal, 0, len(refusals))
	for i := range refusals {
		r := &refusals[i]
		d := report.Refusal{
			Object: report.RefOf(r.Object), Finalizer: r.Finalizer, Reason: string(r.Reason), LiftedBy: Flag(r.Lift), Message: r.Why(),
		}
		for _, b := range r.Because {
			d.Because = append(d.Because, report.RefOf(b))
		}
		list = append(list, d)
	}
	return list
}
