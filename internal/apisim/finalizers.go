package apisim

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// GCFinalizers returns the finalizers that an object has after a delete with the given options, and
// whether they differ from the existing ones as a set. If they don't, the existing slice is
// returned.
//
// Upstream: apiserver/pkg/registry/generic/registry/store.go deletionFinalizersForGarbageCollection,
// shouldOrphanDependents, shouldDeleteDependentsInForeground.
// Rule: spec §2.7, S001–S014.
func GCFinalizers(existing []string, o metav1.DeleteOptions, d Default) (target []string, changed bool) {
	want := wanted(existing, o, d)
	for _, name := range existing {
		switch name {
		case want:
		case object.Orphan, object.Foreground:
			changed = true
		}
	}
	if want != "" && !slices.Contains(existing, want) {
		changed = true
	}
	if !changed {
		return existing, false
	}
	for _, name := range existing {
		if name != object.Orphan && name != object.Foreground {
			target = append(target, name)
		}
	}
	if want != "" {
		target = append(target, want)
	}
	return target, true
}

// wanted returns the collector's finalizer that a delete requires, or "". The first matching rule
// decides.
func wanted(existing []string, o metav1.DeleteOptions, d Default) string {
	switch {
	case d == UnsupportedDefault:
		return ""
	case o.OrphanDependents != nil:
		return finalizerIf(*o.OrphanDependents, object.Orphan)
	case o.PropagationPolicy != nil:
		return finalizerOf(*o.PropagationPolicy)
	}
	for _, name := range existing {
		if name == object.Orphan || name == object.Foreground {
			return name
		}
	}
	return finalizerIf(d == OrphanDefault, object.Orphan)
}

func finalizerOf(policy metav1.DeletionPropagation) string {
	switch policy {
	case metav1.DeletePropagationOrphan:
		return object.Orphan
	case metav1.DeletePropagationForeground:
		return object.Foreground
	default:
		return ""
	}
}

func finalizerIf(yes bool, name string) string {
	if yes {
		return name
	}
	return ""
}

// Default is the propagation that a delete without a policy uses.
type Default uint8

// The defaults of the resources.
const (
	// BackgroundDefault leaves the dependents to the collector.
	BackgroundDefault Default = iota
	// OrphanDefault releases the dependents.
	OrphanDefault
	// UnsupportedDefault adds neither finalizer of the garbage collector.
	UnsupportedDefault
)

// DefaultFor returns the default of a resource in the requested version. For versions that no
// supported release serves, it is the default of the releases up to v1.21 that served them.
//
// Upstream: pkg/registry/*/*/strategy.go DefaultGarbageCollectionPolicy.
// Rule: spec §2.8, S001, S005, S006, S045.
func DefaultFor(gr schema.GroupResource, version string) Default {
	switch gr {
	case schema.GroupResource{Resource: "events"}, schema.GroupResource{Group: "events.k8s.io", Resource: "events"}:
		return UnsupportedDefault
	}
	if slices.Contains(orphaning(gr), version) {
		return OrphanDefault
	}
	return BackgroundDefault
}

// orphaning returns the versions of a resource in which a delete orphans the dependents by default.
func orphaning(gr schema.GroupResource) []string {
	switch gr {
	case object.ReplicationController.GroupResource(), object.Job.GroupResource():
		return []string{"v1"}
	case object.CronJob.GroupResource():
		return []string{"v1beta1", "v2alpha1"}
	case object.Deployment.GroupResource(), object.StatefulSet.GroupResource():
		return []string{"v1beta1", "v1beta2"}
	case object.DaemonSet.GroupResource(), object.ReplicaSet.GroupResource():
		return []string{"v1beta2"}
	case schema.GroupResource{Group: "extensions", Resource: "daemonsets"}, schema.GroupResource{Group: "extensions", Resource: "deployments"},
		schema.GroupResource{Group: "extensions", Resource: "replicasets"}:
		return []string{"v1beta1"}
	}
	return nil
}
