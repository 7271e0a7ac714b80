package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/release"
)

// Outcome is the result of carrying out a decision.
type Outcome struct {
	Decision Decision
	// Disposition is the decision's if all requests succeeded. After a failure it is Defer, Vanish
	// or Again.
	Disposition Disposition
	// Err is the first failure.
	Err error
}

// Act sends the requests of a decision in order. It stops at the first failure, except that
// orphaning tries every dependent first. It holds no state.
func Act(ctx context.Context, api API, d Decision) Outcome { return act(ctx, served{api}, d) }

func act(ctx context.Context, api writer, d Decision) Outcome {
	out := Outcome{Decision: d}
	out.act(ctx, api)
	return out
}

// act sends the requests of the decision and stores the result in out.
func (out *Outcome) act(ctx context.Context, api writer) {
	d := &out.Decision
	out.Disposition, out.Err = d.Disposition, d.Err
	for i := range d.Requests {
		r := &d.Requests[i]
		if out.Err != nil && r.Verb != RemoveOwners {
			break
		}
		err := sender{r, api}.send(ctx)
		if err == nil || r.TolerateAbsence && apierrors.IsNotFound(err) {
			continue
		}
		out.Err = errors.Join(out.Err, err)
		out.Disposition = Defer
		if r.Verb == DeleteObject && apierrors.IsNotFound(err) {
			out.Disposition, out.Err = Vanish, nil
		} else if d.Attempt.outdated(err) {
			out.judgeAgain()
		}
		if d.Attempt.Work == DeleteWork {
			break
		}
	}
}

// outdated reports whether the error shows that the attempt rests on an old state of the object.
func (a *Attempt) outdated(err error) bool {
	return a.pin() == PinVersion && (apierrors.IsConflict(err) || apierrors.IsNotFound(err))
}

// judgeAgain has the attempt repeated with a fresh read. After freshTries of them it leaves it
// deferred, with the reason Contended.
func (out *Outcome) judgeAgain() {
	if out.Decision.Attempt.Tries < freshTries {
		out.Disposition = Again
		return
	}
	out.Decision.Reason = reason.Contended
}

// finalizerTries is how often a finalizer removal is tried on conflicts.
// Upstream: pkg/controller/garbagecollector/operations.go removeFinalizer.
// Upstream: client-go/util/retry/util.go DefaultBackoff.
const finalizerTries = 4

// writer is an API that also receives the request that a write carries out.
type writer interface {
	Reader
	Delete(ctx context.Context, r *Request, o metav1.DeleteOptions) error
	Patch(ctx context.Context, r *Request, p object.Patch) error
}

// served is the writer for an API that ignores the request.
type served struct{ API }

// Delete sends a DELETE.
func (s served) Delete(ctx context.Context, r *Request, o metav1.DeleteOptions) error {
	return s.API.Delete(ctx, r.Ref, o)
}

// Patch sends a PATCH.
func (s served) Patch(ctx context.Context, r *Request, p object.Patch) error {
	return s.API.Patch(ctx, r.Ref, p)
}

// sender carries out one request by the strategy of its Pin. Unpinned, like upstream, reads before
// a write that needs a version, and after a conflict reads and tries again. Pinned requests use the
// known state and read only what is unknown.
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

// delete deletes exactly the judged version. Upstream repeats a refused DELETE once without the
// resourceVersion if the owner references are unchanged. Strict rules and pinned requests judge
// again instead. Older releases delete any version.
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

// DeleteOptions returns the options of a DELETE with a policy and preconditions. An empty
// resourceVersion means no precondition. The values that it points to must not be changed.
func DeleteOptions(p Policy, uid types.UID, resourceVersion string) metav1.DeleteOptions {
	only := &preconditions{uid: uid, version: resourceVersion}
	only.UID = &only.uid
	if resourceVersion != "" {
		only.ResourceVersion = &only.version
	}
	return metav1.DeleteOptions{PropagationPolicy: &propagation[p], Preconditions: &only.Preconditions}
}

// preconditions are Preconditions with the values that they point to.
type preconditions struct {
	metav1.Preconditions
	uid     types.UID
	version string
}

// propagation has the policies as written in DeleteOptions.
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

// unblock sets blockOwnerDeletion to false. Its two forms differ, as upstream's do: the strategic
// patch contains only the blocking references, the merge patch sets false in all known ones (S254).
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

// known returns the known state of the object, as the basis of a patch with a whole list. Upstream
// uses the observed one.
func (s sender) known() *object.Object {
	if s.Pin == Unpinned {
		return s.Cached
	}
	return s.Live
}

// changeOwners changes references with a strategic merge patch by UID. If the server doesn't
// support that, it sends a merge patch of the whole list. Pinned requests know the kinds without
// support in advance.
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

// removeFinalizer removes one finalizer with a patch of the whole list. Upstream reads the object
// first and doesn't compare UIDs (Q15). Pinned requests start from the known state. After a
// conflict, a foreground deletion is judged again, because a new dependent may block it. The end of
// orphaning is not, because every dependent was released.
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

// replace patches a whole list of an object, valid for one version: that of the known object, or of
// a read after a conflict or without a known object. change returns the patch for a version, and
// whether it is necessary.
func (s sender) replace(ctx context.Context, known *object.Object, tries int, change func(*object.Object) (object.Patch, bool)) error {
	var err error
	for range tries {
		live := known
		if live == nil || s.Pin != Unpinned && live.ResourceVersion == "" {
			live, err = s.api.Get(ctx, s.Ref)
			if err != nil || s.Pin != Unpinned && live.UID != s.Ref.UID {
				return err // the object is gone; another one has its name
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

// custom reports whether a kind is known not to support strategic merge patches.
func custom(api Reader, ref object.Ref) bool {
	resource, err := api.Resource(ref.APIVersion, ref.Kind)
	return err == nil && resource.Custom
}
