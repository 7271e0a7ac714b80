package finalizer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// Allow is the set of refusals that a user has lifted. The zero value lifts none.
type Allow struct{ Collector, Protection, Cleanup, Namespace, Leak bool }

// The names that lift refusals.
const (
	// unlockCollector: finalizers of the garbage collector.
	unlockCollector = "gc"
	// unlockProtection: protection of an object that is or may be in use.
	unlockProtection = "in-use"
	// unlockCleanup: the clean-up of a CRD that has or may have instances.
	unlockCleanup = "instances"
	// unlockNamespace: the spec of a namespace that has or may have content.
	unlockNamespace = "content"
	// unlockLeak: the last reference to something outside of the cluster.
	unlockLeak = "leak"
)

// Unlocks returns the names that lift refusals.
func Unlocks() []string {
	return []string{unlockCollector, unlockProtection, unlockCleanup, unlockNamespace, unlockLeak}
}

// Unlock lifts the refusals of a name, and returns false if there is no such name.
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

// Refusal reports that a finalizer must not be removed from an object. It is an error.
type Refusal struct {
	Object    object.Ref
	Finalizer string
	Reason    reason.Code
	// Because are the first few objects that prevent the removal.
	Because []object.Ref
	// Detail adds details, such as what could not be listed.
	Detail string
	// Lift is the value of --unlock that lifts the refusal; empty if none does.
	Lift string
}

// Error returns the refusal, its reason, and the flag that lifts it.
func (r *Refusal) Error() string {
	text := fmt.Sprintf("%s: finalizer %s: %s", r.Object, r.Finalizer, r.Why())
	if r.Lift != "" {
		text += " (" + Flag(r.Lift) + " removes it anyway)"
	}
	return text
}

// Why returns the reason as part of a sentence.
func (r *Refusal) Why() string {
	text := reason.Refusal.Short(r.Reason)
	if len(r.Because) > 0 {
		names := make([]string, len(r.Because))
		for i, b := range r.Because {
			names[i] = b.ShortName()
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

// Flag returns the flag that lifts refusals; empty without names.
func Flag(names ...string) string {
	names = slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(names))), func(name string) bool { return name == "" })
	if len(names) == 0 {
		return ""
	}
	return "--unlock=" + strings.Join(names, ",")
}

// Describe returns what a plan reports about the finalizers to remove.
func Describe(names []string, objects []*object.Object, served *object.Resources) []report.PlannedFinalizer {
	list := make([]report.PlannedFinalizer, 0, len(names))
	for _, name := range names {
		k, _ := Of(name)
		f := report.PlannedFinalizer{
			Name: name, Class: string(ClassIn(name, served)), RemovedBy: k.RemovedBy, When: k.When, Without: k.Loss(),
		}
		for _, o := range objects {
			has, _ := Has(o, name)
			if !has {
				continue
			}
			switch loss := k.LossOf(o); {
			case f.Objects == 0:
				f.When, f.Without = k.on(o.Kind).When, loss
			case f.Without != loss:
				f.Without = k.Loss()
			}
			f.Objects++
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
			Object: r.Object, Finalizer: r.Finalizer, Reason: string(r.Reason), LiftedBy: Flag(r.Lift), Message: r.Why(),
		}
		d.Because = append(d.Because, r.Because...)
		list = append(list, d)
	}
	return list
}
