package plan

import (
	"cmp"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan/outcome"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// account decides which effects follow from our requests. It is the only place that does.
type account struct {
	seed        Seed
	snap        *snapshot.Snapshot
	judge       *outcome.Judge
	attribution *attribution
	words       *outcome.Words // interns the actors in the tracks
	// withheld contains the objects that a collection leaves alone.
	withheld withheld
	// afterReleases contains the outcomes after every finalizer has been removed.
	afterReleases *outcome.Outcomes
}

func (s *simulation) account() account {
	return account{
		seed: s.seed, snap: s.snap, judge: s.judge, attribution: &s.attribution, words: s.recorder.words, withheld: s.assumed.withheld, afterReleases: s.futures.last,
	}
}

// addConsequences sets the Consequence of the effects on objects that change or are deleted because of our
// requests.
func (a account) addConsequences(effects []report.Effect, all *outcome.Outcomes) {
	list, along := make([]report.Consequence, 0, len(effects)), a.snap.Cursor() // most effects have one
	for i := range effects {
		e := &effects[i]
		o := along.Find(e.Object)
		if o == nil {
			continue // a controller creates it in the simulation, so that it does not exist yet
		}
		if o.UID != e.Object.UID { // it has been replaced by another object
			o = &object.Object{Ref: e.Object}
		}
		out, last := a.judge.OfObject(all, o), a.judge.OfObject(a.afterReleases, o)
		if out == nil {
			out = last
		}
		anyway := out != nil && out.Anyway || last != nil && last.Anyway
		if e.Later != "" && last != nil {
			anyway = last.Anyway
		}
		if out == nil || !a.isConsequence(e, out.Track) && !anyway {
			continue
		}
		change, touched := changeOf(e, out)
		if !touched {
			continue
		}
		c := report.Consequence{Change: change, Anyway: anyway}
		c.When, c.Controller = a.conditionOf(e, out)
		c.Certainty = certaintyOf(e, &c)
		list = append(list, c)
		e.Consequence = &list[len(list)-1] // list has the capacity for all of them, so that the pointers stay valid
	}
}

// isConsequence reports whether an effect follows from our requests.
func (a account) isConsequence(e *report.Effect, tr *outcome.Track) bool {
	switch {
	case tr.Target:
		return true
	case a.seed.Verb == Collect && isRewritten(e):
		return !e.AlreadyHappening && slices.ContainsFunc(e.Because, func(ref object.Ref) bool {
			cause := a.judge.Tracks.Meant(ref)
			return cause != nil && a.attribution.caused(cause)
		})
	case a.seed.Verb == Collect && e.DependsOnTiming && a.withheld[tr.First.Ref] == nil:
		return true // only ends that this collection can reach were tried
	case a.seed.Verb == Collect && tr.Changed != 0:
		return a.attribution.caused(tr)
	case a.seed.Verb == Collect:
		return e.Outcome == report.Unknown && a.withheld[tr.First.Ref] == nil && a.attribution.reaches(tr.First)
	default:
		return !e.AlreadyHappening
	}
}

// changeOf returns the largest change that an object may undergo, and whether there is any.
func changeOf(e *report.Effect, out *outcome.Outcome) (report.Change, bool) {
	tr := out.Track
	switch {
	case mayEndInDeletion(out):
		return report.ChangeDeleted, true
	case e.Outcome == report.Unknown, e.Later == report.Unknown, tr.Refused != nil, e.Outcome == report.Deleted, e.Later == report.Deleted:
		return report.ChangeDeleted, true
	case endsInDeletion(e.Outcome), endsInDeletion(e.AtOnce), endsInDeletion(e.Later):
		if tr.First.BeingDeleted() && !tr.Target {
			return report.ChangeEdited, tr.Changed != 0
		}
		return report.ChangeDeleted, true
	default:
		return report.ChangeEdited, len(out.Ends) > 0 || tr.Changed != 0 || tr.Target || e.Later != ""
	}
}

// endsInDeletion reports whether an outcome is that an object is deleted, now or once it is
// released.
func endsInDeletion(o report.Outcome) bool { return o == report.Deleted || o == report.Blocked }

// mayEndInDeletion reports whether an object is deleted if events arrive in another order.
func mayEndInDeletion(out *outcome.Outcome) bool {
	return slices.ContainsFunc(out.Ends, func(x outcome.End) bool { return endsInDeletion(x.Outcome.Result) })
}

// conditionOf returns what must happen before an object changes, and the controller that changes
// it. The controller is empty if there is none or if it is unknown.
func (a account) conditionOf(e *report.Effect, out *outcome.Outcome) (report.When, string) {
	tr := out.Track
	early := tr.Changed & (outcome.InBaseline | outcome.AfterSeed)
	switch {
	case tr.Target, mayEndInDeletion(out), e.Reason == string(reason.NamespaceOrderUnknown):
		return report.AtOnce, ""
	case e.Reason == string(reason.Undeployed):
		return report.ControllerActs, cmp.Or(a.words.Text(tr.MarkedBy), a.words.Text(tr.RemovedBy))
	case e.Later != "" && out.AlreadyHappening: // what it does before that is not ours
		return report.FinalizerRemoved, ""
	case early == 0 && tr.Changed != 0 && e.Later == "" && len(e.Once) == 0: // it follows what a deployer deletes
		return report.ControllerActs, ""
	case early == 0 && (tr.Changed != 0 || e.Later != ""):
		return report.FinalizerRemoved, ""
	}
	if controller, ok := outcome.Rewriter(e.Reason); ok {
		return report.ControllerActs, controller
	}
	actor := a.words.Text(tr.RemovedBy)
	if actor == outcome.ActorUser || actor == outcome.ActorCollector || actor == outcome.ActorServer {
		actor = ""
	}
	why := reason.Code(e.Reason)
	switch {
	case e.Outcome == report.Blocked && a.words.Text(tr.MarkedBy) == PodGC:
		return report.ControllerActs, PodGC
	case why == reason.DeletedByController, why == reason.VolumeReclaimed, why == reason.Released, why == reason.Unobstructed:
		return report.ControllerActs, actor
	case why == reason.BeingDeleted && actor != "": // pvc/data was being deleted: once pod/db-0 is gone
		return report.ControllerActs, actor
	default:
		return report.AtOnce, ""
	}
}

// isRewritten reports whether an object stays and a controller changes it because another object is
// deleted.
func isRewritten(e *report.Effect) bool {
	_, rewritten := outcome.Rewriter(e.Reason)
	return rewritten
}

// certaintyOf returns Undecided if an outcome is unknown, and Possible if it depends on timing, on
// a refused request or on a finalizer that may stay.
func certaintyOf(e *report.Effect, c *report.Consequence) report.Certainty {
	switch {
	case e.Outcome == report.Unknown, e.Later == report.Unknown && e.Outcome == report.Kept, e.Reason == string(reason.RulesUnknown):
		return report.Undecided
	case e.DependsOnTiming, e.Reason == string(reason.RequestRefused):
		return report.Possible
	case c.When == report.FinalizerRemoved && !endsInDeletion(e.Outcome):
		return report.Possible
	default:
		return report.Sure
	}
}

// Stays returns the objects that the plan expects to be kept although they were considered. A run
// is compared with this list as well as with its account. Garbage that only we leave alone is not
// included: the cluster's own collector deletes it.
func (r *Result) Stays() []object.Ref {
	var list []object.Ref
	for i := range r.Plan.Effects {
		e := &r.Plan.Effects[i]
		left := e.Reason == string(reason.NotAskedFor) || e.Reason == string(reason.Protected)
		if e.Outcome == report.Kept && e.Later == "" && !left && !e.AlreadyHappening && !e.DependsOnTiming {
			list = append(list, e.Object)
		}
	}
	return list
}
