package apisim

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// store holds one object per resource, namespace and name. It is copy-on-write: shelves and buckets
// carry the mark of the store that may write to them, and any other store copies them first. That
// makes Clone cheap.
type store struct {
	mark    *mark
	shelves []*shelf
	index   map[schema.GroupResource]int
	// odd are the removed objects with impossible names, which a foreign dump can contain. A later
	// request for one of them gets NotFound, not the answer for another path.
	odd map[oddPlace]bool
}

type oddPlace struct {
	shelf           int
	namespace, name string
}

// mark identifies a store by its address, so it must not have size zero.
type mark struct{ _ byte }

// shelf holds the objects of one resource.
type shelf struct {
	mark       *mark
	resource   schema.GroupResource
	namespaces map[string]*bucket
	// order are the names of the namespaces, sorted.
	order []string
}

func newStore() store {
	return store{mark: &mark{}, index: map[schema.GroupResource]int{}}
}

// share returns a store with the same content. Afterwards neither store writes to the shared parts.
func (st *store) share() store {
	for _, sh := range st.shelves {
		for _, b := range sh.namespaces {
			b.index() // so that concurrent lookups don't modify it
		}
	}
	st.mark = &mark{}
	return store{mark: &mark{}, shelves: slices.Clone(st.shelves), index: maps.Clone(st.index), odd: maps.Clone(st.odd)}
}

// shelfOf returns the index of the resource's shelf and creates the shelf if necessary.
func (st *store) shelfOf(gr schema.GroupResource) int {
	i, ok := st.index[gr]
	if !ok {
		i = len(st.shelves)
		st.shelves = append(st.shelves, &shelf{mark: st.mark, resource: gr, namespaces: map[string]*bucket{}})
		st.index[gr] = i
	}
	return i
}

// find returns the object with a name; nil if there is none.
func (st *store) find(shelf int, namespace, name string) *object.Object {
	b := st.shelves[shelf].namespaces[namespace]
	if b == nil {
		return nil
	}
	if i, ok := b.index()[name]; ok {
		return b.list[i]
	}
	return nil
}

// put stores an object under its name. size is the expected number of objects in the bucket, 0 if
// unknown.
func (st *store) put(shelf int, namespace string, size int, o *object.Object) {
	st.bucket(shelf, namespace, size).put(o)
}

// drop removes the object with a name.
func (st *store) drop(shelf int, namespace, name string) {
	st.bucket(shelf, namespace, 0).drop(name)
	if !object.IsPossibleName(name) {
		if st.odd == nil {
			st.odd = map[oddPlace]bool{}
		}
		st.odd[oddPlace{shelf, namespace, name}] = true
	}
}

// bucket returns a bucket for writing. It creates or copies the bucket if necessary.
func (st *store) bucket(i int, namespace string, size int) *bucket {
	sh := st.shelves[i]
	if sh.mark != st.mark {
		sh = &shelf{mark: st.mark, resource: sh.resource, namespaces: maps.Clone(sh.namespaces), order: slices.Clone(sh.order)}
		st.shelves[i] = sh
	}
	b := sh.namespaces[namespace]
	switch {
	case b == nil:
		b = newBucket(st.mark, size)
		sh.namespaces[namespace] = b
		at, _ := slices.BinarySearch(sh.order, namespace)
		sh.order = slices.Insert(sh.order, at, namespace)
	case b.mark != st.mark:
		b = b.clone(st.mark)
		sh.namespaces[namespace] = b
	}
	return b
}

// all lists all objects by group, resource, namespace and name.
func (st *store) all() []*object.Object {
	shelves := slices.Clone(st.shelves)
	slices.SortFunc(shelves, func(a, b *shelf) int {
		return cmp.Or(strings.Compare(a.resource.Group, b.resource.Group), strings.Compare(a.resource.Resource, b.resource.Resource))
	})
	size := 0
	for _, sh := range shelves {
		for _, b := range sh.namespaces {
			size += b.size()
		}
	}
	list := make([]*object.Object, 0, size)
	for _, sh := range shelves {
		for _, ns := range sh.order {
			list = sh.namespaces[ns].matching(all, list)
		}
	}
	return list
}

// in lists the matching objects of one resource by namespace and name. An empty namespace means all.
func (st *store) in(shelf int, namespace string, match func(*object.Object) bool) []*object.Object {
	sh := st.shelves[shelf]
	if namespace != "" {
		return sh.namespaces[namespace].matching(match, nil)
	}
	var list []*object.Object
	for _, ns := range sh.order {
		list = sh.namespaces[ns].matching(match, list)
	}
	return list
}

// bucket holds the objects of one resource in one namespace. It is a list because controllers
// iterate over all of them often. A snapshot fills it in the order of names.
type bucket struct {
	mark *mark
	list []*object.Object
	// places maps a name to its index in list; nil until a name is looked up.
	places map[string]int
	// dropped is the number of nil entries in list, which are left by drop.
	dropped int
	// unsorted is true if list is not in the order of names.
	unsorted bool
}

func newBucket(m *mark, size int) *bucket {
	return &bucket{mark: m, list: make([]*object.Object, 0, size)}
}

// clone returns a copy of the bucket for another store.
func (b *bucket) clone(m *mark) *bucket {
	c := *b
	c.mark, c.places, c.list = m, maps.Clone(b.places), slices.Clone(b.list)
	return &c
}

// size is the number of objects in the bucket.
func (b *bucket) size() int { return len(b.list) - b.dropped }

// index returns places and builds it if necessary.
func (b *bucket) index() map[string]int {
	if b.places == nil {
		b.places = make(map[string]int, len(b.list))
		for i, o := range b.list {
			b.places[o.Name] = i
		}
	}
	return b.places
}

// put adds an object, or replaces the one with its name.
func (b *bucket) put(o *object.Object) {
	n := len(b.list)
	if b.places == nil && (n == 0 || b.list[n-1].Name < o.Name) {
		b.list = append(b.list, o)
		return
	}
	if i, ok := b.index()[o.Name]; ok {
		b.list[i] = o
		return
	}
	if n > 0 && !b.unsorted {
		b.unsorted = b.list[n-1] == nil || b.list[n-1].Name > o.Name
	}
	b.list = append(b.list, o)
	b.places[o.Name] = n
}

// drop removes the named object.
func (b *bucket) drop(name string) {
	i, ok := b.index()[name]
	if !ok {
		return
	}
	delete(b.places, name)
	b.list[i] = nil
	if b.dropped++; b.dropped > len(b.list)/2 {
		b.close()
	}
}

// close removes the nil entries from list. It takes time linear in the list, and drop calls it once
// more than half of the entries are nil.
func (b *bucket) close() {
	kept := b.list[:0]
	for _, o := range b.list {
		if o != nil {
			b.places[o.Name] = len(kept)
			kept = append(kept, o)
		}
	}
	clear(b.list[len(kept):])
	b.list, b.dropped = kept, 0
}

// matching appends the matching objects to list, sorted by name. A nil bucket is empty.
func (b *bucket) matching(match func(*object.Object) bool, list []*object.Object) []*object.Object {
	if b == nil {
		return list
	}
	start := len(list)
	list = append(list, object.Filtered(b.list, func(o *object.Object) bool { return o != nil && match(o) })...)
	if b.unsorted {
		slices.SortFunc(list[start:], func(x, y *object.Object) int { return strings.Compare(x.Name, y.Name) })
	}
	return list
}

// all matches every object.
func all(*object.Object) bool { return true }
