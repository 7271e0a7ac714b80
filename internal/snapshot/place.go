package snapshot

import (
	"slices"
	"sync"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Place is where an object of the snapshot stands among Objects, whatever has become of it
// since; -1 for one that is not there under these coordinates and with this uid. It is much
// faster than Find, for the object mostly knows. It may be asked by several goroutines.
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

// number tells the objects where they stand.
func (s *Snapshot) number() {
	for i, o := range s.Objects {
		if n := uint32(i) + 1; o.Hint() != n {
			o.SetHint(n)
		}
	}
}

// hinted is where the object may stand: others than this snapshot may have given it its hint.
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

// places are the hints of the objects of a part of a snapshot, which are in their order there as
// well. They are noted when somebody asks.
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
