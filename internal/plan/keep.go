package plan

import (
	"context"
	"errors"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan/outcome"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// Keeper says why our own collector may not write to an object; an empty reason
// lets it. Removes tells that the write deletes the object, or takes a finalizer
// off it.
//
// It makes a plan of what this program does, which is less than what the collector
// of Kubernetes does; who carries the plan out has to ask Result.Withheld.
type Keeper func(o *object.Object, removes bool) reason.Code

// errWithheld is the answer to a write that was withheld. To the collector it is a
// refusal: it would try again.
var errWithheld = errors.New("the write is withheld")

// withheld refuses a write of the collector that the Keeper does not let through,
// and notes why.
func (r *recorder) withheld(ref object.Ref, removes bool) error {
	if why, late := r.collectorStops(ref); late {
		r.kept[ref] = why
		return errLate
	}
	if r.keep == nil || r.actor != outcome.ActorCollector {
		return nil
	}
	o, err := r.server.Get(context.Background(), r.stored(ref))
	if err != nil || o.UID != ref.UID {
		return nil //nolint:nilerr // the write itself gets the same answer
	}
	why := r.keep(o, removes)
	if why == "" {
		return nil
	}
	r.kept[o.Ref] = why
	return errWithheld
}

// restsOnDependents withholds the removal of a finalizer of the collector from an owner that
// the snapshot shows in the middle of its deletion, if its dependents may not all be in the
// snapshot: that the owner still exists suggests that it waits for one. The removal of a
// finalizer that a request has set is not withheld: there the plan's gaps say that more may go.
func (r *recorder) restsOnDependents(ref object.Ref, p object.Patch) error {
	if r.actor != outcome.ActorCollector || p.Finalizers == nil {
		return nil
	}
	at := r.stored(ref)
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
	r.kept[at] = reason.DependentsNotCovered
	return errWithheld
}

// Write is a request that the collector sends in a plan.
type Write struct {
	Object object.Ref
	// Deletes tells a DELETE from a PATCH; Removes is true for it, and for a patch
	// that takes a finalizer off.
	Deletes, Removes bool
	// Patch is what a PATCH says; nil for a DELETE.
	Patch *object.Patch
}

// Writes lists the requests of the collector that the plan foresees, in their
// order: what Guard lets through.
func (r *Result) Writes() []Write { return r.run.writes() }

func (s *simulation) writes() []Write {
	var list []Write
	rec := s.recorder
	for n, step := range rec.records.all {
		if s.futures.over(n) {
			break
		}
		if rec.words.Text(step.actor) != outcome.ActorCollector || step.answer != 0 {
			continue
		}
		switch rec.words.Text(step.verb) {
		case verbDelete:
			list = append(list, Write{Object: rec.stored(step.object.Ref), Deletes: true, Removes: true})
		case verbPatch:
			list = append(list, Write{Object: rec.stored(step.object.Ref), Removes: step.patch.Finalizers != nil, Patch: step.patch})
		}
	}
	return list
}

// Withheld says why a request of the collector in a live run is not sent although it
// may be in the plan; an empty reason lets it through. It is the question that the
// simulation asks: the Keeper's, and whether the object's outcome is unknown.
func (r *Result) Withheld(q engine.Request) reason.Code {
	o := q.Live
	if o == nil {
		o = q.Cached
	}
	if o == nil {
		o = &object.Object{Ref: q.Ref}
	}
	if at := r.run.recorder.stored(o.Ref); at != o.Ref {
		o = o.Clone()
		o.Ref = at
	}
	return r.run.left.keep(r.run.options.Keep, o, q.Verb == engine.DeleteObject || q.Verb == engine.RemoveFinalizer)
}
