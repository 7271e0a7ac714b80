package plan

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/graph"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// blockedFate says what holds an object that is being deleted and is still
// there.
func (s *simulation) blockedFate(f *fate) {
	o := f.track.last
	f.outcome, f.blocked = report.Blocked, &report.BlockedBy{}
	for _, name := range o.Finalizers() {
		if name != object.Foreground && name != object.Orphan {
			f.blocked.Finalizers = append(f.blocked.Finalizers, name)
		}
	}
	if len(f.blocked.Finalizers) > 0 {
		f.reason = string(FinalizerRemains)
	}
	s.blockedByDependents(f, o)
	s.blockedByRest(f, o)
	s.blockedByRefusal(f, o)
	s.blockedByLate(f, o)
	if f.reason == "" {
		f.reason = string(DeletionMissed)
		f.blocked.Finalizers = slices.Clone(o.Finalizers())
	}
	if refused := f.track.refused; refused != nil && s.seed.Verb == RemoveFinalizer {
		f.detail = "the API server refuses the request: " + refused.Error()
	}
}

func (s *simulation) blockedByDependents(f *fate, o *object.Object) {
	g := s.collector.Graph()
	id, ok := g.Find(o.UID)
	if !ok {
		return
	}
	if o.HasFinalizer(object.Foreground) {
		blockers := g.BlockingDependents(id)
		for _, d := range blockers {
			f.blocked.Dependents = append(f.blocked.Dependents, report.RefOf(g.Identity(d)))
		}
		switch {
		case len(blockers) == 0:
		case len(blockers) == 1 && blockers[0] == id:
			f.setReason(WaitsForItself)
		default:
			f.setReason(BlockingDependents)
		}
	}
	if o.HasFinalizer(object.Orphan) && s.orphaning(o) {
		f.setReason(OrphaningFails)
		g.EachDependent(id, func(d graph.ID) bool {
			f.blocked.Dependents = append(f.blocked.Dependents, report.RefOf(g.Identity(d)))
			return true
		})
	}
}

// orphaning tells whether the collector still tries to release the dependents.
func (s *simulation) orphaning(o *object.Object) bool {
	return slices.ContainsFunc(s.collector.Deferred(engine.OrphanWork), func(r object.Ref) bool { return r.UID == o.UID })
}

// blockedByRest says what the other deleters of the cluster wait for.
func (s *simulation) blockedByRest(f *fate, o *object.Object) {
	if pod := o.Pod(); pod != nil && o.GracePeriod() != nil && *o.GracePeriod() > 0 {
		f.blocked.Node = pod.NodeName
		f.setReason(GracePeriodRuns)
	}
	w, ok := s.rest.waits(o.Ref)
	if !ok {
		return
	}
	if w.pod != "" {
		f.detail = w.detail
		if f.reason == "" || f.reason == string(GracePeriodRuns) {
			f.reason = string(w.pod)
		}
		return
	}
	if w.holds != "" {
		f.protected(w)
		return
	}
	if o.Pod() != nil && len(w.remaining) == 0 { // somebody was refused to end it
		f.detail = w.detail
		return
	}
	for _, r := range w.remaining { // what blocks a namespace may be in it
		if !slices.Contains(f.blocked.Dependents, r) {
			f.blocked.Dependents = append(f.blocked.Dependents, r)
		}
	}
	f.detail, f.open, f.blocked.Conditions = w.detail, w.unknown, w.conditions
	if w.unknown && len(w.remaining) == 0 {
		f.doubt(ContentNotCovered)
		return
	}
	f.reason = string(ContentRemains)
	if w.broken && len(w.remaining) == 0 {
		f.reason = string(s.discoveryReason())
	}
}

// discoveryReason is why discovery fails.
func (s *simulation) discoveryReason() Reason {
	if s.neighbours.unanswered() {
		return APIServiceUnavailable
	}
	return DiscoveryFails
}

// protected says why a finalizer stays that is removed when it has served. Another
// one beside it, or a dependent, holds the object whatever becomes of this one.
func (f *fate) protected(w wait) {
	alone := len(f.blocked.Dependents) == 0
	f.blocked.Dependents = append(f.blocked.Dependents, w.remaining...)
	f.detail = w.detail
	if !alone || slices.ContainsFunc(f.blocked.Finalizers, func(name string) bool { return name != w.holds }) {
		return
	}
	switch {
	case w.unknown:
		f.doubt(ProtectionUnknown)
	case w.used:
		f.reason = string(InUse)
	case w.alone:
		f.reason = string(LeftAlone)
	}
}

func (f *fate) setReason(r Reason) {
	if f.reason == "" {
		f.reason = string(r)
	}
}

// waits tells whether the object is there only because others still are.
func (f *fate) waits() bool {
	if f.outcome != report.Blocked {
		return false
	}
	switch Reason(f.reason) {
	case BlockingDependents:
		return true
	case ContentRemains, InUse:
		return len(f.blocked.Dependents) > 0
	default:
		return false
	}
}

// spreadWaiting decides about objects that wait for others: whoever waits for
// something that stays is blocked; whoever waits only for what is unknown is
// unknown; who is left waits in a circle.
func (s *simulation) spreadWaiting(all fates) {
	waiters := map[*fate][]*fate{}
	var firm, open []*fate
	for _, f := range all {
		if !f.waits() {
			continue
		}
		for _, ref := range f.blocked.Dependents {
			if d := s.fateIn(all, object.Ref(ref)); d != nil {
				waiters[d] = append(waiters[d], f)
			} else if tr := s.tracks.byUID[ref.UID]; tr != nil && tr.decision.undecided() {
				f.open = true
			} else if s.mayYetGo(object.Ref(ref)) {
				f.lingering = true
			} else {
				firm = append(firm, f) // nothing touched it: it simply stays
			}
		}
	}
	for d := range waiters {
		if d.outcome == report.Unknown {
			open = append(open, d)
		} else if !d.waits() {
			firm = append(firm, d)
		}
	}
	stays, doubted := flood(firm, waiters), flood(open, waiters)
	for _, f := range all {
		if !f.waits() || stays[f] {
			continue
		}
		switch content := f.reason == string(ContentRemains); {
		case f.late != nil:
			f.standStill(*f.late)
		case content && f.open:
			f.doubt(ContentNotCovered)
		case doubted[f] || f.open || f.lingering:
			f.doubt(DependentUnknown)
		case !content:
			f.reason = string(CycleOfWaiting)
		}
	}
}

// flood marks the starts and everybody who waits for somebody marked.
func flood(starts []*fate, waiters map[*fate][]*fate) map[*fate]bool {
	marked := map[*fate]bool{}
	for len(starts) > 0 {
		f := starts[len(starts)-1]
		starts = starts[:len(starts)-1]
		if !marked[f] {
			marked[f] = true
			starts = append(starts, waiters[f]...)
		}
	}
	return marked
}
