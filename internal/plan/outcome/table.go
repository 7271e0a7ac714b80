package outcome

import "iter"

// pageSize is how many keys are on a page of a table. Where little happens few pages are there.
const pageSize = 1 << 8

// table has something for keys, in their order.
type table[T any] struct {
	pages []*[pageSize]*T
	size  int
}

// at is what is there for a key; nil for nothing, and for the key of nobody.
func (t *table[T]) at(k Key) *T {
	if k < 0 || int(k)/pageSize >= len(t.pages) {
		return nil
	}
	page := t.pages[int(k)/pageSize]
	if page == nil {
		return nil
	}
	return page[int(k)%pageSize]
}

// set puts something there, or nil.
func (t *table[T]) set(k Key, x *T) {
	n := int(k) / pageSize
	if n >= len(t.pages) {
		t.pages = append(t.pages, make([]*[pageSize]*T, n+1-len(t.pages))...)
	}
	if t.pages[n] == nil {
		t.pages[n] = new([pageSize]*T)
	}
	at := &t.pages[n][int(k)%pageSize]
	if *at != nil {
		t.size--
	}
	if x != nil {
		t.size++
	}
	*at = x
}

// all are those that are there. What is added meanwhile may be among them, or not.
func (t *table[T]) all() iter.Seq2[Key, *T] {
	return func(yield func(Key, *T) bool) {
		for n, page := range t.pages {
			if page == nil {
				continue
			}
			for i := range page {
				if page[i] != nil && !yield(Key(n*pageSize+i), page[i]) {
					return
				}
			}
		}
	}
}

// clone is a table with the same.
func (t *table[T]) clone() table[T] {
	c := table[T]{pages: make([]*[pageSize]*T, len(t.pages)), size: t.size}
	for n, page := range t.pages {
		if page != nil {
			own := *page
			c.pages[n] = &own
		}
	}
	return c
}

// slab makes many of a kind that live as long as each other, with few allocations.
type slab[T any] struct{ free []T }

func (s *slab[T]) take() *T {
	const many = 64
	if len(s.free) == 0 {
		s.free = make([]T, many)
	}
	x := &s.free[0]
	s.free = s.free[1:]
	return x
}
