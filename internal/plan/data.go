package plan

import (
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan/outcome"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// storage says what becomes of the data that a plan is about.
type storage struct {
	snap     *snapshot.Snapshot
	collects bool
}

// addTo marks the kinds that hold data, and says what becomes of storage.
func (s storage) addTo(p *report.Plan) {
	for i := range p.Summary.ByKind {
		c := &p.Summary.ByKind[i]
		c.Data = s.dataOf(c.APIVersion, c.Kind)
	}
	p.Storage = s.behind(p.Effects)
}

func (s storage) dataOf(apiVersion, kind string) report.Data {
	if object.GroupOf(apiVersion) == "" {
		switch kind {
		case resourceClaimKind, volumeKind:
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
	resourceClaimKind = "PersistentVolumeClaim"
	volumeKind        = "PersistentVolume"
)

// behind says what becomes of the storage behind the claims and volumes that the
// seed takes, or may take, and of claims that a StatefulSet leaves. A claim without a volume has none.
func (s storage) behind(effects []report.Effect) []report.Storage {
	var going []*report.Effect
	for i := range effects {
		if e := &effects[i]; (s.takes(e) || e.Reason == string(reason.PVCLeft)) && s.dataOf(e.Object.APIVersion, e.Object.Kind) == report.VolumeData {
			going = append(going, e)
		}
	}
	if len(going) == 0 {
		return nil
	}
	var claims []report.Ref
	for _, e := range going {
		if e.Object.Is(object.PVC) {
			claims = append(claims, e.Object)
		}
	}
	all := s.volumes(effects, claims...)
	ofClaim, named := map[*report.Effect]report.Storage{}, map[report.Ref]bool{}
	for _, e := range going {
		if !e.Object.Is(object.PVC) {
			continue
		}
		if found, some := all.behind(e.Object); some {
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
			list = append(list, all.alone(e.Object))
		}
	}
	return list
}

// takes reports whether the seed deletes the object, or may.
func (s storage) takes(e *report.Effect) bool {
	switch e.Outcome {
	case report.Deleted, report.Blocked, report.Unknown:
		return !e.AlreadyHappening || s.collects
	default:
		return false
	}
}

// seenVolumes are the PersistentVolumes of a snapshot, as far as it was asked for their claims.
type seenVolumes struct {
	snap    *snapshot.Snapshot
	byClaim map[[2]string][]*object.Object
	// unknown has the volumes of which it is not known what becomes of them, and deleted
	// those that somebody deletes without waiting for the claim.
	unknown map[report.Ref]*report.Effect
	deleted map[report.Ref]bool
	// unseen says what speaks against there being no other volumes.
	unseen string
}

func (s storage) volumes(effects []report.Effect, claims ...report.Ref) seenVolumes {
	all := seenVolumes{
		snap: s.snap, byClaim: make(map[[2]string][]*object.Object, len(claims)), unknown: map[report.Ref]*report.Effect{}, deleted: map[report.Ref]bool{},
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
				all.unseen = "the dump does not show what the volumes are bound to"
				continue
			}
			at := [2]string{v.ClaimNamespace, v.ClaimName}
			if list, asked := all.byClaim[at]; asked {
				all.byClaim[at] = append(list, o)
			}
		}
	}
	if !s.snap.Covers(object.PV.Resource(), "") {
		all.unseen = "persistentvolumes: " + s.snap.Why(object.PV.Resource(), "")
	}
	return all
}

// behind is the storage behind a claim; false when there is none. What the claim
// itself says of its volume does not count: the volume has the last word.
//
// Upstream: pkg/controller/volume/persistentvolume/pv_controller.go syncVolume, reclaimVolume.
func (all seenVolumes) behind(claim report.Ref) (report.Storage, bool) {
	for _, o := range all.byClaim[[2]string{claim.Namespace, claim.Name}] {
		v := o.Volume()
		if v.ClaimUID != "" && claim.UID != "" && v.ClaimUID != claim.UID {
			continue
		}
		volume := report.RefOf(o.Ref)
		found := report.Storage{Claim: &claim, Volume: &volume, ReclaimPolicy: v.ReclaimPolicy}
		switch open := all.unknown[volume]; {
		case open != nil:
			found.Outcome, found.Message = report.Unknown, outcome.PlainWhy(open.Message)
		case v.ReclaimPolicy == controllers.ReclaimDelete && all.deleted[volume] && !keepsUntilStorageGone(o):
			found.Outcome, found.Message = report.Unknown, nobodyDeletes
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
	if all.unseen != "" {
		return report.Storage{Claim: &claim, Outcome: report.Unknown, Message: "not known, nor whether there is any: " + all.unseen}, true
	}
	return report.Storage{}, false
}

// alone is the storage behind a volume that goes, and whose claim does not.
// Whoever has the storage deleted is seen by the finalizer that waits for it.
//
// Rule: spec §7.1; KEP-2644.
func (all seenVolumes) alone(volume report.Ref) report.Storage {
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
		found.Message = nobodyDeletes
	}
	return found
}

const nobodyDeletes = "unknown: no finalizer of the volume shows that its storage is deleted"

// keepsUntilStorageGone reports whether a volume that is deleted stays until somebody has
// deleted the storage behind it. Who finds it deleted and without that finalizer leaves the
// storage alone.
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
