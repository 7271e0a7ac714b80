package stuck

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/evidence"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// end is the last link of a chain of waiting: the one thing that has to move.
type end struct {
	code reason.Code
	// of is the object that waits for it without another one between them, and at what the end
	// is about.
	of, at    report.Ref
	finalizer string
	verdict   report.ControllerVerdict
	proof     evidence.Proofs
	remedies  []report.Remedy
	// others are further objects that the text names.
	others []report.Ref
	// detail is the word of a server or of a simulation.
	detail string
	chain  []report.WaitLink
	// more counts ends of the same kind that are left out.
	more int
}

func endAt(o *object.Object, code reason.Code) end {
	at := report.RefOf(o.Ref)
	return end{code: code, of: at, at: at, chain: []report.WaitLink{{Ref: at, Waits: string(code)}}}
}

// act is one that is done to an object.
func act(action report.Action, o *object.Object) report.Act {
	return report.Act{Action: action, Target: report.RefOf(o.Ref)}
}

// prove adds what was seen, unless it says nothing or is there already.
func (e *end) prove(code reason.Code, about *report.Ref, message string) {
	e.proof.Add(code, about, message)
}

// remedy adds what would end the waiting, or show more of it, unless it is there already.
func (e *end) remedy(a report.Act, effect, cost string) {
	if slices.ContainsFunc(e.remedies, func(r report.Remedy) bool { return r.Act == a }) {
		return
	}
	r := a.Remedy(effect)
	r.Cost = cost
	e.remedies = append(e.remedies, r)
}

// like reports whether two ends are of the same kind, so that naming one is enough.
func (e *end) like(x *end) bool {
	return e.code == x.code && e.finalizer == x.finalizer && e.verdict == x.verdict &&
		e.at.Kind == x.at.Kind && e.at.APIVersion == x.at.APIVersion && e.at.Namespace == x.at.Namespace
}

// endsOf are the ends of all chains that begin at an object, one of each kind.
//
// Where chains close in a circle, an object of it is found without the ends of those that
// are looked at already, and that is no answer about the object itself: it is forgotten
// once the first one of the circle, from which all of it has been seen, is known.
func (i *inquiry) endsOf(o *object.Object) []end {
	if place, ok := i.open[o.Ref]; ok {
		i.closes = min(i.closes, place)
		return nil // whoever else is waited for has the end
	}
	if found, ok := i.ends[o.Ref]; ok {
		if place, ok := i.partial[o.Ref]; ok {
			i.closes = min(i.closes, place)
		}
		return found
	}
	place, outer, before := len(i.open), i.closes, len(i.circle)
	i.open[o.Ref], i.closes = place, place
	found := i.find(o)
	delete(i.open, o.Ref)
	slices.SortStableFunc(found, compareEnds)
	i.ends[o.Ref] = found
	if i.closes < place {
		i.circle, i.partial[o.Ref] = append(i.circle, o.Ref), i.closes
	} else {
		for _, ref := range i.circle[before:] {
			delete(i.ends, ref)
			delete(i.partial, ref)
		}
		i.circle = i.circle[:before]
	}
	i.closes = min(outer, i.closes)
	return found
}

// inCircle reports whether the last object on the way waits for one before it.
func (i *inquiry) inCircle() bool { return i.closes < len(i.open)-1 }

// compareEnds puts first what does not move by itself.
func compareEnds(a, b end) int {
	return cmp.Or(
		cmp.Compare(rank(reason.Stuck.Severity(a.code)), rank(reason.Stuck.Severity(b.code))),
		strings.Compare(string(a.code), string(b.code)),
		object.Compare(object.Ref(a.at), object.Ref(b.at)),
		strings.Compare(a.finalizer, b.finalizer),
	)
}

func rank(s reason.Severity) int {
	return slices.Index([]reason.Severity{reason.Error, reason.Warning, reason.Info}, s)
}

// follow takes the ends of those that an object waits for as its own.
func (i *inquiry) follow(o *object.Object, waits string, others []report.Ref, alive func(report.Ref) (end, bool)) []end {
	var all []end
	for _, ref := range others {
		next := i.at(object.Ref(ref))
		if next == nil || next.Ref == o.Ref {
			continue
		}
		ends := i.ends[next.Ref]
		if next.BeingDeleted() || i.hangs(next.Ref) {
			ends = slices.DeleteFunc(slices.Clone(i.endsOf(next)), func(e end) bool { return e.passes(report.RefOf(o.Ref)) })
		} else if e, ok := alive(ref); ok {
			ends = []end{e}
		}
		for n := range ends {
			all = merge(all, ends[n].behind(o, waits))
		}
	}
	return all
}

// behind is the end seen from an object that waits for the first of its chain.
func (e end) behind(o *object.Object, waits string) end {
	link := report.WaitLink{Ref: report.RefOf(o.Ref), Waits: waits}
	e.chain = append([]report.WaitLink{link}, e.chain...)
	return e
}

// passes reports whether the chain to the end goes by an object, which has a shorter one.
func (e *end) passes(o report.Ref) bool {
	return e.of == o || slices.ContainsFunc(e.chain[:len(e.chain)-1], func(l report.WaitLink) bool { return l.Ref == o })
}

func merge(all []end, e end) []end {
	for n := range all {
		if all[n].like(&e) {
			all[n].more += 1 + e.more
			return all
		}
	}
	return append(all, e)
}

// at is the object of the snapshot.
func (i *inquiry) at(ref object.Ref) *object.Object {
	o := i.snap.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name)
	if o == nil || ref.UID != "" && o.UID != ref.UID {
		return nil
	}
	return o
}

// hangs tells of an object that may be yet to be deleted whether it will be, and stay.
func (i *inquiry) hangs(ref object.Ref) bool {
	e := i.effects[ref]
	return e != nil && e.Outcome == report.Blocked
}
