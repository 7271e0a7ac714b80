package outcome

import (
	"iter"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// Outcome is what became of one object in one run, and the facts behind it.
type Outcome struct {
	Track  *Track
	Result report.Outcome
	Reason string
	// Because are the objects that decide.
	Because []object.Ref
	Blocked *report.BlockedBy
	// Removed are the references that went.
	Removed          []object.Ref
	Assumptions      []string
	AlreadyHappening bool
	// Anyway: it would have happened without the seed, too, and follows from it.
	Anyway          bool
	DependsOnTiming bool
	// Ends are the others that were found of a contested object.
	Ends   []End
	Detail string
	// open: something that is not in the snapshot may hold the object, too.
	open bool
	// late is who should long have gone on with it, where others may hold it as well;
	// lingering tells that it waits for something that such a one may yet delete.
	late      *Standstill
	lingering bool
}

// Outcomes are the outcomes of a run, by the keys of its tracks. Nil stands for none.
type Outcomes struct{ of table[Outcome] }

// At is the outcome of the object with a key; nil if it has none.
func (all *Outcomes) At(k Key) *Outcome {
	if all == nil {
		return nil
	}
	return all.of.at(k)
}

// Set gives an object an outcome in place of the one that it has; nil takes it away.
func (all *Outcomes) Set(k Key, out *Outcome) { all.of.set(k, out) }

// Len is how many there are.
func (all *Outcomes) Len() int { return all.of.size }

// All are the outcomes in the order of the keys.
func (all *Outcomes) All() iter.Seq2[Key, *Outcome] {
	if all == nil {
		return func(func(Key, *Outcome) bool) {}
	}
	return all.of.all()
}

// Clone has the same outcomes, which are not copied.
func (all *Outcomes) Clone() *Outcomes { return &Outcomes{all.of.clone()} }

// RemoveIf leaves those out of which something holds.
func (all *Outcomes) RemoveIf(holds func(*Outcome) bool) {
	for key, out := range all.All() {
		if holds(out) {
			all.Set(key, nil)
		}
	}
}

// Of is the outcome of the object with exactly this identity; nil if it has none.
func (j *Judge) Of(all *Outcomes, r object.Ref) *Outcome {
	return theOne(all.At(j.Tracks.named(r)), r)
}

// OfObject is the outcome of an object; nil if it has none.
func (j *Judge) OfObject(all *Outcomes, o *object.Object) *Outcome {
	return theOne(all.At(j.Tracks.Key(o)), o.Ref)
}

// theOne is an outcome if it is of the object with this identity.
func theOne(out *Outcome, r object.Ref) *Outcome {
	if out == nil || out.Track.First.Ref != r {
		return nil
	}
	return out
}

// set gives an object an outcome.
func (j *Judge) set(all *Outcomes, o *object.Object, out *Outcome) { all.Set(j.Tracks.Key(o), out) }

// MarkUnknown turns an outcome into Unknown.
func (out *Outcome) MarkUnknown(reason reason.Code) {
	out.Result, out.Reason = report.Unknown, string(reason)
}
