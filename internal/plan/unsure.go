package plan

import (
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// unsure are the objects that a collection leaves alone because nobody can tell what
// becomes of them, with what the run that wanted to write to them says of them. What
// would follow from those writes does not happen either: so the collection is
// simulated again without them, until it writes to nothing that is unknown.
// (spec I5)
type unsure map[object.Ref]*fate

// ourCollector tells whether the simulated collector is the one of this program, which is
// going to send the writes. The collector of Kubernetes asks nobody.
func (s *simulation) ourCollector() bool {
	return s.seed.Verb == Collect && s.options.Rules == engine.Strict
}

// leave withholds the writes to these objects, too.
func (s *simulation) leave(left unsure) {
	s.left = left
	keep := s.options.Keep
	if len(left) > 0 {
		s.recorder.withhold(func(o *object.Object, removes bool) Reason { return left.keep(keep, o, removes) })
	}
}

// keep is what another Keeper says, and that these objects are left alone.
func (left unsure) keep(other Keeper, o *object.Object, removes bool) Reason {
	if f := left[o.Ref]; f != nil {
		return Reason(f.reason)
	}
	if other == nil {
		return ""
	}
	return other(o, removes)
}

// add takes up the objects whose fates are unknown, and those that the run took for
// another one of their uid. It reports whether the run wrote to one of them.
func (left unsure) add(s *simulation, all fates) bool {
	before := len(left)
	for _, f := range all {
		if ref := f.track.first.Ref; f.outcome == report.Unknown && left[ref] == nil {
			left[ref] = f
		}
	}
	if len(left) == before && len(s.tracks.shared) == 0 {
		return false
	}
	wrote := false
	for _, w := range s.writes() {
		ref := w.Object
		if o := s.snap.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name); s.tracks.shared[ref.UID] && left[ref] == nil && o != nil {
			f := &fate{track: &track{first: o, last: o}}
			f.doubt(SharedUID)
			left[ref] = f
		}
		wrote = wrote || left[ref] != nil
	}
	return wrote
}

// addUnsure gives the objects that were left alone the fates that they were left
// alone for.
func (s *simulation) addUnsure(all fates) {
	for ref, f := range s.left {
		kept := *f
		key := s.tracks.key(ref)
		if kept.track = s.tracks.byUID[key]; kept.track == nil {
			kept.track = &track{first: f.track.first, last: f.track.first}
		}
		all[key] = &kept
	}
}
