package apisim

import (
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/index"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// bucket holds the objects of one resource in one namespace. Controllers look through all of them
// again and again, so they are in a list; a snapshot puts them there by name.
type bucket struct {
	mark *mark
	list []*object.Object
	// places are where in the list the objects are, by name. They are not noted as long as the list is
	// in the order of the names and few had to be searched for, none of them among gaps.
	places index.Index
	noted  bool
	asked  int
	// The list has nil for what was dropped.
	dropped int
	// unsorted tells that the list is not in the order of the names.
	unsorted bool
}

func newBucket(m *mark, size int) *bucket {
	return &bucket{mark: m, list: make([]*object.Object, 0, size)}
}

// clone is a bucket for another store. What is shared has its places: finding does not change it.
func (b *bucket) clone(m *mark) *bucket {
	c := *b
	c.mark, c.places, c.list = m, b.places.Clone(), slices.Clone(b.list)
	return &c
}

// size is the number of objects in the bucket.
func (b *bucket) size() int { return len(b.list) - b.dropped }

// placeOf is where in the list the object of a name is, perhaps where the trail leads. For a few
// questions a search costs less than to note where all are.
func (b *bucket) placeOf(name string, t *trail) (int, bool) {
	if b.has(t.at, name) {
		return t.at, true
	}
	if t.steady && b.has(t.at+t.step, name) {
		t.moveTo(t.at + t.step)
		return t.at, true
	}
	i, ok := b.search(name)
	if ok {
		t.moveTo(i)
	}
	return i, ok
}

func (b *bucket) has(i int, name string) bool {
	return uint(i) < uint(len(b.list)) && b.list[i] != nil && b.list[i].Name == name
}

func (b *bucket) search(name string) (int, bool) {
	const few = 16
	if !b.noted {
		if b.asked++; b.asked > len(b.list)/few || b.dropped > 0 {
			b.index()
		}
	}
	if b.noted {
		i, ok := b.places.Find(name, b.nameAt)
		return int(i), ok
	}
	return slices.BinarySearchFunc(b.list, name, func(o *object.Object, name string) int { return strings.Compare(o.Name, name) })
}

// nameAt is the name of the object at a place, for the index.
func (b *bucket) nameAt(i uint32) string {
	if b.list[i] == nil {
		return nobody
	}
	return b.list[i].Name
}

// nobody is no object's name: it is not UTF-8.
const nobody = "\xff"

// index notes the places.
func (b *bucket) index() {
	if b.noted {
		return
	}
	b.noted, b.places = true, index.Sized(cap(b.list))
	for i, o := range b.list {
		if o != nil {
			b.places.Put(o.Name, uint32(i), b.nameAt)
		}
	}
}

func (b *bucket) put(o *object.Object, t *trail) {
	n := len(b.list)
	if !b.noted && (n == 0 || b.list[n-1] != nil && b.list[n-1].Name < o.Name) {
		b.list = append(b.list, o)
		return
	}
	b.index()
	if i, ok := b.placeOf(o.Name, t); ok {
		b.list[i] = o
		return
	}
	if n > 0 && !b.unsorted {
		b.unsorted = b.list[n-1] == nil || b.list[n-1].Name > o.Name
	}
	b.list = append(b.list, o)
	b.places.Put(o.Name, uint32(n), b.nameAt)
}

// drop leaves the name among the places until the list is closed.
func (b *bucket) drop(name string, t *trail) {
	i, ok := b.placeOf(name, t)
	if !ok {
		return
	}
	b.list[i] = nil
	if b.dropped++; b.dropped > len(b.list)/2 {
		b.close()
	}
}

// close removes the gaps from the list. It goes through what is left after as many drops.
func (b *bucket) close() {
	const gone = ^uint32(0)
	moved := make([]uint32, len(b.list))
	kept := b.list[:0]
	for i, o := range b.list {
		moved[i] = gone
		if o != nil {
			moved[i] = uint32(len(kept))
			kept = append(kept, o)
		}
	}
	clear(b.list[len(kept):])
	b.list, b.dropped = kept, 0
	if b.noted {
		b.places.Renumber(len(kept), func(i uint32) (uint32, bool) { return moved[i], moved[i] != gone })
	}
}

// matching appends what matches to a list, by name. A nil bucket is empty.
func (b *bucket) matching(match func(*object.Object) bool, list []*object.Object) []*object.Object {
	if b == nil {
		return list
	}
	start := len(list)
	for _, o := range b.list {
		if o != nil && match(o) {
			list = append(list, o)
		}
	}
	if b.unsorted {
		slices.SortFunc(list[start:], func(x, y *object.Object) int { return strings.Compare(x.Name, y.Name) })
	}
	return list
}

// all matches every object.
func all(*object.Object) bool { return true }
