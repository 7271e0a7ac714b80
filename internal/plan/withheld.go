package plan

import (
	"context"
	"errors"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan/outcome"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// Keeper returns the reason why our own collector must not write to an object. An empty reason
// allows the write. removes is true if the write deletes the object or removes one of its
// finalizers.
//
// With a Keeper, a plan shows what this program does, which is less than what the collector of
// Kubernetes does. The program must call Result.Withheld before each request that it sends.
type Keeper func(o *object.Object, removes bool) reason.Code

// errWithheld is the answer to a withheld write. The collector treats it as a refusal and would try
// again.
var errWithheld = errors.New("the write is withheld")

// withholdWrite refuses a write of the collector that it is overdue with or that the Keeper does not
// allow, and stores the reason.
func (r *recorder) withholdWrite(ref object.Ref, removes bool) error {
	if why, late := r.collectorOverdue(ref); late {
		r.withheldWrites[ref] = why
		return errOverdue
	}
	if r.keep == nil || r.actor != outcome.ActorCollector {
		return nil
	}
	o, err := r.server.Get(context.Background(), r.storedRef(ref))
	if err != nil || o.UID != ref.UID {
		return nil //nolint:nilerr // the write itself gets the same answer
	}
	why := r.keep(o, removes)
	if why == "" {
		return nil
	}
	r.withheldWrites[o.Ref] = why
	return errWithheld
}

// withholdRelease withholds the removal of the collector's finalizer from an owner that was
// already being deleted in the snapshot, if the snapshot may lack some of its dependents: the
// owner's existence suggests that it waits for one. The removal of a finalizer that a request has
// set is not withheld. In that case the plan's gaps say that more may be deleted.
func (r *recorder) withholdRelease(ref object.Ref, p object.Patch) error {
	if r.actor != outcome.ActorCollector || p.Finalizers == nil {
		return nil
	}
	at := r.storedRef(ref)
	if r.snap.CoversDependentsOf(at) {
		return nil
	}
	was := r.snap.Find(at.APIVersion, at.Kind, at.Namespace, at.Name)
	now, err := r.server.Get(context.Background(), at)
	if err != nil || was == nil || !was.BeingDeleted() {
		return nil //nolint:nilerr // the write itself gets the same answer
	}
	if !slices.ContainsFunc([]string{object.Foreground, object.Orphan}, func(name string) bool {
		return was.HasFinalizer(name) && now.HasFinalizer(name) && !slices.Contains(*p.Finalizers, name)
	}) {
		return nil
	}
	r.withheldWrites[at] = reason.DependentsNotCovered
	return errWithheld
}

// Write is a request that the collector sends in a plan.
type Write struct {
	Object object.Ref
	// Deletes is true for a DELETE and false for a PATCH. Removes is true for a DELETE and for a
	// PATCH that removes a finalizer: both may delete the object.
	Deletes, Removes bool
	// Patch is the body of a PATCH. nil for a DELETE.
	Patch *object.Patch
}

// Writes returns the collector's requests that the plan expects, in order. Guard allows these.
func (r *Result) Writes() []Write { return r.run.writes() }

func (s *simulation) writes() []Write {
	var list []Write
	rec := s.recorder
	for n, step := range rec.steps.all {
		if s.futures.isLater(n) {
			break
		}
		if rec.words.Text(step.actor) != outcome.ActorCollector || step.answer != 0 {
			continue
		}
		switch rec.words.Text(step.verb) {
		case verbDelete:
			list = append(list, Write{Object: rec.storedRef(step.object.Ref), Deletes: true, Removes: true})
		case verbPatch:
			list = append(list, Write{Object: rec.storedRef(step.object.Ref), Removes: step.patch.Finalizers != nil, Patch: step.patch})
		}
	}
	return list
}

// Withheld returns the reason why a request of the collector in a live run is not sent, although it
// may be in the plan. An empty reason allows it. Like the simulation, it asks the Keeper, and
// whether the object's outcome is unknown.
func (r *Result) Withheld(q engine.Request) reason.Code {
	o := q.Live
	if o == nil {
		o = q.Cached
	}
	if o == nil {
		o = &object.Object{Ref: q.Ref}
	}
	if at := r.run.recorder.storedRef(o.Ref); at != o.Ref {
		o = o.Clone()
		o.Ref = at
	}
	return r.run.assumed.withheld.reasonFor(r.run.options.Keep, o, q.Verb == engine.DeleteObject || q.Verb == engine.RemoveFinalizer)
}

// withheld contains the objects that a collection leaves alone because their outcomes are unknown,
// with the outcomes from the run that wanted to write to them. The consequences of those writes do
// not happen either. So the collection is simulated again without them, until it writes to no
// unknown object. (spec I5)
type withheld map[object.Ref]*outcome.Outcome

// ourCollector reports whether the simulated collector is the one of this program, which will send
// the writes. The collector of Kubernetes withholds none.
func (s *simulation) ourCollector() bool {
	return s.seed.Verb == Collect && s.options.Rules == engine.Strict
}

// keeper returns the Keeper that withholds writes to these objects, in addition to those that another
// one withholds.
func (left withheld) keeper(other Keeper) Keeper {
	if len(left) == 0 {
		return other
	}
	return func(o *object.Object, removes bool) reason.Code { return left.reasonFor(other, o, removes) }
}

// reasonFor returns the reason to leave an object alone: that of its unknown outcome, or that of
// another Keeper.
func (left withheld) reasonFor(other Keeper, o *object.Object, removes bool) reason.Code {
	if out := left[o.Ref]; out != nil {
		return reason.Code(out.Reason)
	}
	if other == nil {
		return ""
	}
	return other(o, removes)
}

// addUnknown adds the objects with unknown outcomes, and those that share a UID with another object
// and were written to. It reports whether the run wrote to one of the objects in left.
func (left withheld) addUnknown(s *simulation, all *outcome.Outcomes) bool {
	before := len(left)
	for _, out := range all.All() {
		if ref := out.Track.First.Ref; out.Result == report.Unknown && left[ref] == nil {
			left[ref] = out
		}
	}
	if len(left) == before && len(s.tracks.Shared) == 0 {
		return false
	}
	wrote := false
	for _, w := range s.writes() {
		ref := w.Object
		if o := s.snap.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name); s.tracks.Shared[ref.UID] && left[ref] == nil && o != nil {
			out := &outcome.Outcome{Track: &outcome.Track{First: o, Last: o}}
			out.MarkUnknown(reason.SharedUID)
			left[ref] = out
		}
		wrote = wrote || left[ref] != nil
	}
	return wrote
}
