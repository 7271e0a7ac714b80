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

// weigh lists what was not seen near a plan, and says whether it could change what the
// request does. What happens anyway elsewhere is not asked.
func (s *simulation) weigh(p *report.Plan) {
	near := s.touched(p)
	if near == nil {
		p.Complete = true
		return
	}
	ours, unknown := ours{plan: p}, false
	var u Unseen
	along := s.snap.Along()
	for i := range p.Effects {
		e := &p.Effects[i]
		o := along.Find(object.Ref(e.Object))
		if s.seed.Verb != Collect && e.AlreadyHappening && !ours.has(e.Object.UID) && (o == nil || !ours.own(o)) {
			continue
		}
		unknown = unknown || e.Outcome == report.Unknown
		if o != nil {
			s.restsOn(&u, e, o)
		}
	}
	switch {
	case len(s.snap.Gaps) == 0:
	case s.seed.Verb == Collect:
		s.stays(&u)
	default:
		s.lose(&u, &ours)
	}
	gaps, open := u.Gaps(s.snap, func(ns string) bool { return near[ns] })
	if s.seed.Verb == Collect {
		open = markUnread(gaps) || open
	}
	p.Gaps = append(p.Gaps, gaps...)
	p.Complete = !unknown && !open
}

// ours are the uids of the targets and of what the request has effects on, once somebody asks.
// Of what is not known anyway nobody can tell whether it has one: that hangs on its owners.
type ours struct {
	plan *report.Plan
	uids map[types.UID]bool
}

func (x *ours) has(uid types.UID) bool {
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

// own reports whether one of them is an owner of an object.
func (x *ours) own(o *object.Object) bool {
	return slices.ContainsFunc(o.Owners, func(ref object.OwnerReference) bool { return x.has(ref.UID) })
}

// touched are the namespaces of what changes; nil if the server refuses all that was
// asked for.
func (s *simulation) touched(p *report.Plan) map[string]bool {
	namespaces, refused := map[string]bool{}, map[report.Ref]bool{}
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

// restsOn says what could change an effect, or follow from it, that was not seen.
func (s *simulation) restsOn(u *Unseen, e *report.Effect, o *object.Object) {
	switch {
	case e.Reason == string(reason.RequestRefused), outcome.LeadsToNothing(e.Reason):
		return
	case slices.Contains(e.Assumptions, outcome.Nowhere):
		u.Everywhere()
	}
	goes := e.Outcome != report.Kept && e.Outcome != report.Pruned
	if e.Outcome == report.Unknown || goes && s.seed.Verb != Collect {
		u.Owners(s.snap, o) // one that waits for the object goes after it
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
				u.Around(s.snap, d) // what takes it lets the object go
			}
		}
	}
	switch {
	case !goes:
	case o.Is(object.Namespace):
		u.In(o.Name)
		if s.seed.Verb != Collect {
			u.Everywhere() // dependents of what has no namespace may be anywhere
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

// stays says what could take an object that was seen, or a reference of it, and was not: an
// object that has another owner stays, and may lose its references to these.
func (s *simulation) stays(u *Unseen) {
	for _, o := range s.snap.Objects {
		if !s.notAskedFor(o) {
			u.Owners(s.snap, o)
			u.Around(s.snap, o)
		}
	}
}

// lose says that the other owners matter of what refers to something that goes.
func (s *simulation) lose(u *Unseen, ours *ours) {
	for _, o := range s.snap.Objects {
		if ours.own(o) {
			u.Owners(s.snap, o)
		}
	}
}

// markUnread marks the gaps that are such because a list failed: what is asked for is all
// garbage that can be seen, and more was to be seen.
func markUnread(gaps []report.Gap) (found bool) {
	for i := range gaps {
		code, _, _ := strings.Cut(gaps[i].Why, ":")
		if code != string(reason.NotInDump) && code != string(reason.LeftOut) {
			gaps[i].Matters, found = true, true
		}
	}
	return found
}
