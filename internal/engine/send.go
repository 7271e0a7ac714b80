package engine

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/release"
)

// finalizerTries is how often a finalizer removal is tried on conflicts.
// Upstream: pkg/controller/garbagecollector/operations.go removeFinalizer.
// Upstream: client-go/util/retry/util.go DefaultBackoff.
const finalizerTries = 4

// writer is an API that is told which request a write carries out.
type writer interface {
	Reader
	Delete(ctx context.Context, r *Request, o metav1.DeleteOptions) error
	Patch(ctx context.Context, r *Request, p object.Patch) error
}

// served is the writer of an API that does not want to know.
type served struct{ API }

// Delete sends a DELETE.
func (s served) Delete(ctx context.Context, r *Request, o metav1.DeleteOptions) error {
	return s.API.Delete(ctx, r.Ref, o)
}

// Patch sends a PATCH.
func (s served) Patch(ctx context.Context, r *Request, p object.Patch) error {
	return s.API.Patch(ctx, r.Ref, p)
}

// sender carries out one request by one of two strategies, which the request names.
// Upstream's is a conversation: what needs a version is preceded by a read, and a
// refusal is followed by another read and another try. The economical one pins what it
// sends to what is known already, and reads only what is not. See Pin.
type sender struct {
	*Request
	api writer
}

func (s sender) send(ctx context.Context) error {
	if s.Pin == PinVersion && s.Live.ResourceVersion == "" {
		return fmt.Errorf("%s has no resourceVersion: nothing is sent that is not pinned to one", s.Ref)
	}
	switch s.Verb {
	case DeleteObject:
		return s.delete(ctx)
	case RemoveOwners:
		return s.removeOwners(ctx)
	case Unblock:
		return s.unblock(ctx)
	default:
		return s.removeFinalizer(ctx)
	}
}

// delete deletes exactly the version that was judged. Upstream repeats a refused
// DELETE once without the resourceVersion when the owner references are still the
// same; strict rules judge afresh instead, and so does whoever pins. An older release deletes
// whatever version there is.
//
// Upstream: pkg/controller/garbagecollector/garbagecollector.go attemptToDeleteItem.
// Upstream: pkg/controller/garbagecollector/operations.go deleteObject.
// Rule: §3.12.1.
func (s sender) delete(ctx context.Context) error {
	judged, version := s.Live, s.Live.ResourceVersion
	if s.Rules == Upstream && s.Pin == Unpinned && !s.Release.Follow(release.DeletesPinned) {
		version = ""
	}
	err := s.api.Delete(ctx, s.Request, DeleteOptions(s.Policy, judged.UID, version))
	if err == nil {
		return nil
	}
	if !apierrors.IsConflict(err) || version == "" || s.Rules == Strict || s.Pin != Unpinned {
		return err
	}
	live, getErr := s.api.Get(ctx, s.Ref)
	if apierrors.IsNotFound(getErr) {
		return getErr
	}
	if getErr == nil && live.UID == judged.UID && live.ResourceVersion != judged.ResourceVersion &&
		slices.Equal(live.Owners, judged.Owners) {
		return s.api.Delete(ctx, s.Request, DeleteOptions(s.Policy, judged.UID, ""))
	}
	return err
}

// DeleteOptions are the options of a DELETE with a policy and preconditions; an
// empty resourceVersion is no precondition. What they point to is not to be written to.
func DeleteOptions(p Policy, uid types.UID, resourceVersion string) metav1.DeleteOptions {
	only := &preconditions{uid: uid, version: resourceVersion}
	only.UID = &only.uid
	if resourceVersion != "" {
		only.ResourceVersion = &only.version
	}
	return metav1.DeleteOptions{PropagationPolicy: &propagation[p], Preconditions: &only.Preconditions}
}

// preconditions are preconditions together with what they point to.
type preconditions struct {
	metav1.Preconditions
	uid     types.UID
	version string
}

// propagation are the policies as options have them.
var propagation = [...]metav1.DeletionPropagation{
	Background:       metav1.DeletePropagationBackground,
	ForegroundPolicy: metav1.DeletePropagationForeground,
	OrphanPolicy:     metav1.DeletePropagationOrphan,
}

// removeOwners removes references by UID.
//
// Upstream: pkg/controller/controller_ref_manager.go GenerateDeleteOwnerRefStrategicMergeBytes.
// Upstream: pkg/controller/garbagecollector/patch.go deleteOwnerRefJSONMergePatch.
// Rule: §3.12.2.
func (s sender) removeOwners(ctx context.Context) error {
	return s.changeOwners(ctx, object.Patch{DeleteOwners: s.UIDs}, func(owners []object.OwnerReference) []object.OwnerReference {
		return object.WithoutOwners(owners, s.UIDs)
	})
}

// unblock lifts blocking. The two forms differ, as upstream's do: the strategic one
// names the blocking references only, the merge one writes false into all of them
// that are known (S254).
//
// Upstream: pkg/controller/garbagecollector/patch.go unblockOwnerReferencesStrategicMergePatch,
// unblockOwnerReferencesJSONMergePatch.
// Rule: §3.12.3.
func (s sender) unblock(ctx context.Context) error {
	var strategic object.Patch
	var all []object.OwnerReference
	if known := s.known(); known != nil {
		all = slices.Clone(known.Owners)
	}
	for i := range all {
		blocks := all[i].Blocks()
		all[i].BlockOwnerDeletion = object.False
		if blocks {
			strategic.MergeOwners = append(strategic.MergeOwners, all[i])
		}
	}
	return s.changeOwners(ctx, strategic, func([]object.OwnerReference) []object.OwnerReference { return all })
}

// known is the object as it is known without asking, from which a whole list is
// written: upstream takes the observed one.
func (s sender) known() *object.Object {
	if s.Pin == Unpinned {
		return s.Cached
	}
	return s.Live
}

// changeOwners changes references: with a strategic merge patch that names them by UID,
// and where the server does not know that form, with a merge patch of the whole list.
// Who pins knows of which kinds that is.
func (s sender) changeOwners(ctx context.Context, strategic object.Patch, whole func([]object.OwnerReference) []object.OwnerReference) error {
	if s.Pin == Unpinned || !custom(s.api, s.Ref) {
		strategic.Type, strategic.UID = object.StrategicMerge, s.Live.UID
		if s.Pin == PinVersion {
			strategic.ResourceVersion = s.Live.ResourceVersion
		}
		if err := s.api.Patch(ctx, s.Request, strategic); !apierrors.IsUnsupportedMediaType(err) {
			return err
		}
	}
	tries := 1
	if s.Pin == PinUID {
		tries += freshTries
	}
	return s.replace(ctx, s.known(), tries, func(live *object.Object) (object.Patch, bool) {
		owners := whole(live.Owners)
		return object.Patch{Owners: &owners}, s.Pin != PinUID || len(owners) < len(live.Owners)
	})
}

// removeFinalizer writes the finalizers without one. Upstream reads the object first,
// and does not compare UIDs (Q15). Who pins begins with what is known. On a conflict a
// foreground deletion is judged again, since something may block it now; the end of
// orphaning is not, since every dependent has been released.
//
// Upstream: pkg/controller/garbagecollector/operations.go removeFinalizer.
// Rule: §3.12.4.
func (s sender) removeFinalizer(ctx context.Context) error {
	var tries int
	switch s.Pin {
	case Unpinned:
		tries = finalizerTries
	case PinVersion:
		tries = 1
	case PinUID:
		tries = 1 + freshTries
	}
	return s.replace(ctx, s.known(), tries, func(live *object.Object) (object.Patch, bool) {
		left := slices.DeleteFunc(slices.Clone(live.Finalizers()), func(f string) bool { return f == s.Finalizer })
		return object.Patch{Finalizers: &left}, live.HasFinalizer(s.Finalizer)
	})
}

// replace writes a list of an object as a whole, which holds for one version: that of
// the known object, and after a conflict, or when none is known, that of a read. The
// change says what is written to a version, and whether there is anything to write.
func (s sender) replace(ctx context.Context, known *object.Object, tries int, change func(*object.Object) (object.Patch, bool)) error {
	var err error
	for range tries {
		live := known
		if live == nil || s.Pin != Unpinned && live.ResourceVersion == "" {
			live, err = s.api.Get(ctx, s.Ref)
			if err != nil || s.Pin != Unpinned && live.UID != s.Ref.UID {
				return err // it has gone: the one that has its name is another
			}
		}
		p, due := change(live)
		if !due {
			return nil
		}
		p.Type, p.ResourceVersion = object.Merge, live.ResourceVersion
		if s.Pin != Unpinned {
			p.UID = live.UID
		}
		if err = s.api.Patch(ctx, s.Request, p); !apierrors.IsConflict(err) {
			return err
		}
		known = nil
	}
	return err
}

// custom reports whether a kind is known not to understand a strategic merge patch.
func custom(api Reader, ref object.Ref) bool {
	resource, err := api.Resource(ref.APIVersion, ref.Kind)
	return err == nil && resource.Custom
}
