package plan

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
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
func (s *simulation) addLeft(all fates) {
	var sets []*fate
	for _, f := range all {
		if o := f.track.first; o.Is(object.StatefulSet) && (f.outcome == report.Deleted || f.outcome == report.Blocked) {
			sets = append(sets, f)
		}
	}
	slices.SortFunc(sets, func(a, b *fate) int { return object.Compare(a.track.first.Ref, b.track.first.Ref) })
	for _, f := range sets {
		set := f.track.first
		made := s.claimsMadeBy(set)
		for _, o := range s.recorder.ObjectsOf(object.PVC.GroupResource(), set.Namespace) {
			if made(o.Name) && !o.BeingDeleted() && s.fateIn(all, o.Ref) == nil {
				all[s.tracks.key(o.Ref)] = &fate{
					track: &track{first: o, last: o}, outcome: report.Kept, reason: string(ClaimLeft),
					because: []object.Ref{set.Ref}, baseline: f.baseline,
				}
			}
		}
	}
}

// claimsMadeBy tells of the name of a claim whether a StatefulSet has made it. Where the
// snapshot does not show for which volumes it makes claims, its pods say which they use.
func (s *simulation) claimsMadeBy(set *object.Object) func(claim string) bool {
	if facts := set.StatefulSet(); facts != nil {
		return func(claim string) bool { return facts.Made(set.Name, claim) }
	}
	used := map[string]bool{}
	for _, o := range s.snap.Objects {
		by, controlled := o.Controller()
		if pod := o.Pod(); pod != nil && controlled && by.UID == set.UID {
			for _, c := range pod.Claims {
				used[c.Name] = true
			}
		}
	}
	return func(claim string) bool { return used[claim] }
}
