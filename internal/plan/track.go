package plan

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// track follows one object through a simulation. It is kept small: a plan may
// have millions.
type track struct {
	// first is the object as the snapshot has it, last as it is now; last is nil
	// once it is gone.
	first, last *object.Object
	// decision is what the collector decided last about the object while it
	// existed.
	decision judgement
	// earlier is the decision that sent the last DELETE, when a later one came.
	earlier *judgement
	// before is the reason of the last decision before the seed.
	before engine.Reason
	// orphanedBy is the owner whose orphaning removed a reference.
	orphanedBy *object.Object
	refused    error
	// removedBy is the actor whose request removed the object, releasedBy the last
	// one who took a finalizer off it before.
	removedBy, releasedBy word
	changed               phases
	target                bool
	// resumed tells that the collector ended a deletion for which it had a
	// finalizer in the snapshot.
	resumed bool
	// awaited tells that somebody else had deleted the object before our requests, and
	// that something waits for it that follows from them.
	awaited bool
	// reclaimed tells that a volume was deleted because its claim went.
	reclaimed bool
}

// phases are the parts of a simulation in which something happened.
type phases uint8

const (
	inBaseline phases = 1 << iota
	afterSeed
	// afterRelease: finalizers came off that controllers which run take off.
	afterRelease
	// inLaterFuture: finalizers came off that may come off.
	inLaterFuture
	// afterOthers and laterOfOthers are the same with those of objects that others had
	// deleted before: what happens then need not follow from our requests.
	afterOthers
	laterOfOthers
)

// bySeed tells whether something happened after the seed was put in.
func (p phases) bySeed() bool { return p&^inBaseline != 0 }

// judgement is what of a decision is worth keeping.
type judgement struct {
	// live is the object that was judged; the others say which of its references
	// counted as what.
	live                     *object.Object
	solid, dangling, waiting engine.Positions
	failure                  *failure
	reason                   engine.Reason
	phase                    phases
	deletes                  bool
}

// failure is why nothing was decided.
type failure struct {
	unresolved *engine.OwnerFact
	err        error
}

func judgementOf(d engine.Decision, phase phases) judgement {
	j := judgement{reason: d.Reason, phase: phase, live: d.Attempt.Observed}
	if d.Err != nil {
		j.failure = &failure{err: d.Err}
	}
	for i := range d.Owners {
		switch o := &d.Owners[i]; o.Class {
		case engine.Solid:
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
		j.failure.unresolved = o
	}
}

func (j *judgement) unresolved() *engine.OwnerFact {
	if j.failure == nil {
		return nil
	}
	return j.failure.unresolved
}

// undecided tells whether nothing was decided because nothing is known of an owner
// or of the object.
func (j *judgement) undecided() bool {
	switch j.reason {
	case engine.OwnerNotCovered, engine.ObjectNotCovered, engine.UnknownOwnerKind:
		return true
	default:
		return false
	}
}

func (j *judgement) err() error {
	if j.failure == nil {
		return nil
	}
	return j.failure.err
}

// removal is the decision that sent the last DELETE; it has no reason if there
// was none.
func (t *track) removal() judgement {
	switch {
	case t.decision.deletes:
		return t.decision
	case t.earlier != nil:
		return *t.earlier
	default:
		return judgement{}
	}
}

// decided replaces the last decision.
func (t *track) decided(j judgement) {
	if t.decision.deletes && !j.deletes {
		earlier := t.decision
		t.earlier = &earlier
	}
	t.decision = j
}

// tracks are the objects that something touched or considered, by UID. Objects that
// share a UID have keys of their own (twin).
type tracks struct {
	// collector and reclaim are the words for these actors.
	collector, reclaim word
	shared             map[types.UID]bool
	// find is the snapshot's. Of objects that share a UID the collector takes one for
	// the other: what it has observed is not what is stored.
	find  func(apiVersion, kind, namespace, name string) *object.Object
	byUID map[types.UID]*track
	phase phases
}

func (t *tracks) of(o *object.Object) *track {
	key := t.key(o.Ref)
	tr := t.byUID[key]
	if tr == nil {
		if stored := t.storedTwin(o.Ref); stored != nil {
			o = stored
		}
		tr = &track{first: o, last: o}
		t.byUID[key] = tr
	}
	return tr
}

// storedTwin is an object of the snapshot that shares its UID with another one.
func (t *tracks) storedTwin(r object.Ref) *object.Object {
	if !t.shared[r.UID] {
		return nil
	}
	return t.find(r.APIVersion, r.Kind, r.Namespace, r.Name)
}

// key is the key under which the track of an object is or would be.
func (t *tracks) key(r object.Ref) types.UID {
	if t.shared[r.UID] {
		return twin(r)
	}
	return r.UID
}

// twin is the key of an object whose UID another object has as well. A UID holds
// no zero byte.
func twin(r object.Ref) types.UID { return types.UID(string(r.UID) + "\x00" + r.String()) }

// event follows a change of what is stored.
func (t *tracks) event(e object.Event, actor word) {
	before := e.Old
	if before == nil {
		before = e.Object
	}
	tr := t.of(before)
	tr.last = e.Object
	if !counted(before, e) {
		tr.changed |= t.phase
	}
	tr.reclaimed = tr.reclaimed || actor == t.reclaim && e.Object.BeingDeleted() && !before.BeingDeleted() || actor == t.reclaim && e.Type == object.Deleted
	tr.resumed = tr.resumed || actor == t.collector && ended(tr.first, before, e)
	switch {
	case e.Type == object.Deleted:
		tr.last, tr.removedBy = nil, actor
	case len(e.Object.Finalizers()) < len(before.Finalizers()):
		tr.releasedBy = actor
	}
}

// ended tells whether a finalizer of the collector went that the object had from
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

// counted tells whether a pod that lives has only been counted by its Job: that
// decides nothing.
func counted(before *object.Object, e object.Event) bool {
	return e.Type == object.Modified && !e.Object.BeingDeleted() &&
		before.HasFinalizer(controllers.JobFinalizer) && !e.Object.HasFinalizer(controllers.JobFinalizer)
}

// decided follows a decision of the collector about an observed object.
func (t *tracks) decided(d engine.Decision) {
	if d.Attempt.Virtual || d.Attempt.Work == engine.OrphanWork {
		return
	}
	if d.Disposition == engine.Vanish && len(d.Requests) == 0 {
		return
	}
	tr := t.of(d.Attempt.Observed)
	tr.decided(judgementOf(d, t.phase))
	if t.phase == inBaseline {
		tr.before = d.Reason
	}
}

// orphaning follows the release of the dependents of an owner.
func (t *tracks) orphaning(d engine.Decision) {
	for i := range d.Requests {
		r := &d.Requests[i]
		if r.Verb == engine.RemoveOwners {
			t.of(r.Live).orphanedBy = d.Attempt.Observed
		}
	}
}
