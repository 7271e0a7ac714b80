package plan

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// gone orders outcomes by how little is gone: of a contested object the plan
// shows the outcome in which it survives.
var gone = []report.Outcome{report.Unknown, report.Blocked, report.Orphaned, report.Pruned, report.Kept, report.Deleted}

// contest compares with the fates of another schedule. An object whose fate
// differs is contested.
func (all fates) contest(other fates) {
	for uid, f := range all {
		o := other[uid]
		switch {
		case o == nil && f.outcome == report.Kept:
			// Kept is also what happens to an object that was never looked at.
		case o == nil:
			f.contested = true
		case !sameFate(f, o):
			if slices.Index(gone, o.outcome) < slices.Index(gone, f.outcome) {
				o.contested = true
				all[uid] = o
				continue
			}
			f.contested = true
		}
	}
	for uid, o := range other {
		if all[uid] == nil && o.outcome != report.Kept {
			o.contested = true
			all[uid] = o
		}
	}
}

// sameFate compares what is stored at the end: gone; terminating with which
// finalizers; surviving with which references.
func sameFate(a, b *fate) bool {
	x, y := a.track.last, b.track.last
	if x == nil || y == nil {
		return x == y
	}
	return a.outcome == b.outcome && x.BeingDeleted() == y.BeingDeleted() &&
		slices.Equal(x.Finalizers(), y.Finalizers()) && slices.Equal(x.Owners, y.Owners)
}
