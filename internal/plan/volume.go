package plan

import (
	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// released tells whether the claim of a volume went in this simulation, and what the
// policy asks for was done.
func released(tr *track) bool {
	first := tr.first.Volume()
	return first != nil && first.Bound() && tr.last != nil && tr.last.Volume() != nil && !tr.last.Volume().Bound()
}

// staysReleased tells whether the reason is one of volumes that stay: though they are
// cluster-scoped, nothing goes because of them.
func staysReleased(reason string) bool {
	return reason == string(VolumeRetained) || reason == string(VolumeRecycled)
}

// releasedFate is a volume that stays when its claim has gone.
func (s *simulation) releasedFate(f *fate) {
	f.outcome, f.reason, f.because = report.Kept, string(VolumeRetained), s.claimOf(f.track.first)
	if f.track.first.Volume().ReclaimPolicy == controllers.ReclaimRecycle {
		f.reason = string(VolumeRecycled)
	}
	f.assumptions = append(f.assumptions, "the PV controller runs")
}

// claimOf is the claim that a volume belonged to at first.
func (s *simulation) claimOf(volume *object.Object) []object.Ref {
	facts := volume.Volume()
	if facts == nil || facts.ClaimName == "" {
		return nil
	}
	return []object.Ref{{
		APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: facts.ClaimNamespace, Name: facts.ClaimName, UID: facts.ClaimUID,
	}}
}

// doubtFollowers puts volumes and tokens into the plan of which it is not known what
// becomes of them, with what they own, and claims and accounts among that with theirs.
func (s *simulation) doubtFollowers(all fates) {
	for {
		added := append(s.addVolumes(all), s.addTokens(all)...)
		if len(added) == 0 {
			return
		}
		s.doubtFrom(all, added)
	}
}

// addVolumes adds the volumes of which it is not known what becomes of them: their claim
// goes, and what then happens is not known, or it is not known whether the claim goes.
// Of a claim that goes it says so if its volume may not have been seen.
func (s *simulation) addVolumes(all fates) (added []*fate) {
	seen := map[object.Ref]bool{}
	for _, o := range s.recorder.ObjectsOf(object.PV.GroupResource(), "") {
		claim := s.claimOf(o)
		if len(claim) == 0 {
			continue
		}
		seen[claim[0]] = true
		claimed := s.fateIn(all, claim[0])
		if claimed == nil || !o.Volume().Bound() || s.fateIn(all, o.Ref) != nil {
			continue
		}
		f := &fate{track: &track{first: o, last: o}, because: claim, baseline: claimed.baseline}
		f.doubt(VolumeUnknown)
		switch claimed.outcome {
		case report.Deleted:
			w, _ := s.rest.waits(o.Ref)
			f.detail = w.detail
		case report.Unknown:
			if o.Volume().ReclaimPolicy == controllers.ReclaimRetain {
				continue
			}
			f.detail = "whether its claim goes is not known"
		case report.Blocked, report.Kept, report.Pruned, report.Orphaned:
			continue
		}
		all[s.tracks.key(o.Ref)] = f
		added = append(added, f)
	}
	if s.snap.Covers(object.PV.Resource(), "") {
		return added
	}
	for _, f := range all {
		if o := f.track.first; f.outcome == report.Deleted && o.Is(object.PVC) && !seen[o.Ref] {
			f.detail = "whether a volume and the storage behind it go, too, is not known"
		}
	}
	return added
}
