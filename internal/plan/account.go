package plan

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// consequences are the account of a run: what is changed or gone because of what we
// send, in the order of the effects. It is the only place where that is decided.
func (s *simulation) consequences(effects []report.Effect, all fates) []report.Consequence {
	list := []report.Consequence{}
	for i := range effects {
		e := &effects[i]
		f := s.fateIn(all, object.Ref(e.Object))
		if f == nil {
			f = s.fateIn(s.futures.last, object.Ref(e.Object))
		}
		if f == nil {
			continue
		}
		tr := f.track
		if !s.counts(e, tr) && !f.anyway || !s.seen(tr.first) {
			continue
		}
		change, touched := changeOf(e, f)
		if !touched {
			continue
		}
		c := report.Consequence{
			Object: e.Object, Change: change, After: e.Once, Anyway: f.anyway, Outcome: e.Outcome, Reason: e.Reason,
		}
		c.When, c.Controller = s.when(e, f)
		c.Certainty = certaintyOf(e, &c)
		list = append(list, c)
	}
	return list
}

// counts tells whether an effect follows from our requests.
func (s *simulation) counts(e *report.Effect, tr *track) bool {
	switch {
	case tr.target:
		return true
	case s.seed.Verb == Collect && e.Contested && s.left[tr.first.Ref] == nil:
		return true // nothing else was tried than what this collection can come to
	case s.seed.Verb == Collect && tr.changed != 0:
		return s.caused(tr)
	case s.seed.Verb == Collect:
		return e.Outcome == report.Unknown && s.left[tr.first.Ref] == nil && s.reaches(tr.first)
	default:
		return !e.Baseline
	}
}

// seen tells whether the snapshot has the object. What a controller makes in the
// simulation is not there yet.
func (s *simulation) seen(o *object.Object) bool {
	return s.snap.Find(o.APIVersion, o.Kind, o.Namespace, o.Name) != nil
}

// changeOf says what may happen to an object at most, and whether anything does.
func changeOf(e *report.Effect, f *fate) (report.Change, bool) {
	tr := f.track
	switch {
	case f.mayGo():
		return report.ChangeDeleted, true
	case e.Outcome == report.Unknown, e.Later == report.Unknown, tr.refused != nil, e.Outcome == report.Deleted, e.Later == report.Deleted:
		return report.ChangeDeleted, true
	case goes(e.Outcome), goes(e.AtOnce), goes(e.Later):
		if tr.first.BeingDeleted() && !tr.target {
			return report.ChangeEdited, tr.changed != 0
		}
		return report.ChangeDeleted, true
	default:
		return report.ChangeEdited, len(f.ends) > 0 || tr.changed != 0 || tr.target || e.Later != ""
	}
}

// goes tells whether an outcome is that an object goes, or is on its way.
func goes(o report.Outcome) bool { return o == report.Deleted || o == report.Blocked }

// mayGo tells whether an object goes if events come in another order.
func (f *fate) mayGo() bool {
	return slices.ContainsFunc(f.ends, func(x end) bool { return goes(x.fate.outcome) })
}

// when says what has to happen before an object is touched.
func (s *simulation) when(e *report.Effect, f *fate) (report.When, string) {
	tr := f.track
	early := tr.changed & (inBaseline | afterSeed)
	switch {
	case tr.target, f.mayGo():
		return report.AtOnce, ""
	case early == 0 && (tr.changed != 0 || e.Later != ""):
		return report.FinalizerRemoved, ""
	}
	actor := s.recorder.text(tr.removedBy)
	switch {
	case e.Reason != string(DeletedByRest) && e.Reason != string(VolumeReclaimed) && e.Reason != string(Released):
		return report.AtOnce, ""
	case actor == "" || actor == actorUser || actor == actorCollector || actor == actorServer:
		return report.ControllerActs, ""
	default:
		return report.ControllerActs, actor
	}
}

func certaintyOf(e *report.Effect, c *report.Consequence) report.Certainty {
	switch {
	case e.Outcome == report.Unknown, e.Later == report.Unknown && e.Outcome == report.Kept:
		return report.Undecided
	case e.Contested, e.Reason == string(RequestRefused):
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
		left := e.Reason == string(NotAskedFor) || e.Reason == string(Protected)
		if e.Outcome == report.Kept && e.Later == "" && !left && !e.Baseline && !e.Contested {
			list = append(list, object.Ref(e.Object))
		}
	}
	return list
}
