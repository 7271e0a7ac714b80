package apisim

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// mergeOwners removes each reference with a UID in remove. It then merges the others by UID: field
// by field into the first reference with that UID, or as a new reference. If owners is empty, merge
// replaces it.
//
// Upstream: apimachinery/pkg/util/strategicpatch/patch.go mergeSlice: with the merge key uid.
// Rule: spec §2.11, S253, S254.
func mergeOwners(owners []object.OwnerReference, remove []types.UID, merge []object.OwnerReference) []object.OwnerReference {
	if len(owners) == 0 {
		return slices.Clone(merge)
	}
	if len(remove) == 0 && len(merge) == 0 {
		return owners
	}
	owners = object.WithoutOwners(owners, remove)
	if len(merge) == 0 && len(owners) < 3 {
		return owners // the order of at most two owners cannot change
	}
	merged := slices.Clone(owners)
	for _, m := range merge {
		i := slices.IndexFunc(merged, func(o object.OwnerReference) bool { return o.UID == m.UID })
		if i < 0 {
			merged = append(merged, m)
			continue
		}
		if m.Controller == object.Unset {
			m.Controller = merged[i].Controller
		}
		if m.BlockOwnerDeletion == object.Unset {
			m.BlockOwnerDeletion = merged[i].BlockOwnerDeletion
		}
		merged[i] = m
	}
	return mergeOrder(merged, merge, owners, func(o object.OwnerReference) types.UID { return o.UID })
}

// mergeFinalizers appends the new finalizers of merge. A strategic merge patch shortens the list
// only by removing the field.
func mergeFinalizers(finalizers, merge []string) []string {
	if len(finalizers) == 0 {
		return slices.Clone(merge)
	}
	var merged []string
	for _, name := range slices.Concat(finalizers, merge) {
		if !slices.Contains(merged, name) {
			merged = append(merged, name)
		}
	}
	return mergeOrder(merged, merge, finalizers, func(name string) string { return name })
}

// mergeOrder orders a merged list as a strategic merge patch does: elements in the patch have the
// patch's order, the others their old order. The patch's elements come first, unless both were in
// the old list in the other order. A new element therefore precedes old ones, and elements with
// equal keys are adjacent.
//
// Upstream: apimachinery/pkg/util/strategicpatch/patch.go normalizeElementOrder, mergeSortedSlice.
func mergeOrder[T any, K comparable](merged, patch, old []T, key func(T) K) []T {
	index := func(list []T, item T) int {
		return slices.IndexFunc(list, func(t T) bool { return key(t) == key(item) })
	}
	var mentioned, rest []T
	for _, item := range merged {
		if index(patch, item) >= 0 {
			mentioned = append(mentioned, item)
		} else {
			rest = append(rest, item)
		}
	}
	slices.SortStableFunc(mentioned, func(a, b T) int { return index(patch, a) - index(patch, b) })
	slices.SortStableFunc(rest, func(a, b T) int { return index(old, a) - index(old, b) })
	ordered := merged[:0]
	for len(mentioned) > 0 && len(rest) > 0 {
		m := index(old, mentioned[0])
		if m >= 0 && index(old, rest[0]) < m {
			ordered = append(ordered, rest[0])
			rest = rest[1:]
		} else {
			ordered = append(ordered, mentioned[0])
			mentioned = mentioned[1:]
		}
	}
	return append(append(ordered, mentioned...), rest...)
}
