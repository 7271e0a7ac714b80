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

// end is the last link of a chain of waits: the one thing that has to change.
type end struct {
	code reason.Code
	// of is the object that waits for it directly. at is the object that the end is about.
	of, at    report.Ref
	finalizer string
	verdict   report.ControllerVerdict
	proof     evidence.Proofs
	remedies  []report.Remedy
	// others are further objects that the message names.
	others []report.Ref
	// detail is text of a server or of a simulation.
	detail string
	chain  []report.WaitLink
	// more counts the ends of the same kind that are left out.
	more int
}

func endAt(o *object.Object, code reason.Code) end {
	at := report.RefOf(o.Ref)
	return end{code: code, of: at, at: at, chain: []report.WaitLink{{Ref: at, Waits: string(code)}}}
}

// act returns an act on an object.
func act(action report.Action, o *object.Object) report.Act {
	return report.Act{Action: action, Target: report.RefOf(o.Ref)}
}

// prove adds a proof, unless it is empty or there already.
func (e *end) prove(code reason.Code, about *report.Ref, message string) {
	e.proof.Add(code, about, message)
}

// remedy adds a command that would end the wait, or show more of it, unless it is there already.
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

// endsOf returns the ends of all chains that start at an object, one of each kind. It caches them.
//
// In a cycle a → b → a, b is found without the ends of a, which is still open. That result is
// incomplete, so it is removed from the cache once a, the first object of the cycle, is complete.
func (i *inquiry) endsOf(o *object.Object) []end {
	if place, ok := i.open[o.Ref]; ok {
		i.closes = min(i.closes, place)
		return nil // the other objects that are waited for have the end
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

// inCircle reports whether the last open object waits for an earlier one.
func (i *inquiry) inCircle() bool { return i.closes < len(i.open)-1 }

// compareEnds sorts first the ends that do not resolve themselves.
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

// follow returns the ends of the objects that o waits for, with o in front of their chains.
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

// behind returns the end as seen from an object that waits for the first of its chain.
func (e end) behind(o *object.Object, waits string) end {
	link := report.WaitLink{Ref: report.RefOf(o.Ref), Waits: waits}
	e.chain = append([]report.WaitLink{link}, e.chain...)
	return e
}

// passes reports whether the chain contains an object. That object has a shorter chain itself.
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

// at returns the object of the snapshot; nil if it has another uid.
func (i *inquiry) at(ref object.Ref) *object.Object {
	o := i.snap.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name)
	if o == nil || ref.UID != "" && o.UID != ref.UID {
		return nil
	}
	return o
}

// hangs reports whether an object that may not be deleted yet will be, and then stay blocked.
func (i *inquiry) hangs(ref object.Ref) bool {
	e := i.effects[ref]
	return e != nil && e.Outcome == report.Blocked
}
