package impact

import (
	"iter"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// Set are objects of a snapshot. It is for one goroutine while it grows.
type Set struct{ depths }

// Has reports whether an object is in the set, whatever has become of it since.
func (s *Set) Has(o *object.Object) bool { return s.at(o) != 0 }

// depths say of objects of a snapshot how they are reached, by their places.
type depths struct {
	snap *snapshot.Snapshot
	of   []depth
	size int
}

func depthsIn(snap *snapshot.Snapshot) depths {
	return depths{snap: snap, of: make([]depth, len(snap.Objects))}
}

// at is 0 for what is not reached, and for what the snapshot does not have.
func (d *depths) at(o *object.Object) depth {
	if i := d.snap.Place(o); i >= 0 {
		return d.of[i]
	}
	return 0
}

// set is for an object of the snapshot.
func (d *depths) set(o *object.Object, to depth) {
	i := d.snap.Place(o)
	if d.of[i] == 0 {
		d.size++
	}
	d.of[i] = to
}

// All are those that are reached in any way, in object.Compare order.
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
