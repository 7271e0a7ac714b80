package policy

import (
	"fmt"
	"iter"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// DefaultMaxDeletes is how many objects one run may delete unless it is told
// otherwise.
const DefaultMaxDeletes = 1000

// Limits bound what one run may do. A plan that is above a limit is refused as a
// whole and before any write: to do half of it would be another plan.
type Limits struct {
	// MaxDeletes is the number of objects that the plan may delete.
	MaxDeletes int
}

// RefusalReason says which rule refuses a plan.
type RefusalReason string

// The reasons for which a plan is refused.
const (
	// TooManyDeletes: the plan deletes more objects than MaxDeletes.
	TooManyDeletes RefusalReason = "TooManyDeletes"
	// ProtectedObject: the plan deletes an object that is protected.
	ProtectedObject RefusalReason = "ProtectedObject"
	// UnseenObject: the plan deletes an object of which nobody can say whether an
	// annotation protects it.
	UnseenObject RefusalReason = "UnseenObject"
	// UnseenContent: the plan deletes a namespace or a CRD, and some of what goes with it
	// was not seen.
	UnseenContent RefusalReason = "UnseenContent"
)

// Refusal says why a plan must not be carried out. It is an error.
type Refusal struct {
	Reason RefusalReason
	// Planned and Limit are set for TooManyDeletes.
	Planned, Limit int
	// Object is set for ProtectedObject and UnseenObject; Why only for the former.
	Object object.Ref
	Why    reason.Code
}

// Error names the rule and what broke it.
func (r *Refusal) Error() string {
	switch r.Reason {
	case TooManyDeletes:
		return fmt.Sprintf("the plan deletes %d objects, at most %d are allowed", r.Planned, r.Limit)
	case ProtectedObject:
		return fmt.Sprintf("the plan deletes %s, which is protected: %s", r.Object, r.Why)
	default:
		return fmt.Sprintf("the plan deletes %s, and whether an annotation protects it is unknown", r.Object)
	}
}

// Deletes is what of an account goes, or may go.
func Deletes(account []report.Consequence) iter.Seq[report.Ref] {
	return func(yield func(report.Ref) bool) {
		for i := range account {
			if c := &account[i]; c.Change == report.ChangeDeleted {
				if !yield(c.Object) {
					return
				}
			}
		}
	}
}

func countDeletes(account []report.Consequence) (n int) {
	for i := range account {
		if account[i].Change == report.ChangeDeleted {
			n++
		}
	}
	return n
}

// Check refuses a run that is above a limit; nil when it is not.
func (l Limits) Check(account []report.Consequence) *Refusal {
	if n := countDeletes(account); n > l.MaxDeletes {
		return &Refusal{Reason: TooManyDeletes, Planned: n, Limit: l.MaxDeletes}
	}
	return nil
}

// Screen lists everything in the account that the policy forbids to delete, in its
// order. Find returns an object as it was seen, nil for one that was not.
func (p Policy) Screen(account []report.Consequence, find func(object.Ref) *object.Object) []Refusal {
	var list []Refusal
	for deleted := range Deletes(account) {
		ref := object.Ref(deleted)
		seen := find(ref)
		if seen == nil {
			seen = &object.Object{Ref: ref}
			if _, protected := p.Check(seen); !protected {
				list = append(list, Refusal{Reason: UnseenObject, Object: ref})
				continue
			}
		}
		if why, protected := p.Check(seen); protected {
			list = append(list, Refusal{Reason: ProtectedObject, Object: ref, Why: why})
		}
	}
	return list
}
