package controllers

import "slices"

// The conditions by which a namespace that stays says why.
//
// Upstream: api/core/v1/types.go NamespaceDeletionDiscoveryFailure,
// NamespaceDeletionContentFailure, NamespaceContentRemaining, NamespaceFinalizersRemaining.
const (
	discoveryFailure    = "NamespaceDeletionDiscoveryFailure"
	contentFailure      = "NamespaceDeletionContentFailure"
	contentRemaining    = "NamespaceContentRemaining"
	finalizersRemaining = "NamespaceFinalizersRemaining"
)

// Conditions are the conditions that are true of a namespace while it waits, by name.
// While pods are left they say nothing of what remains: all of it counts as removed.
//
// Upstream: pkg/controller/namespace/deletion/status_condition_utils.go ProcessContentTotals,
// makeDeleteContentCondition.
// Upstream: pkg/controller/namespace/deletion/namespaced_resources_deleter.go deleteAllContent.
// Rule: spec §5.4, S210–S212.
func (w Wait) Conditions() []string {
	if w.Controller != NamespaceName {
		return nil
	}
	switch w.Reason {
	case DiscoveryFails:
		return []string{discoveryFailure}
	case Refused:
		if w.Resource.Name != "" {
			return []string{contentFailure}
		}
	case ContentRemains:
		// What has no finalizer and is there all the same is an error.
		if len(w.Finalizers) == 0 {
			return []string{contentRemaining, contentFailure}
		}
		return []string{contentRemaining, finalizersRemaining}
	default:
	}
	return nil
}

// ConditionsOf are the conditions that are true while all of this is waited for, by
// name.
func ConditionsOf(waits []Wait) []string {
	var list []string
	for _, w := range waits {
		list = append(list, w.Conditions()...)
	}
	slices.Sort(list)
	return slices.Compact(list)
}
