package plan

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

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
	if f.reason == "" {
		f.reason = string(DeletionMissed)
		f.blocked.Finalizers = slices.Clone(o.Finalizers())
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
	return slices.ContainsFunc(s.collector.Deferred(1), func(r object.Ref) bool { return r.UID == o.UID })
}

func (s *simulation) blockedByRest(f *fate, o *object.Object) {
	if pod := o.Pod(); pod != nil && o.GracePeriod() != nil && *o.GracePeriod() > 0 {
		f.blocked.Node = pod.NodeName
		f.setReason(GracePeriodRuns)
	}
	if w, ok := s.rest.waits(o.Ref); ok {
		f.blocked.Dependents = append(f.blocked.Dependents, w.remaining...)
		f.detail = w.detail
		if w.unknown {
			f.doubt(string(ContentNotCovered))
			return
		}
		f.reason = ""
		f.setReason(ContentRemains)
	}
}

func (f *fate) setReason(r Reason) {
	if f.reason == "" {
		f.reason = string(r)
	}
}

// spreadDoubt decides about objects that wait for others: whoever waits for
// something that stays is blocked; whoever waits only for what is unknown is
// unknown; who is left waits in a circle.
func (s *simulation) spreadDoubt(all fates) {
	g := s.collector.Graph()
	stays, doubted := map[types.UID]bool{}, map[types.UID]bool{}
	var firm, open []types.UID
	for uid, f := range all {
		switch {
		case f.outcome == report.Unknown:
			open = append(open, uid)
		case f.outcome == report.Blocked && f.reason != string(BlockingDependents):
			firm = append(firm, uid)
		case f.outcome != report.Blocked && f.outcome != report.Deleted:
			firm = append(firm, uid)
		}
	}
	waiters := func(uid types.UID) []types.UID { return s.waitersOn(g, uid, all) }
	flood(firm, stays, waiters)
	flood(open, doubted, waiters)
	for uid, f := range all {
		if f.outcome != report.Blocked || f.reason != string(BlockingDependents) || stays[uid] {
			continue
		}
		if doubted[uid] {
			f.doubt(string(DependentUnknown))
		} else if !s.blockedByUntracked(g, f, all) {
			f.reason = string(CycleOfWaiting)
		}
	}
}

// blockedByUntracked tells whether some blocking dependent is an object that
// nothing touched: it simply stays.
func (s *simulation) blockedByUntracked(g *graph.Graph, f *fate, all fates) bool {
	return slices.ContainsFunc(f.blocked.Dependents, func(r report.Ref) bool { return all[r.UID] == nil })
}

// waitersOn are the owners that wait in the foreground for an object.
func (s *simulation) waitersOn(g *graph.Graph, uid types.UID, all fates) []types.UID {
	id, ok := g.Find(uid)
	if !ok {
		return nil
	}
	var uids []types.UID
	for _, ref := range g.Owners(id) {
		if f := all[ref.UID]; ref.Blocks() && f != nil && f.reason == string(BlockingDependents) {
			uids = append(uids, ref.UID)
		}
	}
	return uids
}

// flood marks everything that can be reached from starts, and the starts.
func flood(starts []types.UID, marked map[types.UID]bool, next func(types.UID) []types.UID) {
	for len(starts) > 0 {
		uid := starts[len(starts)-1]
		starts = starts[:len(starts)-1]
		if !marked[uid] {
			marked[uid] = true
			starts = append(starts, next(uid)...)
		}
	}
}
