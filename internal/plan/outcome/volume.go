package outcome

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// VolumeReleased reports whether the claim of a volume went in this simulation, and what the
// policy asks for was done.
func VolumeReleased(tr *Track) bool {
	first := tr.First.Volume()
	return first != nil && first.Bound() && tr.Last != nil && tr.Last.Volume() != nil && !tr.Last.Volume().Bound()
}

// LeadsToNothing reports whether the reason is one of volumes that stay, or of what a controller
// rewrites: though it may be cluster-scoped, nothing goes because of it.
func LeadsToNothing(code string) bool {
	_, rewritten := Rewriter(code)
	return rewritten || code == string(reason.VolumeRetained) || code == string(reason.VolumeRecycled)
}

// judgeReleased is a volume that stays when its claim has gone.
func (j *Judge) judgeReleased(out *Outcome) {
	out.Result, out.Reason, out.Because = report.Kept, string(reason.VolumeRetained), ClaimOf(out.Track.First)
	if out.Track.First.Volume().ReclaimPolicy == controllers.ReclaimRecycle {
		out.Reason = string(reason.VolumeRecycled)
	}
	out.Assumptions = append(out.Assumptions, "the PV controller runs")
}

// ClaimOf is the claim that a volume belonged to at first.
func ClaimOf(volume *object.Object) []object.Ref {
	facts := volume.Volume()
	if facts == nil || facts.ClaimName == "" {
		return nil
	}
	return []object.Ref{{
		APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: facts.ClaimNamespace, Name: facts.ClaimName, UID: facts.ClaimUID,
	}}
}

// markFollowers puts volumes, tokens and pods into the plan of which it is not known what
// becomes of them, with what they own, and claims and accounts among that with theirs.
func (j *Judge) markFollowers(all *Outcomes) {
	for {
		added := slices.Concat(j.addVolumes(all), j.addTokens(all), j.addPods(all), j.addNameless(all), j.addSuccessors(all))
		if len(added) == 0 {
			return
		}
		j.propagateFrom(all, added)
	}
}

// addVolumes adds the volumes of which it is not known what becomes of them: their claim
// goes, and what then happens is not known, or it is not known whether the claim goes.
// Of a claim that goes it says so if its volume may not have been seen.
func (j *Judge) addVolumes(all *Outcomes) (added []*Outcome) {
	if all.Len() == 0 {
		return nil // nothing becomes of any claim
	}
	seen, whole := map[object.Ref]bool{}, j.Snap.Covers(object.PV.Resource(), "")
	for _, o := range j.Server.ObjectsOf(object.PV.GroupResource(), "") {
		claim := ClaimOf(o)
		if len(claim) == 0 {
			continue
		}
		if !whole {
			seen[claim[0]] = true
		}
		if !o.Volume().Bound() || j.OfObject(all, o) != nil {
			continue
		}
		claimed := j.Of(all, claim[0])
		if claimed == nil {
			continue
		}
		out := &Outcome{Track: &Track{First: o, Last: o}, Because: claim, AlreadyHappening: claimed.AlreadyHappening}
		out.MarkUnknown(reason.VolumeUnknown)
		switch claimed.Result {
		case report.Deleted:
			w, _ := j.waits(o.Ref)
			out.Detail = w.detail
		case report.Unknown:
			if o.Volume().ReclaimPolicy == controllers.ReclaimRetain {
				continue
			}
			out.Detail = "whether its PVC goes is not known"
		case report.Blocked, report.Kept, report.Pruned, report.Orphaned:
			continue
		}
		j.set(all, o, out)
		if o.Volume().ReclaimPolicy != controllers.ReclaimRecycle { // which stays, whatever is done to it
			added = append(added, out)
		}
	}
	if whole {
		return added
	}
	for _, out := range all.All() {
		if o := out.Track.First; out.Result == report.Deleted && o.Is(object.PVC) && !seen[o.Ref] {
			out.Detail = "whether a volume and the storage behind it go, too, is not known"
		}
	}
	return added
}

// ClaimUnknown reports whether it is not known if the claim of a volume goes.
func (j *Judge) ClaimUnknown(all *Outcomes, volume *Outcome) bool {
	return slices.ContainsFunc(ClaimOf(volume.Track.First), func(claim object.Ref) bool {
		out := j.Of(all, claim)
		return out != nil && out.Result == report.Unknown
	})
}
