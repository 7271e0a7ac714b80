package diagnose

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// end is the last link of a chain of waits: the one thing that has to change.
type end struct {
	code reason.Code
	// of is the object that waits for it directly. at is the object that the end is about.
	of, at    object.Ref
	finalizer string
	verdict   report.ControllerVerdict
	proof     health.Proofs
	remedies  []report.Remedy
	// others are further objects that the message names.
	others []object.Ref
	// detail is text of a server or of a simulation.
	detail string
	chain  []report.WaitLink
	// more counts the ends of the same kind that are left out.
	more int
}

func endAt(o *object.Object, code reason.Code) end {
	at := o.Ref
	return end{code: code, of: at, at: at, chain: []report.WaitLink{{Ref: at, Waits: string(code)}}}
}

// act returns an act on an object.
func act(action report.Action, o *object.Object) report.Act {
	return report.Act{Action: action, Target: o.Ref}
}

// prove adds a proof, unless it is empty or there already.
func (e *end) prove(code reason.Code, about *object.Ref, message string) {
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

// compareEnds sorts first the ends that do not resolve themselves.
func compareEnds(a, b end) int {
	return cmp.Or(
		cmp.Compare(rank(reason.Stuck.Severity(a.code)), rank(reason.Stuck.Severity(b.code))),
		strings.Compare(string(a.code), string(b.code)),
		object.Compare(a.at, b.at),
		strings.Compare(a.finalizer, b.finalizer),
	)
}

func rank(s reason.Severity) int {
	return slices.Index([]reason.Severity{reason.Error, reason.Warning, reason.Info}, s)
}

// follow returns the ends of the objects that o waits for, with o in front of their chains. alive
// returns the end for an object that is not being deleted; false if it has none.
func (i *inquiry) follow(o *object.Object, waits string, others []object.Ref, alive func(object.Ref) (end, bool)) []end {
	var all []end
	for _, ref := range others {
		next := i.at(ref)
		if next == nil || next.Ref == o.Ref {
			continue
		}
		ends := i.ends[next.Ref]
		if x := i.effects[next.Ref]; next.BeingDeleted() || x != nil && x.Outcome == report.Blocked {
			ends = slices.DeleteFunc(slices.Clone(i.endsOf(next)), func(e end) bool { return e.passes(o.Ref) })
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
	link := report.WaitLink{Ref: o.Ref, Waits: waits}
	e.chain = append([]report.WaitLink{link}, e.chain...)
	return e
}

// passes reports whether the chain contains an object. The object reaches the end by a shorter
// chain, so a chain through it is left out.
func (e *end) passes(o object.Ref) bool {
	return e.of == o || slices.ContainsFunc(e.chain[:len(e.chain)-1], func(l report.WaitLink) bool { return l.Ref == o })
}

// merge adds an end, or counts it if there is one like it. A namespace waits for a webhook by itself, and
// because its content does: that is one end, with the longer chain.
func merge(all []end, e end) []end {
	for n := range all {
		if !all[n].like(&e) {
			continue
		}
		switch same := all[n].at == e.at; {
		case same && all[n].passes(e.of):
			all[n].more += e.more
		case same && e.passes(all[n].of):
			e.more += all[n].more
			all[n] = e
		default:
			all[n].more += 1 + e.more
		}
		return all
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

// message returns the sentence about an end.
func (e *end) message() string {
	text := sentences[e.code](e)
	if len(e.chain) > 1 && e.chain[0].Ref != e.at && e.code != reason.StillInUse {
		text = "waits for " + e.at.FullName() + ": " + text
	}
	return text
}

// sentences has the sentence for each code, as a function of the end.
var sentences = map[reason.Code]func(*end) string{
	reason.FinalizerControllerGone: func(e *end) string {
		return "finalizer " + e.finalizer + " holds it, and its controller is not running"
	},
	reason.FinalizerControllerSlow: func(e *end) string {
		return "finalizer " + e.finalizer + " holds it; its controller " + report.WhyNotRemoved(e.proof)
	},
	reason.FinalizerControllerUnknown: func(e *end) string {
		return "finalizer " + e.finalizer + " holds it; " + cmp.Or(e.detail, report.UnknownRemover)
	},
	reason.FinalizerControllerPaused: func(e *end) string {
		return "finalizer " + e.finalizer + " holds it; " + e.detail
	},
	reason.FinalizerControllerAlive: func(e *end) string { return "finalizer " + e.finalizer + " holds it; its controller is running" },
	reason.StillInUse: func(e *end) string {
		text := "in use by " + places(e.others)
		if len(e.others) == 0 {
			text = "in use: " + e.detail
		}
		if e.chain[0].Ref != e.at {
			text = "waits for " + e.at.FullName() + ", which is " + text
		}
		return text
	},
	reason.SelfBlock: func(*end) string { return "its own owner reference blocks it: this never ends by itself" },
	reason.WaitingCycle: func(e *end) string {
		return "waits in a cycle with " + places(e.others) + ": this never ends by itself"
	},
	reason.LiveDependentBlocks: func(*end) string { return "it blocks the owner, and the garbage collector does not delete it" },
	reason.OrphaningStuck: func(e *end) string {
		return "it cannot be orphaned: a dependent cannot be changed (" + places(e.others) + ")"
	},
	reason.DeletionForgotten: func(e *end) string {
		return "the garbage collector " + cmp.Or(e.detail, "has missed this deletion, and examines it again only after a restart")
	},
	reason.CollectorNotWorking: func(e *end) string { return "only the garbage collector holds it, and " + standsStill(e) },
	reason.ControllerNotWorking: func(e *end) string {
		return "only " + cmp.Or(e.detail, "a controller of Kubernetes") + " holds it, and " + standsStill(e)
	},
	reason.ManagerNotSeen: func(*end) string {
		return "in progress if kube-controller-manager is running, which is unknown: its lease is missing or expired"
	},
	reason.APIServiceUnavailable:  func(*end) string { return "the aggregated API does not answer, and discovery fails without it" },
	reason.WebhookUnreachable:     func(e *end) string { return e.detail + " must be called, and does not answer" },
	reason.PolicyDenies:           func(e *end) string { return e.detail },
	reason.PolicyUnknown:          func(e *end) string { return e.detail },
	reason.NamespaceDeletionFails: func(e *end) string { return "its content cannot be discovered or deleted: " + e.detail },
	reason.CRDCleanupFails:        func(e *end) string { return "its instances cannot be deleted" + afterColon(e.detail) },
	reason.KindNotServed:          func(*end) string { return "its kind is not served: no request reaches it" },
	reason.DrainBlocked:           func(e *end) string { return "it is cordoned, and " + e.detail },
	reason.NodeGone:               func(e *end) string { return "its node " + e.detail + " does not exist" },
	reason.NodeNotReady:           func(e *end) string { return "the kubelet of its node " + e.detail + " does not report" },
	reason.PodNotFinished:         func(e *end) string { return "the kubelet of node " + e.detail + " has not ended it" },
	reason.GracePeriod:            func(e *end) string { return "its grace period runs on node " + e.detail },
	reason.EndNotSeen:             func(e *end) string { return "what it waits for was not seen" + afterColon(e.detail) },
	reason.UnderWay:               func(e *end) string { return "under way" + afterColon(e.detail) },
}

// standsStill returns why a controller of Kubernetes does not continue a deletion.
func standsStill(e *end) string {
	if e.verdict == report.FinalizerControllerGone {
		return "kube-controller-manager is not running"
	}
	return "has not acted for minutes"
}

func afterColon(detail string) string {
	if detail == "" {
		return ""
	}
	return ": " + detail
}

// places returns the names of the first few objects.
func places(refs []object.Ref) string {
	const most = 3
	names := make([]string, 0, most+1)
	for n, r := range refs {
		if n == most {
			names = append(names, "…")
			break
		}
		names = append(names, r.FullName())
	}
	return strings.Join(names, ", ")
}
