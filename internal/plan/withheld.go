package plan

import (
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan/outcome"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// withheld contains the objects that a collection leaves alone because their outcomes are unknown,
// with the outcomes from the run that wanted to write to them. The consequences of those writes do
// not happen either. So the collection is simulated again without them, until it writes to no
// unknown object. (spec I5)
type withheld map[object.Ref]*outcome.Outcome

// ourCollector reports whether the simulated collector is the one of this program, which will send
// the writes. The collector of Kubernetes withholds none.
func (s *simulation) ourCollector() bool {
	return s.seed.Verb == Collect && s.options.Rules == engine.Strict
}

// withhold withholds writes to these objects, in addition to those that the Keeper withholds.
func (s *simulation) withhold(left withheld) {
	s.withheld, s.judge.UndecidedBefore = left, left
	keep := s.options.Keep
	if len(left) > 0 {
		s.recorder.keep = func(o *object.Object, removes bool) reason.Code { return left.reasonFor(keep, o, removes) }
	}
}

// reasonFor returns the reason to leave an object alone: that of its unknown outcome, or that of
// another Keeper.
func (left withheld) reasonFor(other Keeper, o *object.Object, removes bool) reason.Code {
	if out := left[o.Ref]; out != nil {
		return reason.Code(out.Reason)
	}
	if other == nil {
		return ""
	}
	return other(o, removes)
}

// addUnknown adds the objects with unknown outcomes, and those that share a UID with another object
// and were written to. It reports whether the run wrote to one of the objects in left.
func (left withheld) addUnknown(s *simulation, all *outcome.Outcomes) bool {
	before := len(left)
	for _, out := range all.All() {
		if ref := out.Track.First.Ref; out.Result == report.Unknown && left[ref] == nil {
			left[ref] = out
		}
	}
	if len(left) == before && len(s.tracks.Shared) == 0 {
		return false
	}
	wrote := false
	for _, w := range s.writes() {
		ref := w.Object
		if o := s.snap.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name); s.tracks.Shared[ref.UID] && left[ref] == nil && o != nil {
			out := &outcome.Outcome{Track: &outcome.Track{First: o, Last: o}}
			out.MarkUnknown(reason.SharedUID)
			left[ref] = out
		}
		wrote = wrote || left[ref] != nil
	}
	return wrote
}
