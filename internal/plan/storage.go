package plan

import (
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// storage reports what happens to the data that a plan affects.
type storage struct {
	snap          *snapshot.Snapshot
	forCollection bool
}

// addTo marks the kinds that hold data, and adds what happens to the storage.
func (s storage) addTo(p *report.Plan) {
	for i := range p.Summary.ByKind {
		c := &p.Summary.ByKind[i]
		c.Data = s.dataOf(c.APIVersion, c.Kind)
	}
	p.Storage = s.affectedStorage(p.Effects)
}

// dataOf returns which data a kind holds; empty if none.
func (s storage) dataOf(apiVersion, kind string) report.Data {
	if object.GroupOf(apiVersion) == "" {
		switch kind {
		case pvcKind, volumeKind:
			return report.VolumeData
		case "Secret":
			return report.SecretData
		}
	}
	if r, err := s.snap.Resources.For(apiVersion, kind); err == nil && r.Custom {
		return report.CustomData
	}
	return ""
}

const (
	pvcKind    = "PersistentVolumeClaim"
	volumeKind = "PersistentVolume"
)

// affectedStorage returns what happens to the storage behind the claims and volumes that the seed
// deletes, or may delete, and behind claims that a StatefulSet leaves. A claim without a volume has
// no storage.
func (s storage) affectedStorage(effects []report.Effect) []report.Storage {
	var going []*report.Effect
	for i := range effects {
		if e := &effects[i]; (s.mayDelete(e) || e.Reason == string(reason.PVCLeft)) && s.dataOf(e.Object.APIVersion, e.Object.Kind) == report.VolumeData {
			going = append(going, e)
		}
	}
	if len(going) == 0 {
		return nil
	}
	var claims []object.Ref
	for _, e := range going {
		if e.Object.Is(object.PVC) {
			claims = append(claims, e.Object)
		}
	}
	all := s.indexVolumes(effects, claims...)
	ofClaim, named := map[*report.Effect]report.Storage{}, map[object.Ref]bool{}
	for _, e := range going {
		if !e.Object.Is(object.PVC) {
			continue
		}
		if found, some := all.storageOfClaim(e.Object); some {
			if e.Reason == string(reason.PVCLeft) && found.Volume != nil {
				found.Outcome, found.Message = report.Kept, "stays with the PVC"
			}
			ofClaim[e] = found
			if found.Volume != nil {
				named[*found.Volume] = true
			}
		}
	}
	var list []report.Storage
	for _, e := range going {
		switch found, isClaim := ofClaim[e]; {
		case isClaim:
			list = append(list, found)
		case e.Object.Is(object.PV) && !named[e.Object]:
			list = append(list, all.storageOfVolume(e.Object))
		}
	}
	return list
}

// mayDelete reports whether the seed deletes the object, or may delete it.
func (s storage) mayDelete(e *report.Effect) bool {
	return e.MayBeDeleted() && (!e.AlreadyHappening || s.forCollection)
}

// volumeIndex indexes the PersistentVolumes of a snapshot by the claims that were asked for.
type volumeIndex struct {
	snap    *snapshot.Snapshot
	byClaim map[[2]string][]*object.Object
	// unknown contains the volumes with an unknown outcome, and deleted those that are deleted for
	// another reason than their reclaim policy.
	unknown map[object.Ref]*report.Effect
	deleted map[object.Ref]bool
	// incomplete is the reason why there may be other volumes. Empty if there are none.
	incomplete string
}

func (s storage) indexVolumes(effects []report.Effect, claims ...object.Ref) volumeIndex {
	all := volumeIndex{
		snap: s.snap, byClaim: make(map[[2]string][]*object.Object, len(claims)), unknown: map[object.Ref]*report.Effect{}, deleted: map[object.Ref]bool{},
	}
	for _, c := range claims {
		all.byClaim[[2]string{c.Namespace, c.Name}] = nil
	}
	for i := range effects {
		switch e := &effects[i]; {
		case !e.Object.Is(object.PV):
		case e.Reason == string(reason.VolumeUnknown):
			all.unknown[e.Object] = e
		case e.Outcome != report.Kept && e.Reason != string(reason.VolumeReclaimed):
			all.deleted[e.Object] = true
		}
	}
	for same := range s.snap.ByKind() {
		if !same[0].Is(object.PV) {
			continue
		}
		for _, o := range same {
			v := o.Volume()
			if v == nil {
				all.incomplete = "the dump does not show what the volumes are bound to"
				continue
			}
			at := [2]string{v.ClaimNamespace, v.ClaimName}
			if list, asked := all.byClaim[at]; asked {
				all.byClaim[at] = append(list, o)
			}
		}
	}
	if !s.snap.Covers(object.PV.Resource(), "") {
		all.incomplete = "persistentvolumes: " + s.snap.Why(object.PV.Resource(), "")
	}
	return all
}

// storageOfClaim returns the storage behind a claim. It returns false if there is none. The volume
// decides, and the volume name in the claim is ignored.
//
// Upstream: pkg/controller/volume/persistentvolume/pv_controller.go syncVolume, reclaimVolume.
func (all volumeIndex) storageOfClaim(claim object.Ref) (report.Storage, bool) {
	for _, o := range all.byClaim[[2]string{claim.Namespace, claim.Name}] {
		v := o.Volume()
		if v.ClaimUID != "" && claim.UID != "" && v.ClaimUID != claim.UID {
			continue
		}
		volume := o.Ref
		found := report.Storage{Claim: &claim, Volume: &volume, ReclaimPolicy: v.ReclaimPolicy}
		switch open := all.unknown[volume]; {
		case open != nil:
			found.Outcome, found.Message = report.Unknown, object.WithoutCode(open.Message)
		case v.ReclaimPolicy == controllers.ReclaimDelete && all.deleted[volume] && !keepsUntilStorageGone(o):
			found.Outcome, found.Message = report.Unknown, noDeleterKnown
		case v.ReclaimPolicy == controllers.ReclaimDelete:
			found.Outcome, found.Message = report.Deleted, "deleted with the PVC"
		case v.ReclaimPolicy == controllers.ReclaimRecycle:
			found.Outcome, found.Message = report.Deleted, "wiped when the PVC is gone"
		case v.ReclaimPolicy == controllers.ReclaimRetain:
			found.Outcome, found.Message = report.Kept, "stays when the PVC is gone"
		default:
			found.Outcome, found.Message = report.Unknown, policyUnknown(v.ReclaimPolicy)
		}
		return found, true
	}
	if all.incomplete != "" {
		return report.Storage{Claim: &claim, Outcome: report.Unknown, Message: "not known, nor whether there is any: " + all.incomplete}, true
	}
	return report.Storage{}, false
}

// storageOfVolume returns the storage behind a volume that is deleted without its claim. The
// finalizer that waits for the storage shows whether a controller deletes it.
//
// Rule: spec §7.1; KEP-2644.
func (all volumeIndex) storageOfVolume(volume object.Ref) report.Storage {
	found := report.Storage{Volume: &volume, Outcome: report.Unknown}
	o := all.snap.Find(volume.APIVersion, volume.Kind, volume.Namespace, volume.Name)
	if o == nil || o.UID != volume.UID || o.Volume() == nil {
		found.Message = policyUnknown("")
		return found
	}
	found.ReclaimPolicy = o.Volume().ReclaimPolicy
	switch {
	case found.ReclaimPolicy == controllers.ReclaimRetain:
		found.Outcome, found.Message = report.Kept, "stays when the volume is gone"
	case found.ReclaimPolicy != controllers.ReclaimDelete:
		found.Message = policyUnknown(found.ReclaimPolicy)
	case keepsUntilStorageGone(o):
		found.Outcome, found.Message = report.Deleted, "deleted before the volume is gone"
	default:
		found.Message = noDeleterKnown
	}
	return found
}

const noDeleterKnown = "unknown: no finalizer of the volume shows that its storage is deleted"

// keepsUntilStorageGone reports whether a deleted volume stays until a controller has deleted the
// storage behind it. The controller leaves the storage of a deleted volume without that finalizer
// alone.
//
// Rule: KEP-2644.
func keepsUntilStorageGone(volume *object.Object) bool {
	return volume.HasFinalizer("external-provisioner.volume.kubernetes.io/finalizer") || volume.HasFinalizer("kubernetes.io/pv-controller")
}

func policyUnknown(policy string) string {
	if policy == "" {
		return "not known: the reclaim policy of the volume is not shown"
	}
	return fmt.Sprintf("not known: the reclaim policy %q is none of Kubernetes", policy)
}

// StorageOf returns what a delete of a claim or volume does to the storage behind it. It returns
// false for other objects, and for a claim without a volume.
func StorageOf(snap *snapshot.Snapshot, o *object.Object) (report.Storage, bool) {
	ref := o.Ref
	switch s := (storage{snap: snap}); {
	case o.Is(object.PVC):
		return s.indexVolumes(nil, ref).storageOfClaim(ref)
	case o.Is(object.PV):
		return s.indexVolumes(nil).storageOfVolume(ref), true
	default:
		return report.Storage{}, false
	}
}
