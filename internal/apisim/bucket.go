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
	// in the order of the names and has no gaps, and few have been asked for.
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

// placeOf is where in the list the object of a name is, perhaps at the guess. For a few questions a
// search costs less than to note where all are.
func (b *bucket) placeOf(name string, guess int) (int, bool) {
	if guess < len(b.list) && b.list[guess] != nil && b.list[guess].Name == name {
		return guess, true
	}
	const few = 16
	if !b.noted {
		if b.asked++; b.asked > len(b.list)/few {
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
func (b *bucket) nameAt(i uint32) string { return b.list[i].Name }

// index notes the places.
func (b *bucket) index() {
	if b.noted {
		return
	}
	b.noted, b.places = true, index.Sized(cap(b.list))
	for i, o := range b.list {
		b.places.Put(o.Name, uint32(i), b.nameAt)
	}
}

func (b *bucket) put(o *object.Object, guess int) {
	n := len(b.list)
	if !b.noted && (n == 0 || b.list[n-1].Name < o.Name) {
		b.list = append(b.list, o)
		return
	}
	b.index()
	if i, ok := b.placeOf(o.Name, guess); ok {
		b.list[i] = o
		return
	}
	if n > 0 && !b.unsorted {
		b.unsorted = b.list[n-1] == nil || b.list[n-1].Name > o.Name
	}
	b.list = append(b.list, o)
	b.places.Put(o.Name, uint32(n), b.nameAt)
}

func (b *bucket) drop(name string) {
	b.index()
	i, ok := b.places.Take(name, b.nameAt)
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
	moved := make([]uint32, len(b.list))
	kept := b.list[:0]
	for i, o := range b.list {
		if o != nil {
			moved[i] = uint32(len(kept))
			kept = append(kept, o)
		}
	}
	clear(b.list[len(kept):])
	b.list, b.dropped = kept, 0
	b.places.Renumber(func(i uint32) uint32 { return moved[i] })
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
