package explain

import (
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// finalizers returns the finalizers of an object, with the controller that removes each.
func finalizers(o *object.Object) []report.FinalizerFinding {
	findings := make([]report.FinalizerFinding, 0, len(o.Finalizers()))
	for _, name := range o.Finalizers() {
		f := report.FinalizerFinding{Name: name, RemovedBy: "the controller that put it there", State: "Idle"}
		if o.BeingDeleted() {
			f.State = "Waiting"
		}
		if by, when := plan.RemovedBy(name); by != "" {
			f.RemovedBy, f.Evidence = by, "removed "+when
		}
		findings = append(findings, f)
	}
	return findings
}
