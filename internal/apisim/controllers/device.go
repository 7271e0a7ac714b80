package controllers

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// resourceClaimName names the controller that releases devices.
const resourceClaimName = "resourceclaim-controller"

// DeviceClaims returns the controller that removes its finalizer from a ResourceClaim that is being
// deleted, once no pod reserves it. A reservation ends when its pod is deleted or finished, or is
// being deleted and was never scheduled. A reservation of anything but a pod stays forever.
//
// The finalizer stays while the reservations or their pods are unknown.
//
// Upstream: pkg/controller/resourceclaim/controller.go syncClaim, isPodDone.
// Rule: spec §7.1, S240.
func DeviceClaims(c Coverage) Releaser {
	return &devices{coverage: c, seen: map[types.UID]bool{}, releasing: releasing{
		identity:  identity{name: resourceClaimName, assumption: "the ResourceClaim controller runs, and no other pod reserves the claim"},
		finalizer: "resource.kubernetes.io/delete-protection",
	}}
}

type devices struct {
	releasing

	coverage Coverage
	// seen are the pods with a reservation that existed in an earlier pass.
	seen map[types.UID]bool
}

// Step releases the claims that no pod reserves.
func (d *devices) Step(ctx context.Context, w World, send Send) (bool, error) {
	p := d.begin(ctx, w, send)
	for _, claim := range objectsThat(w, object.ResourceClaim.GroupResource(), func(o *object.Object) bool { return o.HasFinalizer(d.finalizer) }) {
		if ctx.Err() != nil {
			break
		}
		users, why := d.users(w, claim)
		if !claim.BeingDeleted() {
			continue
		}
		switch {
		case len(users) > 0:
			p.wait(remaining(claim.Ref, ClaimInUse, object.Pod.Resource(), users))
		case why.Reason != "":
			why.Object = claim.Ref
			p.wait(why)
		default:
			p.release(claim)
		}
	}
	return p.end()
}

// users returns the pods that reserve the claim, and why it may be reserved for anything else. The
// Reason of why is empty if it isn't.
func (d *devices) users(w World, claim *object.Object) (users []*object.Object, why Wait) {
	facts := claim.ResourceClaim()
	if facts == nil {
		return nil, Wait{Reason: NotShown, Why: "what reserves it is not in the snapshot"}
	}
	if len(facts.Reserved) == 0 {
		return nil, Wait{}
	}
	there := w.ObjectsOf(object.Pod.GroupResource(), claim.Namespace)
	for _, r := range facts.Reserved {
		if r.Group != "" || r.Resource != object.Pod.Plural {
			why = Wait{Reason: ManagedElsewhere, Why: "reserved for " + r.Name + " of " + r.Resource + ", which the controller does not know"}
			continue
		}
		i := slices.IndexFunc(there, func(o *object.Object) bool { return o.Name == r.Name })
		named := i >= 0
		if named && there[i].UID != r.UID {
			i = -1
		}
		missing := ""
		if i < 0 && !d.seen[r.UID] {
			missing = d.missing(claim, r, named)
		}
		switch {
		case missing != "":
			if why.Reason == "" {
				why = Wait{Reason: NotCovered, Resource: object.Pod.Resource(), Why: missing}
			}
		case i < 0:
		case podDone(there[i]):
		default:
			d.seen[r.UID] = true
			users = append(users, there[i])
		}
	}
	return users, why
}

// missing returns why the pod of a reservation may exist although the snapshot lacks it, "" if it
// doesn't exist. named is true if another pod has its name.
func (d *devices) missing(claim *object.Object, r object.Reservation, named bool) string {
	if !named && !d.coverage.Covers(object.Pod.Resource(), claim.Namespace) {
		return d.coverage.Why(object.Pod.Resource(), claim.Namespace)
	}
	ref := object.Pod.Ref(claim.Namespace, r.Name)
	ref.UID = r.UID
	return momentsOf(d.coverage).Unseen(object.Pod, ref, claim.DeletionTimestamp())
}

// podDone reports whether a pod will never run again.
func podDone(pod *object.Object) bool {
	facts := pod.Pod()
	return facts != nil && (facts.Finished() || pod.BeingDeleted() && facts.NodeName == "")
}
