package apisim

import (
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// bucket holds the objects of one resource in one namespace. Controllers look through all of them
// again and again, so they are in a list; a snapshot puts them there by name.
type bucket struct {
	mark *mark
	// places are where in the list the objects are, by name.
	places map[string]int32
	// list has nil for what was dropped.
	list    []*object.Object
	dropped int
	// unsorted tells that the list is not in the order of the names.
	unsorted bool
}

func newBucket(m *mark, size int) *bucket {
	return &bucket{mark: m, places: make(map[string]int32, size), list: make([]*object.Object, 0, size)}
}

func (b *bucket) clone(m *mark) *bucket {
	c := *b
	c.mark, c.places, c.list = m, maps.Clone(b.places), slices.Clone(b.list)
	return &c
}

// find is the object of a name; nil if there is none. A nil bucket is empty.
func (b *bucket) find(name string) *object.Object {
	if b == nil {
		return nil
	}
	if i, ok := b.places[name]; ok {
		return b.list[i]
	}
	return nil
}

func (b *bucket) put(o *object.Object) {
	if i, ok := b.places[o.Name]; ok {
		b.list[i] = o
		return
	}
	if n := len(b.list); n > 0 && !b.unsorted {
		b.unsorted = b.list[n-1] == nil || b.list[n-1].Name > o.Name
	}
	b.places[o.Name] = int32(len(b.list))
	b.list = append(b.list, o)
}

func (b *bucket) drop(name string) {
	i, ok := b.places[name]
	if !ok {
		return
	}
	b.list[i] = nil
	delete(b.places, name)
	if b.dropped++; b.dropped > len(b.list)/2 {
		b.close()
	}
}

// close removes the gaps from the list. It goes through what is left after as many drops.
func (b *bucket) close() {
	kept := b.list[:0]
	for _, o := range b.list {
		if o != nil {
			b.places[o.Name] = int32(len(kept))
			kept = append(kept, o)
		}
	}
	clear(b.list[len(kept):])
	b.list, b.dropped = kept, 0
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
