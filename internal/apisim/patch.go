package apisim

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Patch applies a patch to the object at the coordinates of ref. A UID in the
// patch that is not the stored one is refused with 422, a resourceVersion that
// is not the stored one with 409, and a strategic merge patch of a custom
// resource with 415.
//
// Upstream: handlers/patch.go, strategicpatch/patch.go, semantics.md §2.11.
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

// patched is what a patch makes of an object, before anybody has judged it.
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
		next.Edit().Finalizers = patchedFinalizers(old.Finalizers(), p)
	}
	if p.DeletionTimestamp != nil {
		next.Edit().DeletionTimestamp = *p.DeletionTimestamp
	}
	if len(p.Labels) > 0 {
		merged := map[string]string{}
		for k, v := range old.Labels.All {
			merged[k] = v
		}
		for k, v := range p.Labels {
			merged[k] = v
		}
		next.Labels = object.LabelsOf(merged)
	}
	return next
}

// patchedFinalizers replaces the list in a merge patch. A strategic merge patch
// only ever adds to it, unless it removes the field.
func patchedFinalizers(old []string, p object.Patch) []string {
	if p.Type == object.Merge || len(*p.Finalizers) == 0 {
		return slices.Clone(*p.Finalizers)
	}
	merged := slices.Clone(old)
	for _, name := range *p.Finalizers {
		if !slices.Contains(merged, name) {
			merged = append(merged, name)
		}
	}
	return merged
}

// mergeOwners removes every reference with a UID in remove, then merges the
// others by UID: field by field into the first reference with that UID, or at
// the end when there is none.
//
// Upstream: strategicpatch/patch.go mergeSlice with merge key uid, semantics.md
// §2.11, S253, S254.
func mergeOwners(owners []object.OwnerReference, remove []types.UID, merge []object.OwnerReference) []object.OwnerReference {
	owners = object.WithoutOwners(owners, remove)
	if len(merge) == 0 {
		return owners
	}
	owners = slices.Clone(owners)
	for _, m := range merge {
		i := slices.IndexFunc(owners, func(o object.OwnerReference) bool { return o.UID == m.UID })
		if i < 0 {
			owners = append(owners, m)
			continue
		}
		if m.Controller == object.Unset {
			m.Controller = owners[i].Controller
		}
		if m.BlockOwnerDeletion == object.Unset {
			m.BlockOwnerDeletion = owners[i].BlockOwnerDeletion
		}
		owners[i] = m
	}
	return owners
}
