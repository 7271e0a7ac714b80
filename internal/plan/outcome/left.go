package outcome

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// addLeft puts claims into the plan that a StatefulSet which goes has made for its pods
// and that stay, with the data in them. Those that its retention policy deletes refer to
// it or to its pods, and the collector takes them.
//
// Upstream: pkg/controller/statefulset/stateful_pod_control.go createPersistentVolumeClaims,
// ClaimsMatchRetentionPolicy.
// Upstream: pkg/controller/statefulset/stateful_set_utils.go isClaimOwnerUpToDate.
// Rule: spec §7.1, S235, S236.
func (j *Judge) addLeft(all Outcomes) {
	var sets []*Outcome
	for _, out := range all {
		if o := out.Track.First; o.Is(object.StatefulSet) && (out.Result == report.Deleted || out.Result == report.Blocked) {
			sets = append(sets, out)
		}
	}
	slices.SortFunc(sets, func(a, b *Outcome) int { return object.Compare(a.Track.First.Ref, b.Track.First.Ref) })
	for _, out := range sets {
		set := out.Track.First
		made := j.claimsMadeBy(set)
		for _, o := range j.Server.ObjectsOf(object.PVC.GroupResource(), set.Namespace) {
			if made(o.Name) && !o.BeingDeleted() && j.Of(all, o.Ref) == nil {
				all[j.Tracks.Key(o.Ref)] = &Outcome{
					Track: &Track{First: o, Last: o}, Result: report.Kept, Reason: string(reason.PVCLeft),
					Because: []object.Ref{set.Ref}, AlreadyHappening: out.AlreadyHappening,
				}
			}
		}
	}
}

// claimsMadeBy tells of the name of a claim whether a StatefulSet has made it. Where the
// snapshot does not show for which volumes it makes claims, its pods say which they use.
func (j *Judge) claimsMadeBy(set *object.Object) func(claim string) bool {
	if facts := set.StatefulSet(); facts != nil {
		return func(claim string) bool { return facts.Made(set.Name, claim) }
	}
	used := map[string]bool{}
	for _, o := range j.Snap.Objects {
		by, controlled := o.Controller()
		if pod := o.Pod(); pod != nil && controlled && by.UID == set.UID {
			for _, c := range pod.Claims {
				used[c.Name] = true
			}
		}
	}
	return func(claim string) bool { return used[claim] }
}
