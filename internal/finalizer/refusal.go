package finalizer

import (
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// Allow is what a user has lifted. The zero value lifts nothing.
type Allow struct {
	// Collector is --force-gc, Protection --force-protection, Cleanup
	// --force-cleanup, Namespace --force-namespace, Leak --accept-leak.
	Collector, Protection, Cleanup, Namespace, Leak bool
}

// The flags that lift refusals.
const (
	ForceCollector  = "--force-gc"
	ForceProtection = "--force-protection"
	ForceCleanup    = "--force-cleanup"
	ForceNamespace  = "--force-namespace"
	AcceptLeak      = "--accept-leak"
)

// Refusal is a finalizer that must not be taken off an object. It is an error.
type Refusal struct {
	Object    object.Ref
	Finalizer string
	Reason    reason.Code
	// Because are the objects that stand against it: the first few.
	Because []object.Ref
	// Detail says more, as what could not be listed.
	Detail string
	// Lift is the flag that lifts the refusal; empty when none does.
	Lift string
}

// Error says what is refused, why, and what would lift it.
func (r *Refusal) Error() string {
	text := fmt.Sprintf("%s: finalizer %s: %s", r.Object, r.Finalizer, r.Why())
	if r.Lift != "" {
		text += " (" + r.Lift + " takes it off all the same)"
	}
	return text
}

// Why is the reason as part of a sentence.
func (r *Refusal) Why() string {
	text := reason.Refusal.Short(r.Reason)
	if len(r.Because) > 0 {
		names := make([]string, len(r.Because))
		for i, b := range r.Because {
			names[i] = report.RefOf(b).ShortName()
			if b.Namespace != "" && b.Namespace != r.Object.Namespace {
				names[i] += " in " + b.Namespace
			}
		}
		text += ": " + strings.Join(names, ", ")
	}
	if r.Detail != "" {
		text += ": " + r.Detail
	}
	return text
}
