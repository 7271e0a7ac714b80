package explain

import (
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// remedies are commands that would change the verdict. They are suggestions to
// a person: nothing is run.
func (q *question) remedies(e *report.Explanation) []report.Remedy {
	switch e.Verdict {
	case report.WaitingForDependents:
		return q.releaseForeground()
	case report.HeldByFinalizer:
		return []report.Remedy{{
			Command: "kubectl get " + q.argument() + " -o jsonpath='{.metadata.managedFields}'",
			Effect:  "shows who wrote the finalizer: repair that controller, it removes the finalizer when its own clean-up is done",
		}}
	case report.Garbage:
		return q.keepGarbage(e)
	case report.Live:
		if q.target.HasFinalizer(object.Orphan) || len(e.TakenBy) > 0 || len(q.target.Owners) == 0 {
			return nil
		}
	case report.Undecidable:
		return []report.Remedy{{
			Command: "kubectl get " + missingTypes(e) + " -A -o json",
			Effect:  "adds what the snapshot lacks; give it with another --from",
		}}
	default:
	}
	return nil
}

func (q *question) releaseForeground() []report.Remedy {
	return []report.Remedy{
		{
			Command: "kubectl delete " + q.argument() + " --cascade=background",
			Effect:  "removes foregroundDeletion and lets the object go now; its dependents are collected afterwards",
		},
		{
			Command: "kubectl delete " + q.argument() + " --cascade=orphan",
			Effect:  "lets the object go and keeps its dependents",
		},
	}
}

func (q *question) keepGarbage(e *report.Explanation) []report.Remedy {
	if e.Reason == OwnerIsGarbage || len(q.target.Owners) == 0 || q.target.BeingDeleted() {
		return nil
	}
	return []report.Remedy{{
		Command: "kubectl patch " + q.argument() + ` --type=merge -p '{"metadata":{"ownerReferences":null}}'`,
		Effect:  "removes the references to absent owners, so that the object stays; any owner reference that is still right has to be written again",
	}}
}

// argument names the object for kubectl.
func (q *question) argument() string {
	name := strings.ToLower(q.target.Kind)
	if g := q.target.Group(); g != "" {
		name += "." + g
	}
	name += " " + quote(q.target.Name)
	if q.target.Namespace != "" {
		name += " -n " + quote(q.target.Namespace)
	}
	return name
}

func missingTypes(e *report.Explanation) string {
	var types []string
	for _, o := range e.Owners {
		if o.Class == report.UnknownClass && len(types) < 5 {
			t := strings.ToLower(o.Ref.Kind)
			if g := object.GroupOf(o.Ref.APIVersion); g != "" {
				t += "." + g
			}
			types = append(types, quote(t))
		}
	}
	return strings.Join(types, ",")
}

// quote makes a foreign name safe to paste into a shell.
func quote(s string) string {
	safe := strings.IndexFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.:/,", r))
	}) < 0
	if safe && s != "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
