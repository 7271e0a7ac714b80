package controllers

import (
	"cmp"
	"context"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// ClaimProtection returns the controller that removes its finalizer from a claim that is being
// deleted, once no scheduled pod uses the claim. A finished pod still uses it; an unscheduled one
// doesn't. The claim of an ephemeral volume is used by the pod that controls it, until that pod is
// shut down.
//
// The finalizer stays if the snapshot may lack such a pod: the pods of the namespace are not
// covered, or one lacks its volumes.
//
// Upstream: pkg/controller/volume/pvcprotection/pvc_protection_controller.go podUsesPVCForDeletion.
// Rule: spec §7.1, S230–S232.
func ClaimProtection(c Coverage) Releaser {
	return &claims{coverage: c, releasing: releasing{
		identity:  identity{name: "pvc-protection-controller", assumption: "the PVC protection controller runs, and no other pod starts to use the PVC"},
		finalizer: "kubernetes.io/pvc-protection",
	}}
}

type claims struct {
	releasing

	coverage Coverage
}

// Step releases the claims that no pod uses.
func (c *claims) Step(ctx context.Context, w World, send Send) (bool, error) {
	p := c.begin(ctx, w, send)
	var in *mounts
	for _, claim := range objectsThat(w, object.PVC.GroupResource(), held(c.finalizer)) {
		if ctx.Err() != nil {
			break
		}
		if in == nil || in.namespace != claim.Namespace {
			in = mountsIn(w, claim.Namespace)
		}
		if users := in.users(claim); len(users) > 0 {
			p.wait(remaining(claim.Ref, ClaimInUse, object.Pod.Resource(), users))
			continue
		}
		if len(in.hidden) > 0 {
			p.wait(Wait{Object: claim.Ref, Reason: NotShown, Resource: object.Pod.Resource(), Why: "do not all show their volumes: " + few(in.hidden)})
			continue
		}
		if !p.uncovered(c.coverage, claim.Ref, object.Pod.Resource(), claim.Namespace) {
			p.release(claim)
		}
	}
	return p.end()
}

// mounts holds the pods of a namespace by the claims that they use.
type mounts struct {
	namespace string
	byClaim   map[string][]mount
	// hidden are the pods with unknown volumes.
	hidden []*object.Object
}

// mount is one use of a claim by a pod that is on a node.
type mount struct {
	pod       *object.Object
	ephemeral bool
}

// mountsIn returns the mounts of the pods in a namespace.
func mountsIn(w World, namespace string) *mounts {
	m := &mounts{namespace: namespace, byClaim: map[string][]mount{}}
	for _, pod := range objectsIn(w, object.Pod.GroupResource(), namespace, mayMount) {
		facts := pod.Pod()
		if facts == nil || !facts.VolumesKnown {
			m.hidden = append(m.hidden, pod)
			continue
		}
		for _, claim := range facts.Claims {
			m.byClaim[claim.Name] = append(m.byClaim[claim.Name], mount{pod, claim.Ephemeral})
		}
	}
	return m
}

// mayMount reports whether a pod is or may be on a node and use a claim.
func mayMount(pod *object.Object) bool {
	facts := pod.Pod()
	return facts == nil || !facts.VolumesKnown || facts.NodeName != "" && len(facts.Claims) > 0
}

// users returns the pods that use the claim.
func (m *mounts) users(claim *object.Object) []*object.Object {
	var list []*object.Object
	for _, x := range m.byClaim[claim.Name] {
		again := len(list) > 0 && list[len(list)-1] == x.pod // the mounts of one pod are adjacent
		if again || x.ephemeral && (shutDown(x.pod) || !controls(x.pod, claim)) {
			continue
		}
		list = append(list, x.pod)
	}
	return list
}

// shutDown reports whether a pod is being deleted with no grace period left: its kubelet finished
// it, or was bypassed.
//
// Upstream: pkg/controller/volume/pvcprotection/pvc_protection_controller.go podIsShutDown.
func shutDown(pod *object.Object) bool {
	grace := pod.GracePeriod()
	return pod.BeingDeleted() && grace != nil && *grace == 0
}

func controls(owner, o *object.Object) bool {
	ref, ok := o.Controller()
	return ok && ref.UID == owner.UID
}

// VolumeProtection returns the controller that removes its finalizer from a PersistentVolume that
// is being deleted, once the volume is not bound. A volume that is bound in the snapshot counts as
// released when its claim is gone, as the PV controller treats it. The effect of the reclaim policy
// on other volumes is left out.
//
// The finalizer stays while the phase of the volume or the state of its claim is unknown.
//
// Upstream: pkg/controller/volume/pvprotection/pv_protection_controller.go isBeingUsed.
// Upstream: pkg/controller/volume/persistentvolume/pv_controller.go syncVolume.
// Rule: spec §7.1, S233.
func VolumeProtection(c Coverage) Releaser {
	return &volumes{coverage: c, releasing: releasing{
		identity:  identity{name: "pv-protection-controller", assumption: "the PV controller releases a volume whose claim has gone, and the PV protection controller runs"},
		finalizer: "kubernetes.io/pv-protection",
	}}
}

type volumes struct {
	releasing

	coverage Coverage
}

// Step releases the volumes that are not bound.
func (v *volumes) Step(ctx context.Context, w World, send Send) (bool, error) {
	p := v.begin(ctx, w, send)
	var there map[coordinates]*object.Object
	for _, volume := range objectsThat(w, object.PV.GroupResource(), held(v.finalizer)) {
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
	return p.end()
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
	owner, _ := volume.ImplicitOwner()
	claim := there[coordinates{owner.Namespace, owner.Name}]
	switch {
	case claim == nil:
		return !p.unseen(v.coverage, volume.Ref, object.PVC, owner.Ref(), volume.DeletionTimestamp())
	case facts.ClaimUID != claim.UID:
		return notShown("whether its PVC is the one of that name")
	}
	p.wait(remaining(volume.Ref, VolumeBound, object.PVC.Resource(), []*object.Object{claim}))
	return false
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
)

// VolumeReclaim returns the PV controller, as far as it releases a bound volume after the deletion
// of its claim, and the driver that provisioned a volume with the policy Delete: it deletes the
// storage and then the volume. With the policies Retain and Recycle the volume stays.
//
// The finalizer of the driver is left on the volume: whether the driver runs is judged as for the delete of
// the volume itself. Without one, the driver is assumed to run.
//
// Only claims that disappear during the simulation count, and nothing is created in it. The reason
// why an earlier released volume still exists is unknown, and a claim may be missing because it is
// younger than the list of claims. A volume stays unchanged if its policy is unknown, or if it is
// unknown what deletes its storage: it has no external provisioner, or a former in-tree one.
//
// Upstream: pkg/controller/volume/persistentvolume/pv_controller.go syncVolume, reclaimVolume,
// findDeletablePlugin.
// An external provisioner decides by shouldDelete of sig-storage-lib-external-provisioner.
func VolumeReclaim() Controller {
	return &reclaim{
		identity: identity{name: ReclaimName, assumption: ReclaimAssumption},
		seen:     map[types.UID]bool{},
	}
}

type reclaim struct {
	identity

	// seen are the claims that existed before the simulation or in an earlier pass. claims is the number of claims in the
	// last pass without a wait. As long as it is the same, no claim was deleted.
	seen   map[types.UID]bool
	claims int
}

// Look records the claims of the bound volumes: the collector may delete one before the first pass.
func (r *reclaim) Look(w World) {
	r.claims = numberOf(w, object.PVC.GroupResource())
	there := claimsOf(w)
	for _, volume := range boundVolumes(w) {
		if hasClaim(volume, there) {
			r.seen[volume.Volume().ClaimUID] = true
		}
	}
}

// boundVolumes lists the volumes with a known claim that are bound.
func boundVolumes(w World) []*object.Object {
	return objectsThat(w, object.PV.GroupResource(), func(o *object.Object) bool {
		v := o.Volume()
		return v != nil && v.Phase == volumeBound && v.ClaimUID != ""
	})
}

// hasClaim reports whether the claim of a volume exists.
func hasClaim(volume *object.Object, there map[coordinates]*object.Object) bool {
	facts := volume.Volume()
	claim := there[coordinates{facts.ClaimNamespace, facts.ClaimName}]
	return claim != nil && claim.UID == facts.ClaimUID
}

// Step releases the volumes of deleted claims.
func (r *reclaim) Step(ctx context.Context, w World, send Send) (bool, error) {
	p := r.begin(ctx, w, send)
	n := numberOf(w, object.PVC.GroupResource())
	if n == r.claims {
		return false, ctx.Err() // no claim was deleted since a pass without work
	}
	there := claimsOf(w)
	for _, volume := range boundVolumes(w) {
		if ctx.Err() != nil {
			break
		}
		facts := volume.Volume()
		switch {
		case hasClaim(volume, there):
			r.seen[facts.ClaimUID] = true
		case r.seen[facts.ClaimUID]:
			p.reclaim(volume, facts)
		}
	}
	if ctx.Err() == nil && len(p.waits) == 0 {
		r.claims = n
	}
	return p.end()
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
		p.setReleased(volume)
	case ReclaimDelete:
		if driverOf(facts) == "" {
			unknown("what deletes the storage behind it is unknown")
			return
		}
		if !p.setReleased(volume) || volume.BeingDeleted() || p.ctx.Err() != nil {
			return
		}
		err := p.delete(volume, metav1.DeleteOptions{})
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

// setReleased sets the phase Released, and reports whether the update succeeded.
func (p *pass) setReleased(volume *object.Object) bool {
	next := volume.Clone()
	life := next.Edit()
	facts := *volume.Volume()
	facts.Phase = volumeReleased
	life.Facts = &facts
	_, err := p.update(next)
	p.refused(volume.Ref, object.Resource{}, err)
	return err == nil
}
