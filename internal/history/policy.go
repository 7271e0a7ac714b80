package history

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// trace is what a delete leaves on its object: the finalizers of the garbage collector.
type trace struct {
	orphan, foreground bool
	// hurried says that a grace period was asked for which is not the one of the pod.
	hurried bool
}

func traceOf(o *object.Object) trace {
	return trace{orphan: o.HasFinalizer(object.Orphan), foreground: o.HasFinalizer(object.Foreground)}
}

// leftBy is what a delete has left, after which an object is as it is now, or was when it went.
func leftBy(before, now *object.Object) trace {
	left, got := trace{}, int64(0)
	if now.BeingDeleted() {
		left = traceOf(now)
		if period := now.GracePeriod(); period != nil {
			got = *period
		}
	}
	usual, known := graceOf(before)
	left.hurried = known && got != usual
	return left
}

// graceOf is how many seconds a pod has to stop unless a delete says otherwise.
//
// Upstream: pkg/registry/core/pod/strategy.go CheckGracefulDelete.
func graceOf(pod *object.Object) (seconds int64, known bool) {
	facts := pod.Pod()
	switch {
	case facts == nil || !facts.VolumesKnown:
		return 0, false
	case facts.NodeName == "" || facts.Finished():
		return 0, true
	case facts.TerminationGracePeriod == nil || *facts.TerminationGracePeriod < 0:
		return 0, false
	default:
		return *facts.TerminationGracePeriod, true
	}
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

// leaves reports whether a delete with one of the policies, and no grace period, would leave such a
// trace. The first delete of a definition leaves the same with all of them.
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
