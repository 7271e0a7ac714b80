package outcome

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// Track records what happens to one object in a simulation. It is kept small, because a plan may have
// millions.
type Track struct {
	// First is the object in the snapshot. Last is its current state; nil once it is gone.
	First, Last *object.Object
	// Decision is the last decision of the collector about the object while it existed.
	Decision judgement
	// earlier is the decision that sent the last DELETE, if a later decision replaced it.
	earlier *judgement
	// before is the reason of the last decision before the requests.
	before reason.Code
	// orphanedBy is the owner that orphaned the object: its reference to the owner was removed.
	orphanedBy *object.Object
	Refused    error
	// RemovedBy is the actor of the request that removed the object. releasedBy is the actor that
	// last removed a finalizer before that. MarkedBy is the actor that started the deletion.
	RemovedBy, releasedBy, MarkedBy Word

	Changed Phases
	Target  bool
	// resumed: the collector removed a finalizer of its own that the snapshot already had, on an
	// object that was being deleted then.
	resumed bool
	// Awaited: the object was deleted before our requests, and something that follows from them waits
	// for it.
	Awaited bool
	// reclaimed: the object is a volume that was deleted because its claim went.
	reclaimed bool
	// updated: a request removed a finalizer or an owner reference.
	updated bool
	// FreedBy are the objects, in object.Compare order, that each obstructed the deletion of the object, which had
	// begun before our requests, and that are gone because of them.
	FreedBy []object.Ref
}

// AddFreedBy adds an object to FreedBy.
func (tr *Track) AddFreedBy(by object.Ref) {
	if at, found := slices.BinarySearchFunc(tr.FreedBy, by, object.Compare); !found {
		tr.FreedBy = slices.Insert(tr.FreedBy, at, by)
	}
}

// Phases is a set of phases of a simulation. A track has the phases that changed its object.
type Phases uint8

// The phases, in their order. The last two belong to the futures AfterRelease and InLaterFuture.
const (
	// InBaseline is the time before the requests.
	InBaseline Phases = 1 << iota
	// AfterSeed follows the requests. No finalizer of another controller is removed in it.
	AfterSeed
	// AfterRelease follows the removal of finalizers by controllers that run.
	AfterRelease
	// InLaterFuture follows the removal of finalizers that may be removed.
	InLaterFuture
	// AfterOthers follows AfterRelease. Finalizers are also removed from objects that others had
	// deleted before. Changes in it may not be caused by our requests.
	AfterOthers
	// LaterOfOthers is the same for InLaterFuture.
	LaterOfOthers
)

// bySeed reports whether something happened after the requests.
func (p Phases) bySeed() bool { return p&^InBaseline != 0 }

// judgement is the retained part of a decision.
type judgement struct {
	// live is the object as the collector had observed or read it. The sets have the positions of its owner
	// references by class.
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

// judgedObject returns the object that a decision is about: as a watch has shown it, or as it was read
// before a write if its kind is not watched; nil otherwise.
func judgedObject(d engine.Decision) *object.Object {
	switch {
	case !d.Attempt.Virtual:
		return d.Attempt.Observed
	case len(d.Requests) > 0:
		return d.Requests[0].Live
	default:
		return nil
	}
}

// judgementOf returns the part of a decision that a track keeps.
func judgementOf(d engine.Decision, phase Phases) judgement {
	j := judgement{Reason: d.Reason, Phase: phase, live: judgedObject(d)}
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

// note keeps the first reference that could not be resolved. A reference that was not looked up
// does not count.
func (j *judgement) note(o *engine.OwnerFact) {
	if o.Evidence == engine.NotAsked {
		return
	}
	if j.failure == nil {
		j.failure = &failure{}
	}
	if j.failure.unresolved == nil {
		kept := *o // the engine reuses its list
		j.failure.unresolved = &kept
	}
}

// Unresolved returns the first reference that could not be resolved; nil for none.
func (j *judgement) Unresolved() *engine.OwnerFact {
	if j.failure == nil {
		return nil
	}
	return j.failure.unresolved
}

// undecided reports whether nothing was decided because nothing is known about an owner or the
// object.
func (j *judgement) undecided() bool {
	switch j.Reason {
	case reason.OwnerNotCovered, reason.ObjectNotCovered, reason.UnknownOwnerKind, reason.LookupFailed:
		return true
	default:
		return false
	}
}

// Err returns why nothing was decided; nil for no error.
func (j *judgement) Err() error {
	if j.failure == nil {
		return nil
	}
	return j.failure.err
}

// removal returns the decision that sent the last DELETE. Its reason is empty if there was none.
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

// lost reports whether the object lost its reference to an owner.
func (t *Track) lost(owner types.UID) bool { return t.First.RefersTo(owner) && !t.Last.RefersTo(owner) }

// decided replaces the last decision. It keeps one that sent a DELETE in earlier.
func (t *Track) decided(j judgement) {
	if t.Decision.deletes && !j.deletes {
		earlier := t.Decision
		t.earlier = &earlier
	}
	t.Decision = j
}

// Retold returns a copy of the track with its words renumbered for another run.
func (t *Track) Retold(from, to *Words) *Track {
	own := *t
	own.RemovedBy = to.Number(from.Text(t.RemovedBy))
	own.releasedBy = to.Number(from.Text(t.releasedBy))
	own.MarkedBy = to.Number(from.Text(t.MarkedBy))
	return &own
}

// ended reports whether an event removed a finalizer of the collector that the object already had in
// the snapshot, while it was being deleted.
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

// updated reports whether an event removed a finalizer or an owner reference. A deleted object that
// had finalizers before counts, because DELETE alone ends only objects without any.
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

// counted reports whether an event only removes the Job finalizer from a pod that is not being
// deleted. That has no effect on its outcome.
func counted(before *object.Object, e object.Event) bool {
	return e.Type == object.Modified && !e.Object.BeingDeleted() &&
		before.HasFinalizer(controllers.JobFinalizer) && !e.Object.HasFinalizer(controllers.JobFinalizer)
}

// Word identifies a text that many records share.
type Word uint16

// Words interns texts.
type Words struct {
	texts   []string
	numbers map[string]Word
}

// NewWords returns words with only the empty text.
func NewWords() *Words { return &Words{texts: []string{""}, numbers: map[string]Word{"": 0}} }

// Number returns the word for a text. It adds the text if it is new.
func (w *Words) Number(text string) Word {
	n, ok := w.numbers[text]
	if !ok {
		n = Word(len(w.texts))
		w.texts = append(w.texts, text)
		w.numbers[text] = n
	}
	return n
}

// Text returns the text of a word.
func (w *Words) Text(n Word) string { return w.texts[n] }

// The actors of steps.
const (
	ActorUser      = "user"
	ActorCollector = "collector"
	ActorServer    = "apiserver"
	// ActorReleaser removes a finalizer if its controller is not known.
	ActorReleaser = "controller"
)

// LosesOwnersLater reports whether an object that stays in deletion loses owner references in the later future:
// such an edit is a change, although its outcome is the same before and after.
func LosesOwnersLater(tr *Track) bool {
	return tr.First.BeingDeleted() && tr.Last != nil && tr.Changed&(InLaterFuture|LaterOfOthers) != 0 &&
		len(tr.Last.Owners) != len(tr.First.Owners)
}
