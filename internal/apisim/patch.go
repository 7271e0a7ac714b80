package apisim

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Patch applies a patch to the object at the coordinates of ref. It returns 422 if the patch has
// another UID than the stored one, 409 if it has another resourceVersion, 415 for a strategic merge
// patch of a custom resource, and 422 if a test of a JSON patch fails.
//
// Upstream: apiserver/pkg/endpoints/handlers/patch.go patcher.patchResource, patcher.applyPatch,
// applyPatchToCurrentObject.
// Upstream: apimachinery/pkg/util/strategicpatch/patch.go StrategicMergeMapPatch.
// Rule: spec §2.11.
func (s *Server) Patch(ctx context.Context, ref object.Ref, p object.Patch) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	v, namespace, err := s.locate(ref, object.PatchVerb)
	if err != nil {
		return err
	}
	if p.Type == object.StrategicMerge && v.resource.Custom {
		return unsupportedPatch()
	}
	old := s.find(v.shelf, namespace, ref.Name)
	if old == nil {
		return s.missing(v, namespace, ref.Name)
	}
	if p.Type == object.JSON {
		if err := testJSON(old, p); err != nil {
			return err
		}
	}
	next := patched(old, p)
	if dups := dedupOwners(next); len(dups) > 0 {
		s.warn(next.Ref, duplicatesAfterAdmission(dups))
	}
	if p.ResourceVersion != "" && p.ResourceVersion != old.ResourceVersion {
		return v.staleObject(old.Name)
	}
	_, err = s.change(v, old, next)
	return err
}

// patched returns the object with the patch applied, before validation.
func patched(old *object.Object, p object.Patch) *object.Object {
	next := old.Clone()
	if p.UID != "" {
		next.UID = p.UID
	}
	if p.Type == object.Merge {
		if p.Owners != nil {
			next.Owners = slices.Clone(*p.Owners)
		}
	} else {
		next.Owners = mergeOwners(old.Owners, p.DeleteOwners, p.MergeOwners)
	}
	if p.Finalizers != nil {
		if p.Type == object.Merge || len(*p.Finalizers) == 0 {
			next.Edit().Finalizers = slices.Clone(*p.Finalizers)
		} else {
			next.Edit().Finalizers = mergeFinalizers(old.Finalizers(), *p.Finalizers)
		}
	}
	if len(p.DeleteFinalizers) > 0 && p.Type == object.StrategicMerge {
		life := next.Edit()
		life.Finalizers = slices.DeleteFunc(slices.Clone(life.Finalizers), func(name string) bool { return slices.Contains(p.DeleteFinalizers, name) })
	}
	if p.Type == object.JSON && len(p.TakeFinalizers) > 0 {
		next.Edit().Finalizers = withoutPlaces(old.Finalizers(), p.TakeFinalizers)
	}
	if p.DeletionTimestamp != nil {
		next.Edit().DeletionTimestamp = *p.DeletionTimestamp
	}
	if len(p.Labels) > 0 {
		merged := maps.Collect(old.Labels.All)
		maps.Copy(merged, p.Labels)
		next.Labels = object.LabelsOf(merged)
	}
	return next
}

// testJSON returns the error of a JSON patch if one of its tests fails, nil otherwise. An old
// resourceVersion is a failed test, not a conflict as in a merge patch.
//
// Upstream: apiserver/pkg/endpoints/handlers/patch.go jsonPatcher.applyJSPatch.
func testJSON(old *object.Object, p object.Patch) error {
	failed := func(path string) error {
		return apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", schema.GroupResource{}, "",
			"testing value "+path+" failed: test failed", 0, false)
	}
	switch {
	case p.UID != "" && p.UID != old.UID:
		return failed("/metadata/uid")
	case p.ResourceVersion != "" && p.ResourceVersion != old.ResourceVersion:
		return failed("/metadata/resourceVersion")
	}
	list := old.Finalizers()
	for _, f := range p.TakeFinalizers {
		if f.Index < 0 || f.Index >= len(list) || list[f.Index] != f.Name {
			return failed("/metadata/finalizers/" + strconv.Itoa(f.Index))
		}
	}
	return nil
}

// withoutPlaces returns the list without the finalizers at the indexes in taken.
func withoutPlaces(list []string, taken []object.FinalizerAt) []string {
	var left []string
	for i, name := range list {
		if !slices.ContainsFunc(taken, func(f object.FinalizerAt) bool { return f.Index == i }) {
			left = append(left, name)
		}
	}
	return left
}

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
// equal keys are adjacent. Old [a b c] patched with [d b] gives [d a b c].
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
