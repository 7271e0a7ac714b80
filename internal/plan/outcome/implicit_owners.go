package outcome

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// VolumeReleased reports whether the claim of a volume was deleted in this simulation, and the
// volume was released but stays.
func VolumeReleased(tr *Track) bool {
	first := tr.First.Volume()
	return first != nil && first.Bound() && tr.Last != nil && tr.Last.Volume() != nil && !tr.Last.Volume().Bound()
}

// LeadsToNothing reports whether a reason is that of a volume that stays, or of an object that a
// controller rewrites. These cause no deletion of other objects.
func LeadsToNothing(code string) bool {
	_, rewritten := Rewriter(code)
	return rewritten || code == string(reason.VolumeRetained) || code == string(reason.VolumeRecycled)
}

// judgeReleased sets the outcome of a volume that stays after its claim has gone.
func (j *Judge) judgeReleased(out *Outcome) {
	out.Result, out.Reason, out.Because = report.Kept, string(reason.VolumeRetained), ClaimOf(out.Track.First)
	if out.Track.First.Volume().ReclaimPolicy == controllers.ReclaimRecycle {
		out.Reason = string(reason.VolumeRecycled)
	}
	out.Assumptions = append(out.Assumptions, "the PV controller runs")
}

// ClaimOf returns the claim of a volume, as a slice of zero or one element.
func ClaimOf(volume *object.Object) []object.Ref {
	if owner, ok := volume.ImplicitOwner(); ok && owner.Kind == object.PVC {
		return []object.Ref{owner.Ref()}
	}
	return nil
}

// markFollowers adds the volumes, tokens and pods with an unknown outcome, and what they own. It
// repeats until nothing is added, because a claim or an account may be among these.
func (j *Judge) markFollowers(all *Outcomes) {
	for {
		added := slices.Concat(j.addVolumes(all), j.addTokens(all), j.addPods(all), j.addNameless(all), j.addSuccessors(all))
		if len(added) == 0 {
			return
		}
		j.propagateFrom(all, added)
	}
}

// addVolumes adds the volumes with an unknown outcome: the claim goes, but the reclaim policy or
// its effect is unknown, or it is unknown whether the claim goes. A deleted claim gets a detail if
// the snapshot may lack its volume.
func (j *Judge) addVolumes(all *Outcomes) (added []*Outcome) {
	if all.Len() == 0 {
		return nil // no claim has an outcome
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
			w, _ := j.waitOf(o.Ref)
			out.Detail = w.detail
		case report.Unknown:
			if o.Volume().ReclaimPolicy == controllers.ReclaimRetain {
				continue
			}
			out.Detail = "unknown whether its PVC is deleted"
		case report.Blocked, report.Kept, report.Pruned, report.Orphaned:
			continue
		}
		j.set(all, o, out)
		if o.Volume().ReclaimPolicy != controllers.ReclaimRecycle { // a recycled volume stays
			added = append(added, out)
		}
	}
	if whole {
		return added
	}
	for _, out := range all.All() {
		if o := out.Track.First; out.Result == report.Deleted && o.Is(object.PVC) && !seen[o.Ref] {
			out.Detail = "unknown whether a volume and the storage behind it are deleted, too"
		}
	}
	return added
}

// ClaimUnknown reports whether the outcome of a volume's claim is unknown.
func (j *Judge) ClaimUnknown(all *Outcomes, volume *Outcome) bool {
	return slices.ContainsFunc(ClaimOf(volume.Track.First), func(claim object.Ref) bool {
		out := j.Of(all, claim)
		return out != nil && out.Result == report.Unknown
	})
}

// accountOf returns the ServiceAccount of a Secret that is or may be its token. The reference has no
// uid if neither the token nor the snapshot has it.
func (j *Judge) accountOf(o *object.Object) (ref object.Ref, ok bool) {
	t := o.Token()
	if t == nil {
		return ref, false
	}
	if account := j.Snap.FindKind(object.ServiceAccount, o.Namespace, t.Account); account != nil && t.Of(account.Name, account.UID) {
		return account.Ref, true
	}
	owner, ok := o.ImplicitOwner()
	return owner.Ref(), ok
}

// revokedWith returns the ServiceAccount of a token that the tokens controller deleted; nil for other
// objects.
func (j *Judge) revokedWith(tr *Track) []object.Ref {
	account, ok := j.accountOf(tr.First)
	if !ok || j.Words.Text(tr.RemovedBy) != controllers.TokensName {
		return nil
	}
	return []object.Ref{account}
}

// addTokens adds the Secrets that may be deleted with a ServiceAccount: the outcome of the account is
// unknown, or the Secret may not be a token. A deleted account gets a detail if the snapshot may lack
// some of its tokens.
func (j *Judge) addTokens(all *Outcomes) (added []*Outcome) {
	for _, o := range j.Server.ObjectsOf(object.Secret.GroupResource(), "") {
		account, ok := j.accountOf(o)
		if !ok || o.BeingDeleted() {
			continue
		}
		of, out := j.Of(all, account), j.OfObject(all, o)
		if of == nil || of.Result != report.Unknown && (of.Result != report.Deleted || o.Token().Sure) {
			continue
		}
		if out == nil {
			out = &Outcome{Track: &Track{First: o, Last: o}, AlreadyHappening: of.AlreadyHappening}
			j.set(all, o, out)
		}
		if out.Result == report.Unknown || out.Track.Target {
			continue
		}
		out.MarkUnknown(reason.TokenUnknown)
		out.Because, out.Detail = []object.Ref{account}, "unknown whether that is deleted"
		if of.Result == report.Deleted {
			w, _ := j.waitOf(o.Ref)
			out.Detail = w.detail
		}
		added = append(added, out)
	}
	for _, out := range all.All() {
		if j.tokensNotSeen(out) {
			out.Detail = "unknown whether its tokens are deleted, too"
		}
	}
	return added
}

// tokensNotSeen reports whether out is a deleted ServiceAccount with tokens that the snapshot may
// lack. If its namespace goes, the tokens go with that.
func (j *Judge) tokensNotSeen(out *Outcome) bool {
	o := out.Track.First
	return out.Result == report.Deleted && o.Is(object.ServiceAccount) && !j.Snap.Covers(object.Secret.Resource(), o.Namespace) && len(j.containers(o)) == 0
}

// nodeOf returns the node that a pod is bound to, without a uid.
func nodeOf(o *object.Object) (object.Ref, bool) {
	if facts := o.Pod(); facts != nil && facts.NodeName != "" {
		return object.Node.Ref("", facts.NodeName), true
	}
	return object.Ref{}, false
}

// addPods adds the pods of nodes with an unknown outcome: pod GC deletes them if the node goes.
func (j *Judge) addPods(all *Outcomes) (added []*Outcome) {
	unknown := map[string]*Outcome{}
	for _, out := range all.All() {
		if out.Track.First.Is(object.Node) && out.Result == report.Unknown {
			unknown[out.Track.First.Name] = out
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	for _, o := range j.Server.ObjectsOf(object.Pod.GroupResource(), "") {
		node, ok := nodeOf(o)
		of, out := unknown[node.Name], j.OfObject(all, o)
		if !ok || of == nil || o.BeingDeleted() || out != nil && (out.Result == report.Unknown || out.Result == report.Deleted || out.Track.Target) {
			continue
		}
		if out == nil {
			out = &Outcome{Track: &Track{First: o, Last: o}, AlreadyHappening: of.AlreadyHappening}
			j.set(all, o, out)
		}
		out.MarkUnknown(reason.NodeUnknown)
		out.Because = []object.Ref{of.Track.First.Ref}
		added = append(added, out)
	}
	return added
}
