package explain

import (
	"context"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// remedies are commands that would change the verdict. They are suggestions to
// a person: nothing is run. What a delete would do is simulated first.
func (q *question) remedies(ctx context.Context, e *report.Explanation) ([]report.Remedy, error) {
	switch e.Verdict {
	case report.WaitingForDependents:
		return q.releaseForeground(ctx, e)
	case report.HeldByFinalizer:
		switch plan.Reason(e.Reason) {
		case plan.InUse:
			return q.lookAtUsers(), nil
		case plan.ProtectionUnknown:
			return nil, nil
		default:
			return q.repairFinalizers(), nil
		}
	case report.BeingDeleted:
		why := []plan.Reason{plan.DeletionMissed, plan.CollectorNotWorking, plan.OrphaningFails}
		if heldByCollector(q.target) && slices.Contains(why, plan.Reason(e.Reason)) {
			return q.redelete(ctx, e)
		}
	case report.Garbage:
		return q.keepGarbage(e), nil
	case report.Undecidable:
		if types := missingTypes(e); types != "" {
			return []report.Remedy{{
				Command: "kubectl get " + types + " -A -o json",
				Effect:  "shows what the snapshot lacks; give it with another --from",
			}}, nil
		}
	default:
	}
	return nil, nil
}

// releaseForeground is about an object that waits for its dependents: a second delete
// under another policy ends the waiting, but not what finalizers of others hold.
func (q *question) releaseForeground(ctx context.Context, e *report.Explanation) ([]report.Remedy, error) {
	var remedies []report.Remedy
	for _, d := range e.Dependents {
		if d.Blocking && d.State == "BeingDeleted" && len(remedies) < 3 {
			remedies = append(remedies, report.Remedy{
				Command: AgainCommand(d.Ref),
				Effect:  "says what holds the dependent that is waited for",
			})
		}
	}
	again, err := q.redelete(ctx, e)
	if err != nil {
		return nil, err
	}
	remedies = append(remedies, again...)
	if len(q.foreignFinalizers()) > 0 {
		remedies = append(remedies, q.repairFinalizers()...)
	}
	return remedies, nil
}

// lookAtUsers leads to those that use the object.
func (q *question) lookAtUsers() []report.Remedy {
	var remedies []report.Remedy
	for _, r := range q.users[:min(3, len(q.users))] {
		remedies = append(remedies, report.Remedy{
			Command: AgainCommand(r),
			Effect:  "says what would take it: the finalizer comes off when it has gone",
		})
	}
	return remedies
}

// WritersCommand shows who wrote the finalizers of an object.
func WritersCommand(r report.Ref) string {
	return "kubectl get " + Argument(r) + " -o jsonpath='{.metadata.managedFields}'"
}

// AgainCommand explains another object.
func AgainCommand(r report.Ref) string { return "kubectl gc explain " + Argument(r) }

// repairFinalizers leads to whoever has to remove the finalizers.
func (q *question) repairFinalizers() []report.Remedy {
	return []report.Remedy{{
		Command: WritersCommand(report.RefOf(q.target.Ref)),
		Effect: "shows who wrote " + strings.Join(q.foreignFinalizers(), ", ") +
			": repair that controller, it removes the finalizer when its own clean-up is done",
	}}
}

func (q *question) keepGarbage(e *report.Explanation) []report.Remedy {
	if e.Reason == OwnerIsGarbage || len(q.target.Owners) == 0 || q.target.BeingDeleted() {
		return nil
	}
	return []report.Remedy{{
		Command: "kubectl patch " + Argument(e.Object) + ` --type=merge -p '{"metadata":{"ownerReferences":null}}'`,
		Effect:  "removes the references to absent owners, so that the object stays; any owner reference that is still right has to be written again",
	}}
}

// Argument names an object for kubectl, safe to paste into a shell.
func Argument(r report.Ref) string {
	name := report.ShellWord(report.KubectlKind(r.APIVersion, r.Kind)) + " " + report.ShellWord(r.Name)
	if r.Namespace != "" {
		name += " -n " + report.ShellWord(r.Namespace)
	}
	return name
}

// missingTypes are the kinds of the owners of which nothing is known.
func missingTypes(e *report.Explanation) string {
	const most = 5
	var kinds []string
	for _, o := range e.Owners {
		kind := report.ShellWord(report.KubectlKind(o.Ref.APIVersion, o.Ref.Kind))
		if o.Class == report.UnknownClass && len(kinds) < most && !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	return strings.Join(kinds, ",")
}
