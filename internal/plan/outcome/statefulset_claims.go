package outcome

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// addClaimsLeft adds the claims that a deleted StatefulSet created for its pods and that stay, with the
// data in them. Claims that its retention policy deletes refer to the set or to its pods, so the
// collector handles them.
//
// Upstream: pkg/controller/statefulset/stateful_pod_control.go createPersistentVolumeClaims,
// ClaimsMatchRetentionPolicy.
// Upstream: pkg/controller/statefulset/stateful_set_utils.go isClaimOwnerUpToDate.
// Rule: spec §7.1, S235, S236.
func (j *Judge) addClaimsLeft(all *Outcomes) {
	j.eachClaimLeft(all, func(out *Outcome, claim *object.Object, _ *claims) {
		j.set(all, claim, &Outcome{
			Track: &Track{First: claim, Last: claim}, Result: report.Kept, Reason: string(reason.PVCLeft),
			Because: []object.Ref{out.Track.First.Ref}, AlreadyHappening: out.AlreadyHappening,
		})
	})
}

// addClaimsPending adds the claims that a deleted StatefulSet deletes by its retention policy, and that do not
// refer to it yet. Its controller adds the reference to the claims of existing pods if it gets to it before the
// delete. A delete that orphans the pods removes that reference again.
//
// Upstream: pkg/controller/statefulset/stateful_pod_control.go StatefulPodControl.UpdatePodClaimForRetentionPolicy.
// Upstream: pkg/controller/statefulset/stateful_set_utils.go hasStaleOwnerRef, hasUnexpectedController.
// Upstream: pkg/controller/statefulset/stateful_set_control.go defaultStatefulSetControl.updateStatefulSet.
func (j *Judge) addClaimsPending(all *Outcomes) {
	if j.Health != nil && j.Health.Assessment != nil && j.Health.Assessment.ManagerLeaseExpired() {
		return
	}
	orphaning := map[types.UID]bool{} // the objects that have orphaned a dependent
	for _, out := range all.All() {
		if by := out.Track.orphanedBy; by != nil {
			orphaning[by.UID] = true
		}
	}
	j.eachClaimLeft(all, func(out *Outcome, claim *object.Object, known *claims) {
		set := out.Track.First
		_, controlled := claim.Controller()
		stale := slices.ContainsFunc(claim.Owners, func(r object.OwnerReference) bool { return r.Kind == set.Kind && r.Name == set.Name })
		if facts := set.StatefulSet(); facts == nil || !facts.DeletesClaims || set.BeingDeleted() || controlled || stale ||
			!slices.Contains(known.usedBy(set.UID), claim.Name) || orphaning[set.UID] {
			return
		}
		pending := &Outcome{Track: &Track{First: claim, Last: claim}, Because: []object.Ref{set.Ref}, AlreadyHappening: out.AlreadyHappening}
		pending.MarkUnknown(reason.PVCOwnerPending)
		j.set(all, claim, pending)
	})
}

// eachClaimLeft calls do for each claim of a deleted StatefulSet that has no outcome yet and is not being deleted.
func (j *Judge) eachClaimLeft(all *Outcomes, do func(set *Outcome, claim *object.Object, known *claims)) {
	var sets []*Outcome
	for _, out := range all.All() {
		if o := out.Track.First; o.Is(object.StatefulSet) && (out.Result == report.Deleted || out.Result == report.Blocked) {
			sets = append(sets, out)
		}
	}
	slices.SortFunc(sets, func(a, b *Outcome) int { return object.Compare(a.Track.First.Ref, b.Track.First.Ref) })
	known := claims{j: j, in: map[string]*namedClaims{}}
	for _, out := range sets {
		for _, o := range known.madeBy(out.Track.First) {
			if !o.BeingDeleted() && j.OfObject(all, o) == nil {
				do(out, o, &known)
			}
		}
	}
}

// claims finds the claims of StatefulSets. It reads each namespace once, and the pods once.
type claims struct {
	j  *Judge
	in map[string]*namedClaims
	// used has the names of the claims that pods use, by the uids of their controllers; computed on
	// first use.
	used map[types.UID][]string
}

// namedClaims indexes the claims of one namespace.
type namedClaims struct {
	byName map[string][]*object.Object
	// numbered has those with a number at the end of the name, by the rest: data-db-3 under data-db.
	numbered map[string][]*object.Object
}

// madeBy returns the claims that a StatefulSet created for its pods, whatever their numbers. If the
// snapshot lacks its claim templates, the claims that its pods use are returned.
//
// Upstream: pkg/controller/statefulset/stateful_set_utils.go getPersistentVolumeClaimName.
func (c *claims) madeBy(set *object.Object) []*object.Object {
	var list []*object.Object
	there := c.namedIn(set.Namespace)
	if facts := set.StatefulSet(); facts != nil {
		for _, template := range facts.ClaimTemplates {
			list = append(list, there.numbered[template+"-"+set.Name]...)
		}
		return list
	}
	for _, name := range c.usedBy(set.UID) {
		list = append(list, there.byName[name]...)
	}
	return list
}

// namedIn returns the claims that exist in a namespace, computed on first use.
func (c *claims) namedIn(namespace string) *namedClaims {
	if named := c.in[namespace]; named != nil {
		return named
	}
	named := &namedClaims{byName: map[string][]*object.Object{}, numbered: map[string][]*object.Object{}}
	for _, o := range c.j.Snap.In(object.PVC.GroupResource(), namespace) {
		if o = c.j.Tracks.Now(o); o == nil {
			continue
		}
		named.byName[o.Name] = append(named.byName[o.Name], o)
		if i := strings.LastIndexByte(o.Name, '-'); i >= 0 && i < len(o.Name)-1 && strings.Trim(o.Name[i+1:], "0123456789") == "" {
			named.numbered[o.Name[:i]] = append(named.numbered[o.Name[:i]], o)
		}
	}
	c.in[namespace] = named
	return named
}

// usedBy returns the names of the claims that the pods of a controller use.
func (c *claims) usedBy(controller types.UID) []string {
	if c.used == nil {
		c.used = map[types.UID][]string{}
		for _, o := range c.j.Snap.Objects {
			by, controlled := o.Controller()
			if pod := o.Pod(); pod != nil && controlled {
				for _, claim := range pod.Claims {
					c.used[by.UID] = append(c.used[by.UID], claim.Name)
				}
			}
		}
	}
	return c.used[controller]
}
