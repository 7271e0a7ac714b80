package outcome

import "iter"

// pageSize is the number of keys per page of a table. Pages without entries are not allocated.
const pageSize = 1 << 8

// table maps keys to pointers, and iterates in the order of the keys.
type table[T any] struct {
	pages []*[pageSize]*T
	size  int
}

// at returns the entry of a key; nil if it has none or is invalid.
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

// set replaces the entry of a key; nil removes it.
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

// all iterates over the entries. Entries added meanwhile may or may not be visited.
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

// clone returns a copy that shares the entries.
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

// slab allocates values of one type in batches. A batch is freed as a whole.
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
