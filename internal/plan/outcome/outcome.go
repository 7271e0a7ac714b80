package outcome

import (
	"iter"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// Outcome is what happens to one object in one run, and the facts behind it.
type Outcome struct {
	Track  *Track
	Result report.Outcome
	Reason string
	// Because has the objects that decide the result.
	Because []object.Ref
	Blocked *report.BlockedBy
	// Removed has the owners of the removed references.
	Removed          []object.Ref
	Assumptions      []string
	AlreadyHappening bool
	// Anyway: the requests cause it, but it would have happened without them, too.
	Anyway          bool
	DependsOnTiming bool
	// open: something outside of the snapshot may hold the object, too. lingering: the object waits for one that
	// an overdue controller may still delete.
	open, lingering bool
	// Ends has the other outcomes that were found if the result depends on timing.
	Ends   []End
	Detail string
	// overdue is set if a controller is overdue with this object, but others may hold it as well.
	overdue *OverdueDeletion
}

// Outcomes maps the keys of tracks to outcomes. A nil *Outcomes is empty for readers.
type Outcomes struct{ of table[Outcome] }

// At returns the outcome for a key; nil if there is none.
func (all *Outcomes) At(k Key) *Outcome {
	if all == nil {
		return nil
	}
	return all.of.at(k)
}

// Set replaces the outcome of an object; nil removes it.
func (all *Outcomes) Set(k Key, out *Outcome) { all.of.set(k, out) }

// Len returns the number of outcomes.
func (all *Outcomes) Len() int { return all.of.size }

// All iterates over the outcomes in the order of the keys.
func (all *Outcomes) All() iter.Seq2[Key, *Outcome] {
	if all == nil {
		return func(func(Key, *Outcome) bool) {}
	}
	return all.of.all()
}

// Clone returns a copy that shares the outcomes.
func (all *Outcomes) Clone() *Outcomes { return &Outcomes{all.of.clone()} }

// RemoveIf removes every outcome that satisfies holds.
func (all *Outcomes) RemoveIf(holds func(*Outcome) bool) {
	for key, out := range all.All() {
		if holds(out) {
			all.Set(key, nil)
		}
	}
}

// Of returns the outcome of the object with exactly this identity; nil if it has none.
func (j *Judge) Of(all *Outcomes, r object.Ref) *Outcome {
	return theOne(all.At(j.Tracks.named(r)), r)
}

// OfObject returns the outcome of an object; nil if it has none.
func (j *Judge) OfObject(all *Outcomes, o *object.Object) *Outcome {
	return theOne(all.At(j.Tracks.Key(o)), o.Ref)
}

// theOne returns out if it belongs to the object with this identity; nil otherwise.
func theOne(out *Outcome, r object.Ref) *Outcome {
	if out == nil || out.Track.First.Ref != r {
		return nil
	}
	return out
}

// set replaces the outcome of an object.
func (j *Judge) set(all *Outcomes, o *object.Object, out *Outcome) { all.Set(j.Tracks.Key(o), out) }

// MarkUnknown sets the result to Unknown, with a reason.
func (out *Outcome) MarkUnknown(reason reason.Code) {
	out.Result, out.Reason = report.Unknown, string(reason)
}

// End is another outcome that an object may have, and what it depends on.
type End struct {
	Outcome             *Outcome
	Because             report.Hinge
	Message, Remembered string
}

// Rank returns the place of an outcome in a fixed order, from Unknown (0) to Deleted (5). If the
// outcome depends on timing, our own collector's plan shows the one with the lowest rank.
func Rank(o report.Outcome) int {
	return slices.Index([]report.Outcome{
		report.Unknown, report.Blocked, report.Orphaned, report.Pruned, report.Kept, report.Deleted,
	}, o)
}

// SameEnd reports whether two outcomes leave the same state in storage: no object in both, or
// objects with equal result, deletion state, finalizers and owner references.
func SameEnd(a, b *Outcome) bool {
	x, y := a.Track.Last, b.Track.Last
	if x == nil || y == nil {
		return x == y
	}
	return a.Result == b.Result && x.BeingDeleted() == y.BeingDeleted() &&
		slices.Equal(x.Finalizers(), y.Finalizers()) && slices.Equal(x.Owners, y.Owners)
}

// Knows reports whether other leaves the same state in storage as out or one of its Ends.
func (out *Outcome) Knows(other *Outcome) bool {
	return SameEnd(out, other) || slices.ContainsFunc(out.Ends, func(e End) bool { return SameEnd(e.Outcome, other) })
}

// Undisturbed returns the outcome of an object that nothing touched.
func (j *Judge) Undisturbed(o *object.Object) *Outcome {
	out := &Outcome{Track: &Track{First: o, Last: o}, Result: report.Kept, Reason: reason.NoOwners.String()}
	switch {
	case o.BeingDeleted():
		out.Reason = ""
		j.judgeBlocked(out)
	case len(o.Owners) > 0:
		out.Reason = reason.ExistingOwner.String()
	}
	return out
}

// Otherwise returns the other outcomes of an object in the form of a report.
func (out *Outcome) Otherwise() []report.Otherwise {
	var list []report.Otherwise
	for _, e := range out.Ends {
		list = append(list, report.Otherwise{Outcome: e.Outcome.Result, Because: e.Because, Message: e.Message, Remembered: e.Remembered})
	}
	return list
}
