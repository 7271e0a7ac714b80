package history

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// trace is what a delete leaves on its object: the finalizers of the garbage collector.
type trace struct {
	orphan, foreground bool
	// hurried is true if the delete named a grace period that is not the pod's own.
	hurried bool
}

func traceOf(o *object.Object) trace {
	return trace{orphan: o.HasFinalizer(object.Orphan), foreground: o.HasFinalizer(object.Foreground)}
}

// leftBy returns the trace of the delete that changed an object from before to now.
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

// graceOf returns the grace period of a pod in seconds if a delete names none.
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

// policy returns the propagation policy. Orphan wins, as in the collector.
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

// traceAfter returns the trace that a delete with the policy would leave. The empty policy names
// none.
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

// leaves reports whether a delete with one of the policies, and no grace period, would leave the
// trace. The first delete of a CRD leaves the same trace with all of them.
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

// ofCollector returns the policies that the garbage collector may use to delete an object:
// Background, Foreground, and Orphan if the object has or had that finalizer.
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
