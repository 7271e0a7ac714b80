package policy

import (
	"fmt"
	"iter"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// DefaultMaxDeletes is the default of Limits.MaxDeletes.
const DefaultMaxDeletes = 1000

// Limits bound one run. A plan above a limit is refused as a whole and before any write, since half
// of it would be another plan.
type Limits struct {
	// MaxDeletes is the maximum number of objects that the plan may delete.
	MaxDeletes int
}

// RefusalReason is the rule that refuses a plan.
type RefusalReason string

// The reasons for refusing a plan.
const (
	// TooManyDeletes: the plan deletes more objects than MaxDeletes.
	TooManyDeletes RefusalReason = "TooManyDeletes"
	// ProtectedObject: the plan deletes an object that is protected.
	ProtectedObject RefusalReason = "ProtectedObject"
	// UnseenObject: the plan deletes an object that was not read, so an annotation may protect it.
	UnseenObject RefusalReason = "UnseenObject"
	// UnseenContent: the plan deletes a namespace or a CRD, and some of its content was not read.
	UnseenContent RefusalReason = "UnseenContent"
)

// Refusal is the error of a plan that must not be executed.
type Refusal struct {
	Reason RefusalReason
	// Planned and Limit are set for TooManyDeletes.
	Planned, Limit int
	// Object is set for ProtectedObject and UnseenObject; Why only for the former.
	Object object.Ref
	Why    reason.Code
}

// Error names the rule and what violates it.
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

// Deletes returns the objects that the plan deletes or may delete.
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

// Check refuses a run that is above a limit; nil if it is not.
func (l Limits) Check(account []report.Consequence) *Refusal {
	if n := countDeletes(account); n > l.MaxDeletes {
		return &Refusal{Reason: TooManyDeletes, Planned: n, Limit: l.MaxDeletes}
	}
	return nil
}

// Screen returns a refusal for each object that the policy forbids to delete, in the order of
// account. find returns an object as it was read, nil if it was not.
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
