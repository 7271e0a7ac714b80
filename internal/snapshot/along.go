package snapshot

import (
	"sort"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Along finds objects that are looked up in object.Compare order, or nearly so: it searches near
// the last result. In any other order it works like Find. It must be used by one goroutine.
type Along struct {
	objects []*object.Object
	at      int
}

// Along returns an Along that starts at the first object.
func (s *Snapshot) Along() *Along { return &Along{objects: s.Objects} }

// Find returns the object with the coordinates of a reference, whatever its UID; nil if there is
// none.
func (a *Along) Find(ref object.Ref) *object.Object {
	ref.UID = ""
	from, to := 0, len(a.objects)
	if a.at < len(a.objects) && object.Compare(a.objects[a.at].Ref, ref) < 0 {
		from = a.at + 1
		for step := 1; from+step < len(a.objects); step *= 2 {
			if object.Compare(a.objects[from+step-1].Ref, ref) >= 0 {
				to = from + step
				break
			}
		}
	} else {
		to = min(a.at+1, len(a.objects))
		for step := 1; to-step > 0; step *= 2 {
			if object.Compare(a.objects[to-step].Ref, ref) < 0 {
				from = to - step + 1
				break
			}
		}
	}
	i := from + sort.Search(to-from, func(i int) bool { return object.Compare(a.objects[from+i].Ref, ref) >= 0 })
	if i == len(a.objects) {
		return nil
	}
	a.at = i
	if a.objects[i].WithoutUID() == ref {
		return a.objects[i]
	}
	return nil
}
