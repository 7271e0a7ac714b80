package engine

import (
	"context"
	"errors"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// finalizerTries is how often a finalizer removal is tried on conflicts.
// Upstream: pkg/controller/garbagecollector/operations.go removeFinalizer.
// Upstream: client-go/util/retry/util.go DefaultBackoff.
const finalizerTries = 4

// Outcome is what came of a decision.
type Outcome struct {
	Decision Decision
	// Fate is the decision's when all requests succeeded, else Defer or Vanish.
	Fate Fate
	// Err is the first failure.
	Err error
}

// Act sends the requests of a decision in their order. The first failure ends
// them, except that orphaning tries every dependent before it gives up. It holds
// no state.
func Act(ctx context.Context, api API, rules Rules, d Decision) Outcome {
	out := Outcome{Decision: d, Fate: d.Fate, Err: d.Err}
	for _, r := range d.Requests {
		if out.Err != nil && r.Verb != RemoveOwners {
			break
		}
		err := send(ctx, api, rules, d.Attempt, r)
		if err == nil || r.TolerateAbsence && apierrors.IsNotFound(err) {
			continue
		}
		out.Err = errors.Join(out.Err, err)
		out.Fate = Defer
		if r.Verb == DeleteObject && apierrors.IsNotFound(err) {
			out.Fate, out.Err = Vanish, nil
		} else if d.Attempt.outdated(err) {
			out.judgeAgain()
		}
		if d.Attempt.Work == DeleteWork {
			break
		}
	}
	return out
}

// outdated tells whether an answer says that the object is not what the attempt
// took it for.
func (a Attempt) outdated(err error) bool {
	return a.Economical && a.Work == DeleteWork && (apierrors.IsConflict(err) || apierrors.IsNotFound(err))
}

// judgeAgain has the attempt repeated with a fresh read, if that was not done
// often enough.
func (o *Outcome) judgeAgain() {
	if o.Decision.Attempt.Tries < freshTries {
		o.Fate = Again
		return
	}
	o.Decision.Reason = Contended
}

func send(ctx context.Context, api API, rules Rules, a Attempt, r Request) error {
	if w, ok := api.(*wire); ok {
		w.about(r)
	}
	if a.Economical {
		return sendPinned(ctx, api, a, r)
	}
	switch r.Verb {
	case DeleteObject:
		return sendDelete(ctx, api, rules, r)
	case RemoveOwners:
		return sendRemoveOwners(ctx, api, r)
	case Unblock:
		return sendUnblock(ctx, api, a, r)
	default:
		return sendRemoveFinalizer(ctx, api, r)
	}
}

// sendDelete deletes exactly the version that was judged. Upstream repeats a
// refused DELETE once without the resourceVersion when the owner references are
// still the same; strict rules judge afresh instead.
//
// Upstream: pkg/controller/garbagecollector/garbagecollector.go attemptToDeleteItem.
// Upstream: pkg/controller/garbagecollector/operations.go deleteObject.
// Rule: §3.12.1.
func sendDelete(ctx context.Context, api API, rules Rules, r Request) error {
	err := api.Delete(ctx, r.Ref, DeleteOptions(r.Policy, r.Live.UID, r.Live.ResourceVersion))
	if !apierrors.IsConflict(err) || r.Live.ResourceVersion == "" || rules == Strict {
		return err
	}
	live, getErr := api.Get(ctx, r.Ref)
	if apierrors.IsNotFound(getErr) {
		return getErr
	}
	if getErr == nil && live.UID == r.Live.UID && live.ResourceVersion != r.Live.ResourceVersion &&
		slices.Equal(live.Owners, r.Live.Owners) {
		return api.Delete(ctx, r.Ref, DeleteOptions(r.Policy, r.Live.UID, ""))
	}
	return err
}

// DeleteOptions are the options of a DELETE with a policy and preconditions; an
// empty resourceVersion is no precondition.
func DeleteOptions(p Policy, uid types.UID, resourceVersion string) metav1.DeleteOptions {
	policy := metav1.DeletionPropagation(p.String())
	o := metav1.DeleteOptions{PropagationPolicy: &policy, Preconditions: &metav1.Preconditions{UID: &uid}}
	if resourceVersion != "" {
		o.Preconditions.ResourceVersion = &resourceVersion
	}
	return o
}

// sendRemoveOwners removes references by UID: with a strategic merge patch that
// names the UIDs, and where the server does not know that form, with a merge
// patch that carries what is left of the observed list.
//
// Upstream: pkg/controller/controller_ref_manager.go GenerateDeleteOwnerRefStrategicMergeBytes.
// Upstream: pkg/controller/garbagecollector/patch.go deleteOwnerRefJSONMergePatch.
// Rule: §3.12.2.
func sendRemoveOwners(ctx context.Context, api API, r Request) error {
	err := api.Patch(ctx, r.Ref, object.Patch{Type: object.StrategicMerge, UID: r.Live.UID, DeleteOwners: r.UIDs})
	if !apierrors.IsUnsupportedMediaType(err) {
		return err
	}
	cached, err := cachedOrLive(ctx, api, r)
	if err != nil {
		return err
	}
	left := object.WithoutOwners(cached.Owners, r.UIDs)
	return api.Patch(ctx, r.Ref, object.Patch{Type: object.Merge, ResourceVersion: cached.ResourceVersion, Owners: &left})
}

// sendUnblock lifts blocking. The two forms differ, as upstream's do: the
// strategic one names the blocking references only, the merge one writes false
// into all of them (S254).
//
// Upstream: pkg/controller/garbagecollector/patch.go unblockOwnerReferencesStrategicMergePatch,
// unblockOwnerReferencesJSONMergePatch.
// Rule: §3.12.3.
func sendUnblock(ctx context.Context, api API, a Attempt, r Request) error {
	var known []object.OwnerReference
	if r.Cached != nil {
		known = r.Cached.Owners
	}
	p := object.Patch{Type: object.StrategicMerge, UID: a.Ref.UID}
	for _, ref := range known {
		if ref.Blocks() {
			ref.BlockOwnerDeletion = object.False
			p.MergeOwners = append(p.MergeOwners, ref)
		}
	}
	err := api.Patch(ctx, r.Ref, p)
	if !apierrors.IsUnsupportedMediaType(err) {
		return err
	}
	cached, err := cachedOrLive(ctx, api, r)
	if err != nil {
		return err
	}
	all := slices.Clone(known)
	for i := range all {
		all[i].BlockOwnerDeletion = object.False
	}
	return api.Patch(ctx, r.Ref, object.Patch{Type: object.Merge, ResourceVersion: cached.ResourceVersion, Owners: &all})
}

func cachedOrLive(ctx context.Context, api API, r Request) (*object.Object, error) {
	if r.Cached != nil {
		return r.Cached, nil
	}
	return api.Get(ctx, r.Ref)
}

// sendRemoveFinalizer reads the object and writes its finalizers without one. It
// does not compare UIDs, as upstream (Q15).
//
// Upstream: pkg/controller/garbagecollector/operations.go removeFinalizer.
// Rule: §3.12.4.
func sendRemoveFinalizer(ctx context.Context, api API, r Request) error {
	var err error
	for range finalizerTries {
		var live *object.Object
		if live, err = api.Get(ctx, r.Ref); err != nil {
			return err
		}
		if !live.HasFinalizer(r.Finalizer) {
			return nil
		}
		left := slices.DeleteFunc(slices.Clone(live.Finalizers()), func(f string) bool { return f == r.Finalizer })
		err = api.Patch(ctx, r.Ref, object.Patch{Type: object.Merge, ResourceVersion: live.ResourceVersion, Finalizers: &left})
		if !apierrors.IsConflict(err) {
			return err
		}
	}
	return err
}
