package plan

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// end is another end that an object comes to, and what that depends on.
type end struct {
	fate                *fate
	because             report.Hinge
	message, remembered string
}

// rank orders outcomes by how little is gone: of a contested object the plan shows the
// outcome in which it survives.
func rank(o report.Outcome) int {
	return slices.Index([]report.Outcome{
		report.Unknown, report.Blocked, report.Orphaned, report.Pruned, report.Kept, report.Deleted,
	}, o)
}

// sameEnd compares what is stored at the end: gone; terminating with which finalizers;
// surviving with which references.
func sameEnd(a, b *fate) bool {
	x, y := a.track.last, b.track.last
	if x == nil || y == nil {
		return x == y
	}
	return a.outcome == b.outcome && x.BeingDeleted() == y.BeingDeleted() &&
		slices.Equal(x.Finalizers(), y.Finalizers()) && slices.Equal(x.Owners, y.Owners)
}

// knows reports whether an end is among those that are known of an object.
func (f *fate) knows(g *fate) bool {
	return sameEnd(f, g) || slices.ContainsFunc(f.ends, func(e end) bool { return sameEnd(e.fate, g) })
}

// undisturbed is the fate of an object that nothing touched.
func (s *simulation) undisturbed(o *object.Object) *fate {
	f := &fate{track: &track{first: o, last: o}, outcome: report.Kept, reason: engine.NoOwners.String()}
	switch {
	case o.BeingDeleted():
		f.reason = ""
		s.blockedFate(f)
	case len(o.Owners) > 0:
		f.reason = engine.SolidOwner.String()
	}
	return f
}

// sentence is the message of a fate by itself.
func (s *simulation) sentence(f *fate) string {
	alone := *f
	alone.contested, alone.ends = false, nil
	return s.effects(fates{s.tracks.key(f.track.first.Ref): &alone})[0].Message
}

// otherwise lists the other ends of an object.
func (f *fate) otherwise() []report.Otherwise {
	var list []report.Otherwise
	for _, e := range f.ends {
		list = append(list, report.Otherwise{Outcome: e.fate.outcome, Because: e.because, Message: e.message, Remembered: e.remembered})
	}
	return list
}
