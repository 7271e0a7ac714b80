package outcome

import (
	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// Track follows one object through a simulation. It is kept small: a plan may
// have millions.
type Track struct {
	// First is the object as the snapshot has it, last as it is now; last is nil
	// once it is gone.
	First, Last *object.Object
	// Decision is what the collector decided last about the object while it
	// existed.
	Decision judgement
	// earlier is the decision that sent the last DELETE, when a later one came.
	earlier *judgement
	// before is the reason of the last decision before the seed.
	before reason.Code
	// orphanedBy is the owner whose orphaning removed a reference.
	orphanedBy *object.Object
	Refused    error
	// RemovedBy is the actor whose request removed the object, releasedBy the last
	// actor that removed a finalizer from it before, and MarkedBy the one that began its deletion.
	RemovedBy, releasedBy, MarkedBy Word

	Changed Phases
	Target  bool
	// resumed tells that the collector ended a deletion for which it had a
	// finalizer in the snapshot.
	resumed bool
	// Awaited tells that somebody else had deleted the object before our requests, and
	// that something waits for it that follows from them.
	Awaited bool
	// reclaimed tells that a volume was deleted because its claim went.
	reclaimed bool
	// updated tells that a request took a finalizer or an owner reference off it.
	updated bool
}

// Phases are the parts of a simulation in which something happened.
type Phases uint8

// The phases, in their order but for the futures, of which each has two.
const (
	// InBaseline: before the requests.
	InBaseline Phases = 1 << iota
	// AfterSeed: after the requests, while nobody takes a finalizer of others off.
	AfterSeed
	// AfterRelease: finalizers came off that controllers which run take off.
	AfterRelease
	// InLaterFuture: finalizers came off that may come off.
	InLaterFuture
	// AfterOthers is AfterRelease when those of objects came off, too, that others had
	// deleted before: what happens then need not follow from our requests.
	AfterOthers
	// LaterOfOthers is InLaterFuture in the same way.
	LaterOfOthers
)

// bySeed reports whether something happened after the seed was put in.
func (p Phases) bySeed() bool { return p&^InBaseline != 0 }

// judgement is what of a decision is worth keeping.
type judgement struct {
	// live is the object that was judged; the others say which of its references
	// counted as what.
	live                     *object.Object
	solid, dangling, waiting engine.Positions
	failure                  *failure
	Reason                   reason.Code
	Phase                    Phases
	deletes                  bool
}

// failure is why nothing was decided.
type failure struct {
	unresolved *engine.OwnerFact
	err        error
}

func judgementOf(d engine.Decision, phase Phases) judgement {
	j := judgement{Reason: d.Reason, Phase: phase, live: d.Attempt.Observed}
	if d.Err != nil {
		j.failure = &failure{err: d.Err}
	}
	for i := range d.Owners {
		switch o := &d.Owners[i]; o.Class {
		case engine.Existing:
			j.solid.Add(i)
		case engine.Dangling:
			j.dangling.Add(i)
		case engine.Waiting:
			j.waiting.Add(i)
		case engine.Unresolved:
			j.note(o)
		}
	}
	for i := range d.Requests {
		j.deletes = j.deletes || d.Requests[i].Verb == engine.DeleteObject
	}
	return j
}

// note keeps the first reference that could not be resolved.
func (j *judgement) note(o *engine.OwnerFact) {
	if o.Evidence == engine.NotAsked {
		return
	}
	if j.failure == nil {
		j.failure = &failure{}
	}
	if j.failure.unresolved == nil {
		kept := *o // the engine writes over its list
		j.failure.unresolved = &kept
	}
}

// Unresolved is the first reference that could not be resolved; nil for none.
func (j *judgement) Unresolved() *engine.OwnerFact {
	if j.failure == nil {
		return nil
	}
	return j.failure.unresolved
}

// undecided reports whether nothing was decided because nothing is known of an owner
// or of the object.
func (j *judgement) undecided() bool {
	switch j.Reason {
	case reason.OwnerNotCovered, reason.ObjectNotCovered, reason.UnknownOwnerKind, reason.LookupFailed:
		return true
	default:
		return false
	}
}

// Err is why nothing was decided; nil for no error.
func (j *judgement) Err() error {
	if j.failure == nil {
		return nil
	}
	return j.failure.err
}

// removal is the decision that sent the last DELETE; it has no reason if there
// was none.
func (t *Track) removal() judgement {
	switch {
	case t.Decision.deletes:
		return t.Decision
	case t.earlier != nil:
		return *t.earlier
	default:
		return judgement{}
	}
}

// decided replaces the last decision.
func (t *Track) decided(j judgement) {
	if t.Decision.deletes && !j.deletes {
		earlier := t.Decision
		t.earlier = &earlier
	}
	t.Decision = j
}

// Retold is the track with its words as another run has them.
func (t *Track) Retold(from, to *Words) *Track {
	own := *t
	own.RemovedBy = to.Number(from.Text(t.RemovedBy))
	own.releasedBy = to.Number(from.Text(t.releasedBy))
	own.MarkedBy = to.Number(from.Text(t.MarkedBy))
	return &own
}

// ended reports whether a finalizer of the collector went that the object had from
// the start, in a deletion that was under way then.
func ended(first, before *object.Object, e object.Event) bool {
	if !first.BeingDeleted() {
		return false
	}
	gone := func(finalizer string) bool {
		return first.HasFinalizer(finalizer) && before.HasFinalizer(finalizer) &&
			(e.Type == object.Deleted || !e.Object.HasFinalizer(finalizer))
	}
	return gone(object.Foreground) || gone(object.Orphan)
}

// updated reports whether a change took a finalizer or an owner reference off an object: a
// DELETE ends only what has no finalizers.
func updated(before *object.Object, e object.Event) bool {
	switch e.Type {
	case object.Deleted:
		return len(before.Finalizers()) > 0
	case object.Modified:
		return len(e.Object.Finalizers()) < len(before.Finalizers()) || len(e.Object.Owners) < len(before.Owners)
	default:
		return false
	}
}

// counted reports whether a pod that lives has only been counted by its Job: that
// decides nothing.
func counted(before *object.Object, e object.Event) bool {
	return e.Type == object.Modified && !e.Object.BeingDeleted() &&
		before.HasFinalizer(controllers.JobFinalizer) && !e.Object.HasFinalizer(controllers.JobFinalizer)
}
