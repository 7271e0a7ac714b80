package plan

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan/outcome"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// account says what follows from our requests. It is the only place where that is decided.
type account struct {
	seed  Seed
	snap  *snapshot.Snapshot
	judge *outcome.Judge
	cause *cause
	words *outcome.Words
	// left are the objects that a collection leaves alone.
	left undecided
	// last are the outcomes when every finalizer has come off.
	last *outcome.Outcomes
}

func (s *simulation) account() account {
	return account{
		seed: s.seed, snap: s.snap, judge: s.judge, cause: &s.cause, words: s.recorder.words, left: s.left, last: s.futures.last,
	}
}

// consequences are the account of a run: what is changed or gone because of what we
// send, in the order of the effects. Each effect gets to know the one about its object.
func (a account) consequences(effects []report.Effect, all *outcome.Outcomes) []report.Consequence {
	list, along := make([]report.Consequence, 0, len(effects)), a.snap.Along() // most effects are one
	for i := range effects {
		e := &effects[i]
		o := along.Find(object.Ref(e.Object))
		if o == nil {
			continue // a controller makes it in the simulation: it is not there yet
		}
		if o.UID != e.Object.UID { // another one has come in its place
			o = &object.Object{Ref: object.Ref(e.Object)}
		}
		out := a.judge.OfObject(all, o)
		if out == nil {
			out = a.judge.OfObject(a.last, o)
		}
		if out == nil || !a.counts(e, out.Track) && !out.Anyway {
			continue
		}
		change, touched := changeOf(e, out)
		if !touched {
			continue
		}
		c := report.Consequence{
			Object: e.Object, Change: change, After: e.Once, Anyway: out.Anyway, Outcome: e.Outcome, Reason: e.Reason,
		}
		c.When, c.Controller = a.when(e, out)
		c.Certainty = certaintyOf(e, &c)
		list = append(list, c)
		e.Consequence = &list[len(list)-1] // list has room for all of them, and stays where it is
	}
	return list
}

// counts reports whether an effect follows from our requests.
func (a account) counts(e *report.Effect, tr *outcome.Track) bool {
	switch {
	case tr.Target:
		return true
	case a.seed.Verb == Collect && isRewritten(e):
		return !e.AlreadyHappening && slices.ContainsFunc(e.Because, func(ref report.Ref) bool {
			cause := a.judge.Tracks.Meant(object.Ref(ref))
			return cause != nil && a.cause.caused(cause)
		})
	case a.seed.Verb == Collect && e.DependsOnTiming && a.left[tr.First.Ref] == nil:
		return true // nothing else was tried than what this collection can come to
	case a.seed.Verb == Collect && tr.Changed != 0:
		return a.cause.caused(tr)
	case a.seed.Verb == Collect:
		return e.Outcome == report.Unknown && a.left[tr.First.Ref] == nil && a.cause.reaches(tr.First)
	default:
		return !e.AlreadyHappening
	}
}

// changeOf says what may happen to an object at most, and whether anything does.
func changeOf(e *report.Effect, out *outcome.Outcome) (report.Change, bool) {
	tr := out.Track
	switch {
	case mayGo(out):
		return report.ChangeDeleted, true
	case e.Outcome == report.Unknown, e.Later == report.Unknown, tr.Refused != nil, e.Outcome == report.Deleted, e.Later == report.Deleted:
		return report.ChangeDeleted, true
	case goes(e.Outcome), goes(e.AtOnce), goes(e.Later):
		if tr.First.BeingDeleted() && !tr.Target {
			return report.ChangeEdited, tr.Changed != 0
		}
		return report.ChangeDeleted, true
	default:
		return report.ChangeEdited, len(out.Ends) > 0 || tr.Changed != 0 || tr.Target || e.Later != ""
	}
}

// goes reports whether an outcome is that an object goes, or is on its way.
func goes(o report.Outcome) bool { return o == report.Deleted || o == report.Blocked }

// mayGo reports whether an object goes if events come in another order.
func mayGo(out *outcome.Outcome) bool {
	return slices.ContainsFunc(out.Ends, func(x outcome.End) bool { return goes(x.Outcome.Result) })
}

// when says what has to happen before an object is touched.
func (a account) when(e *report.Effect, out *outcome.Outcome) (report.When, string) {
	tr := out.Track
	early := tr.Changed & (outcome.InBaseline | outcome.AfterSeed)
	switch {
	case tr.Target, mayGo(out), e.Reason == string(reason.NamespaceOrderUnknown):
		return report.AtOnce, ""
	case early == 0 && (tr.Changed != 0 || e.Later != ""):
		return report.FinalizerRemoved, ""
	}
	if controller, ok := outcome.Rewriter(e.Reason); ok {
		return report.ControllerActs, controller
	}
	actor := a.words.Text(tr.RemovedBy)
	switch {
	case e.Outcome == report.Blocked && a.words.Text(tr.MarkedBy) == PodGC:
		return report.ControllerActs, PodGC
	case e.Reason != string(reason.DeletedByController) && e.Reason != string(reason.VolumeReclaimed) && e.Reason != string(reason.Released):
		return report.AtOnce, ""
	case actor == "" || actor == outcome.ActorUser || actor == outcome.ActorCollector || actor == outcome.ActorServer:
		return report.ControllerActs, ""
	default:
		return report.ControllerActs, actor
	}
}

// isRewritten reports whether an object stays and a controller changes it, because another one
// goes.
func isRewritten(e *report.Effect) bool {
	_, rewritten := outcome.Rewriter(e.Reason)
	return rewritten
}

func certaintyOf(e *report.Effect, c *report.Consequence) report.Certainty {
	switch {
	case e.Outcome == report.Unknown, e.Later == report.Unknown && e.Outcome == report.Kept, e.Reason == string(reason.RulesUnknown):
		return report.Undecided
	case e.DependsOnTiming, e.Reason == string(reason.RequestRefused):
		return report.Possible
	case c.When == report.FinalizerRemoved && e.Outcome == report.Kept:
		return report.Possible
	default:
		return report.Sure
	}
}

// Stays lists what the plan expects to be kept although it was considered: what a run
// is compared with beside its account. Garbage that only we leave alone is not there:
// the cluster's own collector does not.
func (r *Result) Stays() []object.Ref {
	var list []object.Ref
	for i := range r.Plan.Effects {
		e := &r.Plan.Effects[i]
		left := e.Reason == string(reason.NotAskedFor) || e.Reason == string(reason.Protected)
		if e.Outcome == report.Kept && e.Later == "" && !left && !e.AlreadyHappening && !e.DependsOnTiming {
			list = append(list, object.Ref(e.Object))
		}
	}
	return list
}
