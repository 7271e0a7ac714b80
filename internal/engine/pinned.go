package engine

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// sendPinned sends a request that holds for one version of its object. The one
// exception are dependents that an owner releases: the reference to it goes
// whatever else has changed, and the UIDs say which.
func sendPinned(ctx context.Context, api API, a Attempt, r Request) error {
	if a.Work == DeleteWork && r.Live.ResourceVersion == "" {
		return fmt.Errorf("%s has no resourceVersion: nothing is sent that is not pinned to one", r.Ref)
	}
	switch {
	case r.Verb == DeleteObject:
		return api.Delete(ctx, r.Ref, DeleteOptions(r.Policy, r.Live.UID, r.Live.ResourceVersion))
	case r.Verb == RemoveFinalizer:
		return sendPinnedFinalizer(ctx, api, a, r)
	case a.Work == OrphanWork:
		return sendRelease(ctx, api, r)
	case r.Verb == Unblock:
		return sendPinnedUnblock(ctx, api, r)
	default:
		return sendPinnedOwners(ctx, api, r, object.Patch{DeleteOwners: r.UIDs}, object.WithoutOwners(r.Live.Owners, r.UIDs))
	}
}

// sendPinnedOwners changes the references of an object: with a strategic patch,
// or with a merge patch of the whole list where that form is not known.
func sendPinnedOwners(ctx context.Context, api API, r Request, strategic object.Patch, whole []object.OwnerReference) error {
	if !custom(api, r.Ref) {
		strategic.UID, strategic.ResourceVersion = r.Live.UID, r.Live.ResourceVersion
		if err := api.Patch(ctx, r.Ref, strategic); !apierrors.IsUnsupportedMediaType(err) {
			return err
		}
	}
	return api.Patch(ctx, r.Ref, mergeOwners(r.Live, whole))
}

// sendPinnedUnblock lifts blocking. The two forms differ, as upstream's do: the
// strategic one names the references that block, the merge one says false of all
// (S254).
func sendPinnedUnblock(ctx context.Context, api API, r Request) error {
	var strategic object.Patch
	whole := slices.Clone(r.Live.Owners)
	for i := range whole {
		blocks := whole[i].Blocks()
		whole[i].BlockOwnerDeletion = object.False
		if blocks {
			strategic.MergeOwners = append(strategic.MergeOwners, whole[i])
		}
	}
	return sendPinnedOwners(ctx, api, r, strategic, whole)
}

// sendRelease removes the reference to an owner that is being orphaned from. The
// merge form carries a whole list, so it is pinned and made again on a conflict.
func sendRelease(ctx context.Context, api API, r Request) error {
	if !custom(api, r.Ref) {
		err := api.Patch(ctx, r.Ref, object.Patch{UID: r.Live.UID, DeleteOwners: r.UIDs})
		if !apierrors.IsUnsupportedMediaType(err) {
			return err
		}
	}
	live := r.Live
	var err error
	for range 1 + freshTries {
		if live, err = versioned(ctx, api, r, live); live == nil {
			return err
		}
		left := object.WithoutOwners(live.Owners, r.UIDs)
		if len(left) == len(live.Owners) {
			return nil
		}
		if err = api.Patch(ctx, r.Ref, mergeOwners(live, left)); !apierrors.IsConflict(err) {
			return err
		}
		live = nil
	}
	return err
}

// sendPinnedFinalizer removes one finalizer. On a conflict a foreground deletion
// is judged again, since something may block it now; the end of orphaning is not,
// since every dependent has been released.
func sendPinnedFinalizer(ctx context.Context, api API, a Attempt, r Request) error {
	live := r.Live
	var err error
	for range 1 + freshTries {
		if live, err = versioned(ctx, api, r, live); live == nil {
			return err
		}
		if !live.HasFinalizer(r.Finalizer) {
			return nil
		}
		left := slices.DeleteFunc(slices.Clone(live.Finalizers()), func(f string) bool { return f == r.Finalizer })
		err = api.Patch(ctx, r.Ref, object.Patch{
			Type: object.Merge, UID: live.UID, ResourceVersion: live.ResourceVersion, Finalizers: &left,
		})
		if a.Work == DeleteWork || !apierrors.IsConflict(err) {
			return err
		}
		live = nil
	}
	return err
}

// versioned is the object of a request in a version that it can be pinned to: what is
// known of it, or what the server says. It is nil when the object has gone, the one
// that has its name being another.
func versioned(ctx context.Context, api API, r Request, live *object.Object) (*object.Object, error) {
	if live != nil && live.ResourceVersion != "" {
		return live, nil
	}
	live, err := api.Get(ctx, r.Ref)
	if err != nil || live.UID != r.Ref.UID {
		return nil, err
	}
	return live, nil
}

// custom tells whether a kind is known not to understand a strategic merge patch.
func custom(api API, ref object.Ref) bool {
	resource, err := api.Resource(ref.APIVersion, ref.Kind)
	return err == nil && resource.Custom
}

func mergeOwners(live *object.Object, owners []object.OwnerReference) object.Patch {
	return object.Patch{Type: object.Merge, UID: live.UID, ResourceVersion: live.ResourceVersion, Owners: &owners}
}
