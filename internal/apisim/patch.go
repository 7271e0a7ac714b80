package apisim

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

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

func withoutPlaces(list []string, taken []object.FinalizerAt) []string {
	var left []string
	for i, name := range list {
		if !slices.ContainsFunc(taken, func(f object.FinalizerAt) bool { return f.Index == i }) {
			left = append(left, name)
		}
	}
	return left
}
