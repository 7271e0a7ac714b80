package plan

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// track follows one object through a simulation.
type track struct {
	// first is the object as the snapshot has it, last as it is now; last is nil
	// once it is gone.
	first, last *object.Object
	// decision is what the collector decided last about the object while it
	// existed, and removal what it decided when it sent its last DELETE.
	decision, removal judgement
	// removedBy is the actor whose request removed the object.
	removedBy string
	changed   phases
	// orphanedBy is the owner whose orphaning removed a reference.
	orphanedBy *object.Object
	target     bool
	refused    error
}

// phases are the parts of a simulation in which something happened.
type phases uint8

const (
	inBaseline phases = 1 << iota
	afterSeed
)

// judgement is what of a decision is worth keeping.
type judgement struct {
	reason engine.Reason
	phase  phases
	// live is the object that was judged; the masks say which of its references
	// counted as what.
	live                     *object.Object
	solid, dangling, waiting uint64
	unresolved               *engine.OwnerFact
	err                      error
}

func judgementOf(d engine.Decision, phase phases) judgement {
	j := judgement{reason: d.Reason, phase: phase, live: d.Attempt.Observed, err: d.Err}
	for i := range d.Owners {
		if i == 64 {
			break
		}
		switch o := &d.Owners[i]; o.Class {
		case engine.Solid:
			j.solid |= 1 << i
		case engine.Dangling:
			j.dangling |= 1 << i
		case engine.Waiting:
			j.waiting |= 1 << i
		case engine.Unresolved:
			if o.Evidence != engine.NotAsked && j.unresolved == nil {
				j.unresolved = o
			}
		}
	}
	return j
}

// tracks are the objects that something touched or considered, by UID.
type tracks struct {
	byUID map[types.UID]*track
	phase phases
}

func (t *tracks) of(o *object.Object) *track {
	tr := t.byUID[o.UID]
	if tr == nil {
		tr = &track{first: o, last: o}
		t.byUID[o.UID] = tr
	}
	return tr
}

// event follows a change of what is stored.
func (t *tracks) event(e object.Event, actor string) {
	before := e.Old
	if before == nil {
		before = e.Object
	}
	tr := t.of(before)
	tr.changed |= t.phase
	tr.last = e.Object
	if e.Type == object.Deleted {
		tr.last, tr.removedBy = nil, actor
	}
}

// decided follows a decision of the collector about an observed object.
func (t *tracks) decided(d engine.Decision) {
	if d.Attempt.Virtual || d.Attempt.Work == engine.OrphanWork {
		return
	}
	if d.Fate == engine.Vanish && len(d.Requests) == 0 {
		return
	}
	tr := t.of(d.Attempt.Observed)
	j := judgementOf(d, t.phase)
	tr.decision = j
	for i := range d.Requests {
		if d.Requests[i].Verb == engine.DeleteObject {
			tr.removal = j
		}
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
