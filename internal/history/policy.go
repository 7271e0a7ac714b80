package history

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// trace is what a delete leaves on its object: the finalizers of the garbage collector.
type trace struct{ orphan, foreground bool }

func traceOf(o *object.Object) trace {
	return trace{o.HasFinalizer(object.Orphan), o.HasFinalizer(object.Foreground)}
}

// policy is what happens to the dependents. Orphan wins, as it does with the collector.
func (t trace) policy() Policy {
	switch {
	case t.orphan:
		return Orphan
	case t.foreground:
		return Foreground
	default:
		return Background
	}
}

// traceAfter is what a delete with the policy would leave; an empty one names none.
func (t *tracer) traceAfter(o *object.Object, policy metav1.DeletionPropagation) trace {
	var options metav1.DeleteOptions
	if policy != "" {
		options.PropagationPolicy = &policy
	}
	standard := apisim.BackgroundDefault
	if r, err := t.world.resources.For(o.APIVersion, o.Kind); err == nil {
		standard = apisim.DefaultFor(r.GroupResource(), r.Version)
	}
	finalizers, _ := apisim.GCFinalizers(o.Finalizers(), options, standard)
	var left trace
	for _, name := range finalizers {
		left.orphan = left.orphan || name == object.Orphan
		left.foreground = left.foreground || name == object.Foreground
	}
	return left
}

// leaves reports whether a delete with one of the policies would leave such a trace. The
// first delete of a definition leaves the same with all of them.
func (t *tracer) leaves(o *object.Object, left trace, policies ...metav1.DeletionPropagation) bool {
	if o.Is(object.CRD) {
		return true
	}
	for _, p := range policies {
		if t.traceAfter(o, p) == left {
			return true
		}
	}
	return false
}

// ofCollector are the policies with which the garbage collector may delete an object: Foreground
// while an owner waits, and those that its finalizers ask for, or did when they were last read.
func (t *tracer) ofCollector(o *object.Object) []metav1.DeletionPropagation {
	policies := []metav1.DeletionPropagation{background, foreground}
	if t.had[o.UID].orphan {
		policies = append(policies, orphan)
	}
	return policies
}

// The policies as requests name them.
const (
	unnamed    metav1.DeletionPropagation = ""
	background                            = metav1.DeletePropagationBackground
	foreground                            = metav1.DeletePropagationForeground
	orphan                                = metav1.DeletePropagationOrphan
)
