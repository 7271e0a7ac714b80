package plan

import (
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan/outcome"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// undecided are the objects that a collection leaves alone because nobody can tell what
// becomes of them, with what the run that wanted to write to them says of them. What
// would follow from those writes does not happen either: so the collection is
// simulated again without them, until it writes to nothing that is unknown.
// (spec I5)
type undecided map[object.Ref]*outcome.Outcome

// ourCollector reports whether the simulated collector is the one of this program, which is
// going to send the writes. The collector of Kubernetes asks nobody.
func (s *simulation) ourCollector() bool {
	return s.seed.Verb == Collect && s.options.Rules == engine.Strict
}

// leave withholds the writes to these objects, too.
func (s *simulation) leave(left undecided) {
	s.left, s.judge.UndecidedBefore = left, left
	keep := s.options.Keep
	if len(left) > 0 {
		s.recorder.keep = func(o *object.Object, removes bool) reason.Code { return left.keep(keep, o, removes) }
	}
}

// keep is what another Keeper says, and that these objects are left alone.
func (left undecided) keep(other Keeper, o *object.Object, removes bool) reason.Code {
	if out := left[o.Ref]; out != nil {
		return reason.Code(out.Reason)
	}
	if other == nil {
		return ""
	}
	return other(o, removes)
}

// add takes up the objects whose outcomes are unknown, and those that the run took for
// another one of their uid. It reports whether the run wrote to one of them.
func (left undecided) add(s *simulation, all *outcome.Outcomes) bool {
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
