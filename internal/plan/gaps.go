package plan

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan/outcome"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// addGaps adds to a plan the gaps in the namespaces that it touches, and the objects whose controllers
// delete more than it lists. It sets Complete if none of that could change what the request does. Gaps
// that could only change what happens anyway elsewhere don't count.
func (s *simulation) addGaps(p *report.Plan) {
	namespaces := s.touchedNamespaces(p)
	if namespaces == nil {
		p.Complete = true
		return
	}
	affected, goes, unknown := affectedUIDs{plan: p}, deletedUIDs{plan: p}, false
	var u Unseen
	along := s.snap.Cursor()
	for i := range p.Effects {
		e := &p.Effects[i]
		o := along.Find(e.Object)
		if e.IsDeleted() && o != nil && o.UID == e.Object.UID {
			s.addMade(p, &goes, o)
			s.addUnlisted(&u, p, o)
		}
		if s.seed.Verb != Collect && e.AlreadyHappening && !affected.has(e.Object.UID) && (o == nil || !affected.hasAffectedOwner(o)) {
			continue
		}
		unknown = unknown || e.Outcome == report.Unknown
		if o != nil {
			s.addUnseenFor(&u, e, o)
		}
	}
	s.addUnlistedOfUninstall(&u, p)
	switch {
	case len(s.snap.Gaps) == 0:
	case s.seed.Verb == Collect:
		s.addUnseenKeepers(&u)
	default:
		s.addUnseenCoOwners(&u, &affected)
	}
	gaps, open := u.Gaps(s.snap, func(ns string) bool { return namespaces[ns] })
	if s.seed.Verb == Collect {
		open = markUnreadGaps(gaps) || open
	}
	p.Gaps = append(p.Gaps, gaps...)
	p.Complete = !unknown && !open && len(p.Unlisted) == 0
}

// deletedUIDs contains the UIDs of the objects that a plan deletes, computed on first use.
type deletedUIDs struct {
	plan *report.Plan
	uids map[types.UID]bool
}

func (d *deletedUIDs) has(uid types.UID) bool {
	if d.uids == nil {
		d.uids = map[types.UID]bool{}
		for i := range d.plan.Effects {
			if e := &d.plan.Effects[i]; e.IsDeleted() {
				d.uids[e.Object.UID] = true
			}
		}
	}
	return d.uids[uid]
}

// affectedUIDs contains the UIDs of the targets and of the objects that the request affects,
// computed on first use. It lacks objects that are unknown without the request too: whether the
// request affects them depends on their owners. See hasAffectedOwner.
type affectedUIDs struct {
	plan *report.Plan
	uids map[types.UID]bool
}

func (x *affectedUIDs) has(uid types.UID) bool {
	if x.uids == nil {
		x.uids = map[types.UID]bool{}
		for _, t := range x.plan.Seed.Targets {
			x.uids[t.UID] = true
		}
		for i := range x.plan.Effects {
			if e := &x.plan.Effects[i]; !e.AlreadyHappening {
				x.uids[e.Object.UID] = true
			}
		}
	}
	return x.uids[uid]
}

// hasAffectedOwner reports whether an owner of an object is affected.
func (x *affectedUIDs) hasAffectedOwner(o *object.Object) bool {
	return slices.ContainsFunc(o.Owners, func(ref object.OwnerReference) bool { return x.has(ref.UID) })
}

// touchedNamespaces returns the namespaces of the objects that change. nil if the server refuses
// every request.
func (s *simulation) touchedNamespaces(p *report.Plan) map[string]bool {
	namespaces, refused := map[string]bool{}, map[object.Ref]bool{}
	for i := range p.Effects {
		switch e := &p.Effects[i]; {
		case e.Reason == string(reason.RequestRefused):
			refused[e.Object] = true
		case !outcome.LeadsToNothing(e.Reason):
			namespaces[e.Object.Namespace] = true
		}
	}
	for _, t := range p.Seed.Targets {
		if !refused[t] {
			namespaces[t.Namespace] = true
		}
	}
	if len(refused) > 0 && len(namespaces) == 0 {
		return nil
	}
	return namespaces
}

// addUnseenFor adds to u the unseen objects that could change an effect, or that could follow from
// it.
func (s *simulation) addUnseenFor(u *Unseen, e *report.Effect, o *object.Object) {
	switch {
	case e.Reason == string(reason.RequestRefused), outcome.LeadsToNothing(e.Reason):
		return
	case slices.Contains(e.Assumptions, outcome.Nowhere):
		u.Everywhere()
	}
	goes := e.Outcome != report.Kept && e.Outcome != report.Pruned
	if e.Outcome == report.Unknown || goes && s.seed.Verb != Collect {
		u.Owners(s.snap, o) // an unseen owner that waits for the object is deleted after it
	}
	if !goes || e.Outcome == report.Orphaned {
		u.Above(s.snap, o)
	}
	if goes && o.Pod() != nil && s.snap.Conditionless() {
		u.Of(s.snap, object.Node.Resource(), "") // a kubelet that does not report ends no pod
	}
	if e.BlockedBy != nil {
		for _, ref := range e.BlockedBy.Dependents {
			if d := s.snap.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name); d != nil {
				u.Around(s.snap, d) // whatever deletes the dependent releases the object
			}
		}
	}
	switch {
	case !goes:
	case o.Is(object.Namespace):
		u.In(o.Name)
		if s.seed.Verb != Collect {
			u.Everywhere() // dependents of a cluster-scoped object may be in any namespace
		}
	case o.Is(object.CRD):
		u.Everywhere()
	case s.seed.Verb != Collect, o.HandlesDependents(), e.Outcome == report.Unknown && o.HasFinalizer(object.Orphan):
		u.In(o.Namespace)
		if o.Is(object.Service) {
			u.Of(s.snap, object.IPAddress.Resource(), "")
		}
		if o.Is(object.PVC) {
			u.Of(s.snap, object.PV.Resource(), "")
		}
	}
}

// addUnseenKeepers adds to u the unseen objects that could decide about an object in the scope of
// the collection: an unseen owner would keep it, so that it only loses its references to absent
// owners, and an unseen namespace, node or account could cause its deletion.
func (s *simulation) addUnseenKeepers(u *Unseen) {
	for _, o := range s.snap.Objects {
		if !s.notAskedFor(o) {
			u.Owners(s.snap, o)
			u.Around(s.snap, o)
		}
	}
}

// addUnseenCoOwners adds to u the other owners of each object that refers to an affected object.
func (s *simulation) addUnseenCoOwners(u *Unseen, affected *affectedUIDs) {
	for _, o := range s.snap.Objects {
		if affected.hasAffectedOwner(o) {
			u.Owners(s.snap, o)
		}
	}
}

// markUnreadGaps marks the gaps that exist because a list failed, and reports whether there are
// any. A collection is asked for all garbage that can be seen, and these lists would have shown
// more.
func markUnreadGaps(gaps []report.Gap) (found bool) {
	for i := range gaps {
		code, _, _ := strings.Cut(gaps[i].Why, ":")
		if code != string(reason.NotInDump) && code != string(reason.LeftOut) {
			gaps[i].Matters, found = true, true
		}
	}
	return found
}
