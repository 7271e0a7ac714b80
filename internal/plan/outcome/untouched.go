package outcome

import (
	"context"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/graph"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// The outcomes of objects that nothing touched but that a plan lists.

// addTerminating adds every object that is being deleted to the plan of a collection, even if nothing
// touched it.
func (j *Judge) addTerminating(all *Outcomes) {
	if !j.Collects {
		return
	}
	for _, o := range j.Server.Objects() {
		if o.BeingDeleted() && j.OfObject(all, o) == nil {
			tr := j.Tracks.Of(o)
			out := &Outcome{Track: tr}
			j.judgeBlocked(out)
			j.set(all, o, out)
		}
	}
}

// addUnresolved adds the dependents of owners that cannot be looked up to the plan of a collection:
// they may be garbage. The collector itself only retries the owner.
func (j *Judge) addUnresolved(all *Outcomes) {
	if !j.Collects {
		return
	}
	g := j.Collector.Graph()
	for _, ref := range j.Collector.Deferred(engine.DeleteWork) {
		id, ok := g.Find(ref.UID)
		if !ok || !g.Virtual(id) {
			continue
		}
		g.EachDependent(id, func(d graph.ID) bool {
			o := g.Object(d)
			if j.OfObject(all, o) == nil && !o.BeingDeleted() {
				if out := j.lookUp(o); out != nil {
					j.set(all, o, out)
				}
			}
			return true
		})
	}
}

// lookUp lets the engine decide about an object that is not in its queue. It returns nil if the
// decision is certain, or if the collector does not watch the object.
func (j *Judge) lookUp(o *object.Object) *Outcome {
	a, ok := j.Collector.Inspect(o.UID)
	if !ok {
		return nil
	}
	d := j.Collector.Decide(engine.Lookup(context.Background(), j.Lookups, j.Rules, a))
	out := &Outcome{Track: &Track{First: o, Last: o, Decision: judgementOf(d, AfterSeed)}}
	if j.judgeConsidered(out); out.Result != report.Unknown {
		return nil
	}
	return out
}

// addKeptByBlocked adds the dependents of objects that the requests leave blocked. They live exactly
// as long as their owner.
func (j *Judge) addKeptByBlocked(all *Outcomes) {
	g := j.Collector.Graph()
	var blocked []*Outcome
	for _, out := range all.All() {
		if out.Result == report.Blocked && !out.AlreadyHappening && !j.Collects {
			blocked = append(blocked, out)
		}
	}
	slices.SortFunc(blocked, func(a, b *Outcome) int { return object.Compare(a.Track.First.Ref, b.Track.First.Ref) })
	for _, out := range blocked {
		id, ok := g.Find(out.Track.First.UID)
		if !ok {
			continue
		}
		g.EachDependent(id, func(d graph.ID) bool {
			o := g.Object(d)
			if j.OfObject(all, o) == nil && !o.BeingDeleted() {
				j.set(all, o, j.keptBy(o, out.Track.First.Ref))
			}
			return true
		})
	}
}

// keptBy returns the outcome of an object that nothing touched and that its owner keeps. Of several
// objects with a shared UID the graph knows only one, so their outcome is unknown.
func (j *Judge) keptBy(o *object.Object, owner object.Ref) *Outcome {
	out := &Outcome{
		Track: &Track{First: o, Last: o}, Result: report.Kept,
		Reason: reason.ExistingOwner.String(), Because: []object.Ref{owner},
	}
	if j.Tracks.Shared[o.UID] {
		out.MarkUnknown(reason.SharedUID)
	}
	return out
}

// addWithheld restores the earlier outcomes of the objects that a collection withholds its writes from.
func (j *Judge) addWithheld(all *Outcomes) {
	if !j.Collects {
		return
	}
	for _, out := range j.UndecidedBefore {
		kept := *out
		if kept.Track = j.Tracks.Known(out.Track.First); kept.Track == nil {
			kept.Track = &Track{First: out.Track.First, Last: out.Track.First}
		}
		j.set(all, out.Track.First, &kept)
	}
}
