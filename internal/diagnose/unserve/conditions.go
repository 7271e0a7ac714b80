package unserve

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/graph"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// when lists the conditions under which the dependent is lost, and what each leads to.
func (q *question) when(d *dependent, look, worst report.Outcome) []report.Exposed {
	w := &exposures{}
	through, keepers := d.throughFacts(), refsOf(d.keepers)
	switch {
	case q.subject.whole():
		w.add(reason.CRDDeleted, look, refsOf(through))
		w.addIf(len(keepers) > 0, reason.OwnersGo, worst, keepers)
	case !q.watched(d.Object):
		w.add(reason.Polled, look, nil)
		w.addIf(len(keepers) > 0, reason.OwnersGo, worst, keepers)
	default:
		w.add(reason.CollectorRestarts, look, nil)
		q.looks(w, d, look, worst)
		w.addIf(q.subject.preferred(q.snap), reason.OwnerLookedAt, look, refsOf(through))
	}
	w.add(reason.OwnerGoesLater, report.Kept, refsOf(through))
	if blocked := q.blocks(d); q.watched(d.Object) {
		w.addIf(len(blocked) > 0, reason.OwnerWaitsLater, report.Blocked, blocked)
	}
	slices.SortStableFunc(w.list, func(a, b report.Exposed) int { return rank(a) - rank(b) })
	return w.list
}

// looks adds what makes the collector look at a dependent that it watches.
//
// Upstream: pkg/controller/garbagecollector/graph_builder.go processGraphChanges,
// addDependentToOwners, addUnblockedOwnersToDeleteQueue.
func (q *question) looks(w *exposures, d *dependent, look, worst report.Outcome) {
	w.add(reason.ReferencesChange, look, nil)
	if blockers := q.blockers(d.UID); len(blockers) > 0 {
		w.add(reason.DependentReleased, look, blockers)
	}
	through, keepers := d.throughFacts(), refsOf(d.keepers)
	switch {
	case len(keepers) > 1:
		w.add(reason.OwnerGoes, look, keepers)
		w.add(reason.OwnersGo, worst, keepers)
	case len(keepers) == 1:
		w.add(reason.OwnerGoes, worst, keepers)
	case len(uidsOf(through)) > 1:
		w.add(reason.OwnerGoes, look, refsOf(through))
	}
}

// exposures collects what conditions lead to.
type exposures struct{ list []report.Exposed }

func rank(e report.Exposed) int { return reason.Condition.Rank(reason.Code(e.Condition)) }

func (w *exposures) add(c reason.Code, o report.Outcome, because []object.Ref) {
	w.list = append(w.list, report.Exposed{Condition: string(c), Outcome: o, Because: refs(because)})
}

func (w *exposures) addIf(holds bool, c reason.Code, o report.Outcome, because []object.Ref) {
	if holds {
		w.add(c, o, because)
	}
}

// watched reports whether the collector watches the kind of an object.
func (q *question) watched(o *object.Object) bool {
	r, err := q.snap.Resources.For(o.APIVersion, o.Kind)
	return err == nil && q.snap.Resources.Monitored(r)
}

// blockers are the dependents that block an object. When one of them drops its
// reference, the object is looked at, whether it is being deleted or not.
func (q *question) blockers(uid types.UID) []object.Ref {
	g := q.collector.Graph()
	id, ok := g.Find(uid)
	if !ok {
		return nil
	}
	var blockers []object.Ref
	g.EachBlocking(id, func(b graph.ID) bool {
		blockers = append(blockers, g.Identity(b))
		return true
	})
	slices.SortFunc(blockers, object.Compare)
	return slices.Compact(blockers)
}

// blocks lists the living owners that the dependent blocks. Since one of its
// references cannot be resolved later, it blocks them forever. (Q4)
func (q *question) blocks(d *dependent) []object.Ref {
	var blocked []engine.OwnerFact
	for i := range d.facts {
		f := &d.facts[i]
		if f.Reference.Blocks() && (lives(f) || mayLive(f) && q.subject.through(f.Reference)) {
			blocked = append(blocked, *f)
		}
	}
	return refsOf(blocked)
}

func refs(list []object.Ref) []report.Ref {
	var refs []report.Ref
	for _, r := range list {
		refs = append(refs, report.RefOf(r))
	}
	return refs
}
