package apisim

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
