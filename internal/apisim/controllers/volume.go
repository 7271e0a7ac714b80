package controllers

import (
	"context"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// volumeProtectionName names the controller that protects bound volumes.
const volumeProtectionName = "pv-protection-controller"

// volumeProtectionAssumption must hold for the deletion of a volume.
const volumeProtectionAssumption = "the PV controller releases a volume whose claim has gone, and the PV protection controller runs"

const volumeProtection = "kubernetes.io/pv-protection"

// VolumeProtection returns the controller that removes its finalizer from a PersistentVolume that
// is being deleted, once the volume is not bound. A volume that is bound in the snapshot counts as
// released when its claim is gone, as the PV controller treats it. The effect of the reclaim policy
// on other volumes is left out.
//
// The finalizer stays while the phase of the volume or the state of its claim is unknown. A nil
// coverage means that the snapshot is complete.
//
// Upstream: pkg/controller/volume/pvprotection/pv_protection_controller.go isBeingUsed.
// Upstream: pkg/controller/volume/persistentvolume/pv_controller.go syncVolume.
// Rule: spec §7.1, S233.
func VolumeProtection(c Coverage) Releaser { return &volumes{coverage: orComplete(c)} }

type volumes struct {
	coverage Coverage
	waits    []Wait
}

func (*volumes) Name() string       { return volumeProtectionName }
func (*volumes) Finalizer() string  { return volumeProtection }
func (*volumes) Assumption() string { return volumeProtectionAssumption }
func (v *volumes) Waiting() []Wait  { return v.waits }

// Step releases the volumes that are not bound.
func (v *volumes) Step(ctx context.Context, w World) (bool, error) {
	p := beginHolding(ctx, w, v)
	var there map[coordinates]*object.Object
	for _, volume := range objectsThat(w, object.PV.GroupResource(), held(volumeProtection)) {
		if ctx.Err() != nil {
			break
		}
		if there == nil {
			there = claimsOf(w)
		}
		if v.unbound(p, volume, there) {
			p.release(volume)
		}
	}
	return p.end(&v.waits)
}

// unbound reports whether the volume is known to have no claim. Otherwise it records a wait.
func (v *volumes) unbound(p *pass, volume *object.Object, there map[coordinates]*object.Object) bool {
	notShown := func(what string) bool {
		p.wait(Wait{Object: volume.Ref, Reason: NotShown, Why: what + " is not in the snapshot"})
		return false
	}
	facts := volume.Volume()
	switch {
	case facts == nil || facts.Phase == "":
		return notShown("its phase")
	case !facts.Bound():
		return true
	case facts.ClaimName == "":
		return notShown("its PVC")
	}
	claim := there[coordinates{facts.ClaimNamespace, facts.ClaimName}]
	switch {
	case claim == nil:
		return !p.unseen(v.coverage, volume.Ref, object.PVC, claimRef(facts), volume.DeletionTimestamp())
	case facts.ClaimUID != claim.UID:
		return notShown("whether its PVC is the one of that name")
	}
	p.wait(remaining(volume.Ref, VolumeBound, object.PVC.Resource(), []*object.Object{claim}))
	return false
}

func claimRef(facts *object.PVFacts) object.Ref {
	ref := object.PVC.Ref(facts.ClaimNamespace, facts.ClaimName)
	ref.UID = facts.ClaimUID
	return ref
}

// coordinates identify an object within one resource.
type coordinates struct{ namespace, name string }

func claimsOf(w World) map[coordinates]*object.Object {
	there := map[coordinates]*object.Object{}
	for _, o := range w.ObjectsOf(object.PVC.GroupResource(), "") {
		there[coordinates{o.Namespace, o.Name}] = o
	}
	return there
}
