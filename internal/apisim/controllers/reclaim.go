package controllers

import (
	"cmp"
	"context"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// ReclaimName names the controller that releases volumes and applies their reclaim policy.
const ReclaimName = "persistentvolume-binder-controller"

// ReclaimAssumption must hold for the deletion of a volume without its claim.
const ReclaimAssumption = "the PV controller runs, and the driver that provisioned the volume runs and can delete the storage behind it"

// The reclaim policies of volumes.
const (
	ReclaimDelete  = "Delete"
	ReclaimRetain  = "Retain"
	ReclaimRecycle = "Recycle"
)

const (
	volumeBound    = "Bound"
	volumeReleased = "Released"
	// provisionerFinalizer is on volumes with storage that their driver must delete first.
	provisionerFinalizer = "external-provisioner.volume.kubernetes.io/finalizer"
)

// VolumeReclaim returns the PV controller, as far as it releases a bound volume after the deletion
// of its claim, and the driver that provisioned a volume with the policy Delete: it deletes the
// storage and then the volume. With the policies Retain and Recycle the volume stays.
//
// Only claims that disappear during the simulation count, and nothing is created in it. The reason
// why an earlier released volume still exists is unknown, and a claim may be missing because it is
// younger than the list of claims. A volume stays unchanged if its policy is unknown, or if it is
// unknown what deletes its storage: it has no external provisioner, or a former in-tree one.
//
// Upstream: pkg/controller/volume/persistentvolume/pv_controller.go syncVolume, reclaimVolume,
// findDeletablePlugin.
// An external provisioner decides by shouldDelete of sig-storage-lib-external-provisioner.
func VolumeReclaim() Controller { return &reclaim{seen: map[types.UID]bool{}} }

type reclaim struct {
	// seen are the claims that existed in an earlier pass. claims is the number of claims in the
	// last pass that left no work.
	seen   map[types.UID]bool
	claims int
	waits  []Wait
}

func (*reclaim) Name() string       { return ReclaimName }
func (*reclaim) Assumption() string { return ReclaimAssumption }
func (r *reclaim) Waiting() []Wait  { return r.waits }

// Step releases the volumes of deleted claims.
func (r *reclaim) Step(ctx context.Context, w World) (bool, error) {
	p := begin(ctx, w, ReclaimName)
	n := numberOf(w, object.PVC.GroupResource())
	if n == r.claims {
		return false, ctx.Err() // no claim was deleted since a pass without work
	}
	bound := objectsThat(w, object.PV.GroupResource(), func(o *object.Object) bool {
		v := o.Volume()
		return v != nil && v.Phase == volumeBound && v.ClaimUID != ""
	})
	there := claimsOf(w)
	for _, volume := range bound {
		if ctx.Err() != nil {
			break
		}
		facts := volume.Volume()
		claim := there[coordinates{facts.ClaimNamespace, facts.ClaimName}]
		switch {
		case claim != nil && claim.UID == facts.ClaimUID:
			r.seen[claim.UID] = true
		case r.seen[facts.ClaimUID]:
			p.reclaim(volume, facts)
		}
	}
	if ctx.Err() == nil && len(p.waits) == 0 {
		r.claims = n
	}
	return p.end(&r.waits)
}

// reclaim applies the reclaim policy of a volume.
func (p *pass) reclaim(volume *object.Object, facts *object.PVFacts) {
	unknown := func(why string) {
		if !volume.BeingDeleted() {
			p.wait(Wait{Object: volume.Ref, Reason: NotShown, Why: why})
		}
	}
	switch facts.ReclaimPolicy {
	case ReclaimRetain, ReclaimRecycle:
		p.setReleased(volume, nil)
	case ReclaimDelete:
		if driverOf(facts) == "" {
			unknown("what deletes the storage behind it is unknown")
			return
		}
		if !p.setReleased(volume, []string{provisionerFinalizer}) || volume.BeingDeleted() || p.ctx.Err() != nil {
			return
		}
		err := p.w.Delete(p.ctx, volume.Ref, metav1.DeleteOptions{})
		p.refused(volume.Ref, object.Resource{}, err)
	default:
		unknown("its reclaim policy is not known")
	}
}

// driverOf returns the external driver that deletes the storage of a volume, "" if it is unknown.
func driverOf(facts *object.PVFacts) string {
	by := cmp.Or(facts.MigratedTo, facts.Provisioner)
	if strings.HasPrefix(by, "kubernetes.io/") {
		return ""
	}
	return by
}

// setReleased sets the phase Released, removes the given finalizers from the volume, and reports
// whether the update succeeded.
func (p *pass) setReleased(volume *object.Object, without []string) bool {
	next := volume.Clone()
	life := next.Edit()
	facts := *volume.Volume()
	facts.Phase = volumeReleased
	life.Facts = &facts
	life.Finalizers = slices.DeleteFunc(slices.Clone(life.Finalizers), func(name string) bool { return slices.Contains(without, name) })
	_, err := p.w.Update(p.ctx, next)
	p.refused(volume.Ref, object.Resource{}, err)
	return err == nil
}
