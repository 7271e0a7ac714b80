package risk

import (
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/impact"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// many is what a delete takes at most, from which on it is simulated among those that stand for
// others: to find these costs as much as some thousand objects that are simulated.
const many = 1000

// folded is the snapshot with one object for all that are alike.
type folded struct {
	reach *impact.Map
	// times are for how many an object stands, if it is more than one.
	times map[*object.Object]int
	// limb reports whether an object, by its position in the whole snapshot, may stand for
	// others or have another one stand for it.
	limb func(int) bool
}

// fold folds a snapshot; nil if that is not worth it.
func fold(snap *snapshot.Snapshot, at *impact.Positions) *folded {
	f := at.Fold()
	less := snap.With(f.Objects())
	if len(less.Objects) > at.Len()-at.Len()/8 {
		return nil
	}
	x := &folded{reach: impact.New(less, plan.Start(less, engine.Upstream).Graph()), times: map[*object.Object]int{}, limb: f.Limb}
	for i, o := range snap.Objects {
		if n := f.Times(i); n > 1 {
			x.times[o] = n
		}
	}
	return x
}

// part is what a delete may reach, and what decides about it.
type part struct {
	*snapshot.Snapshot
	along *snapshot.Along
	times map[*object.Object]int
	// size is for how many objects those of the part stand.
	size int
}

// part of a candidate is among those that stand for all, where many objects may go.
func (r *ranking) part(c candidate) *part {
	if c.ceiling.Objects >= r.many {
		if r.folded == nil && !r.unfoldable {
			r.folded = fold(r.snap, r.at)
			r.unfoldable = r.folded == nil
		}
		if r.folded != nil {
			if p := r.folded.part(r.at.Of(c.object), c.object); p != nil {
				return p
			}
		}
	}
	return partOf(r.reach.Part(c.object), nil)
}

// part of an object that has a position in the whole snapshot; nil where it may itself
// stand for others, and where a node goes.
func (f *folded) part(at int, o *object.Object) *part {
	if f.limb(at) {
		return nil
	}
	region := f.reach.Region(o)
	if region.Any(func(x *object.Object) bool { return x.Is(object.Node) && f.reach.Settled(x) }) {
		return nil
	}
	return partOf(region.Part(), f.times)
}

func partOf(snap *snapshot.Snapshot, times map[*object.Object]int) *part {
	p := &part{Snapshot: snap, along: snap.Along(), times: times, size: len(snap.Objects)}
	if len(times) > 0 {
		for _, o := range snap.Objects {
			p.size += p.of(o) - 1
		}
	}
	return p
}

// of is for how many an object stands.
func (p *part) of(o *object.Object) int { return max(p.times[o], 1) }

// stands is the same of the object that a plan names, which is best asked in the order of a plan.
func (p *part) stands(ref report.Ref) int {
	if len(p.times) == 0 {
		return 1
	}
	return p.of(p.along.Find(object.Ref(ref)))
}
