package apisim

import (
	"context"
	"maps"
	"slices"

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
		if p.Type == object.Merge || len(*p.Finalizers) == 0 {
			next.Edit().Finalizers = slices.Clone(*p.Finalizers)
		} else {
			next.Edit().Finalizers = mergeFinalizers(old.Finalizers(), *p.Finalizers)
		}
	}
	if len(p.DeleteFinalizers) > 0 && p.Type == object.StrategicMerge {
		rare := next.Edit()
		rare.Finalizers = slices.DeleteFunc(slices.Clone(rare.Finalizers), func(name string) bool { return slices.Contains(p.DeleteFinalizers, name) })
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
