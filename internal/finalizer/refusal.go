package finalizer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// Allow is what a user has unlocked. The zero value unlocks nothing.
type Allow struct{ Collector, Protection, Cleanup, Namespace, Leak bool }

// What unlocks a finalizer.
const (
	// unlockCollector: those of the garbage collector itself.
	unlockCollector = "gc"
	// unlockProtection: what protects an object that is in use, or may be.
	unlockProtection = "in-use"
	// unlockCleanup: the clean-up of a CRD that has instances, or may have.
	unlockCleanup = "instances"
	// unlockNamespace: the spec of a namespace that has content, or may have.
	unlockNamespace = "content"
	// unlockLeak: the last pointer to something outside of the cluster.
	unlockLeak = "leak"
)

// Unlocks lists them.
func Unlocks() []string {
	return []string{unlockCollector, unlockProtection, unlockCleanup, unlockNamespace, unlockLeak}
}

// Unlock lifts one of them, and reports whether there is one of that name.
func (a *Allow) Unlock(name string) bool {
	lifts := map[string]*bool{
		unlockCollector: &a.Collector, unlockProtection: &a.Protection, unlockCleanup: &a.Cleanup,
		unlockNamespace: &a.Namespace, unlockLeak: &a.Leak,
	}
	is, known := lifts[name]
	if known {
		*is = true
	}
	return known
}

// Refusal is a finalizer that must not be taken off an object. It is an error.
type Refusal struct {
	Object    object.Ref
	Finalizer string
	Reason    reason.Code
	// Because are the objects that stand against it: the first few.
	Because []object.Ref
	// Detail says more, as what could not be listed.
	Detail string
	// Lift is the value of --unlock that lifts the refusal; empty when none does.
	Lift string
}

// Error says what is refused, why, and what would lift it.
func (r *Refusal) Error() string {
	text := fmt.Sprintf("%s: finalizer %s: %s", r.Object, r.Finalizer, r.Why())
	if r.Lift != "" {
		text += " (" + Flag(r.Lift) + " removes it anyway)"
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

// Flag is the flag with which something is unlocked; empty for nothing.
func Flag(names ...string) string {
	names = slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(names))), func(name string) bool { return name == "" })
	if len(names) == 0 {
		return ""
	}
	return "--unlock=" + strings.Join(names, ",")
}
