package impact

import (
	"iter"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// Set is a set of objects of a snapshot. It is not safe for concurrent use while it grows.
type Set struct{ depths }

// Has reports whether an object is in the set. The object may be a later version of the one that was
// added.
func (s *Set) Has(o *object.Object) bool { return s.at(o) != 0 }

// depths maps objects of a snapshot to the way they were reached, by index.
type depths struct {
	snap *snapshot.Snapshot
	of   []depth
	size int
}

func depthsIn(snap *snapshot.Snapshot) depths {
	return depths{snap: snap, of: make([]depth, len(snap.Objects))}
}

// at returns the depth of an object; 0 if it is not reached or not in the snapshot.
func (d *depths) at(o *object.Object) depth {
	if i := d.snap.Place(o); i >= 0 {
		return d.of[i]
	}
	return 0
}

// set records the depth of an object, which must be in the snapshot.
func (d *depths) set(o *object.Object, to depth) {
	i := d.snap.Place(o)
	if d.of[i] == 0 {
		d.size++
	}
	d.of[i] = to
}

// All iterates over the objects reached in any way, in object.Compare order.
func (d *depths) All() iter.Seq[*object.Object] { return d.atLeast(1) }

func (d *depths) atLeast(least depth) iter.Seq[*object.Object] {
	return func(yield func(*object.Object) bool) {
		for i, at := range d.of {
			if at >= least && !yield(d.snap.Objects[i]) {
				return
			}
		}
	}
}
