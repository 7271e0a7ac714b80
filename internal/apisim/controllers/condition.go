package controllers

import "slices"

// The conditions in which a terminating namespace reports its obstacles.
//
// Upstream: api/core/v1/types.go NamespaceDeletionDiscoveryFailure,
// NamespaceDeletionContentFailure, NamespaceContentRemaining, NamespaceFinalizersRemaining.
const (
	discoveryFailure    = "NamespaceDeletionDiscoveryFailure"
	contentFailure      = "NamespaceDeletionContentFailure"
	contentRemaining    = "NamespaceContentRemaining"
	finalizersRemaining = "NamespaceFinalizersRemaining"
)

// Conditions returns the conditions that are true of a namespace during the wait, sorted by name.
// While pods remain, no condition reports other content: it all counts as removed.
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
		// Content without a finalizer that still exists is an error.
		if len(w.Finalizers) == 0 {
			return []string{contentRemaining, contentFailure}
		}
		return []string{contentRemaining, finalizersRemaining}
	default:
	}
	return nil
}

// ConditionsOf returns the conditions that are true during all these waits, sorted by name.
func ConditionsOf(waits []Wait) []string {
	var list []string
	for _, w := range waits {
		list = append(list, w.Conditions()...)
	}
	slices.Sort(list)
	return slices.Compact(list)
}
