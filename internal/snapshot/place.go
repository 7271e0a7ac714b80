package snapshot

import (
	"slices"
	"sync"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Place returns the index in Objects of an object of the snapshot, in any of its versions; -1 if no
// object has these coordinates and this UID. It is much faster than Find because the hint of the
// object mostly gives the index. It is safe for concurrent use.
func (s *Snapshot) Place(o *object.Object) int {
	if i := s.hinted(o); i >= 0 && i < len(s.Objects) && (s.Objects[i] == o || s.Objects[i].Ref == o.Ref) {
		return i
	}
	i, found := slices.BinarySearchFunc(s.Objects, o, compareObjects)
	if !found {
		return -1
	}
	return i
}

// number sets the hints of the objects to their positions.
func (s *Snapshot) number() {
	for i, o := range s.Objects {
		if n := uint32(i) + 1; o.Hint() != n {
			o.SetHint(n)
		}
	}
}

// hinted returns the index that the object may have. Its hint may come from another snapshot.
func (s *Snapshot) hinted(o *object.Object) int {
	switch {
	case o.Hint() == 0:
		return -1
	case s.places == nil:
		return int(o.Hint()) - 1
	default:
		return s.places.of(o.Hint(), s.Objects)
	}
}

// places are the hints of the objects of a derived snapshot, which are ascending there as well.
// They are collected on first use.
type places struct {
	once  sync.Once
	hints []uint32
}

func (p *places) of(hint uint32, objects []*object.Object) int {
	p.once.Do(func() {
		p.hints = make([]uint32, len(objects))
		for i, o := range objects {
			p.hints[i] = o.Hint()
		}
	})
	i, _ := slices.BinarySearch(p.hints, hint)
	return i
}
