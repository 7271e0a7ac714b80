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
	// trails has one trail per shelf.
	trails []trail
	// odd are the dropped objects with impossible names, which a foreign dump can contain. A
	// request for one of them gets NotFound, not the answer for another path.
	odd map[oddPlace]bool
}

type oddPlace struct {
	shelf           int
	namespace, name string
}

// trail predicts the next position in a bucket. An object that was read is mostly written next;
// then follows the object one step further, if the last two steps were equal.
type trail struct {
	at, step int
	steady   bool
}

func (t *trail) moveTo(at int) {
	step := at - t.at
	t.at, t.step, t.steady = at, step, step == t.step
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
			b.index()
		}
	}
	st.mark = &mark{}
	return store{mark: &mark{}, shelves: slices.Clone(st.shelves), index: maps.Clone(st.index), trails: slices.Clone(st.trails), odd: maps.Clone(st.odd)}
}

// shelfOf returns the index of the resource's shelf and creates the shelf if necessary.
func (st *store) shelfOf(gr schema.GroupResource) int {
	i, ok := st.index[gr]
	if !ok {
		i = len(st.shelves)
		st.shelves = append(st.shelves, &shelf{mark: st.mark, resource: gr, namespaces: map[string]*bucket{}})
		st.trails = append(st.trails, trail{})
		st.index[gr] = i
	}
	return i
}

func (st *store) find(shelf int, namespace, name string) *object.Object {
	b := st.shelves[shelf].namespaces[namespace]
	if b == nil {
		return nil
	}
	i, ok := b.placeOf(name, &st.trails[shelf])
	if !ok {
		return nil
	}
	return b.list[i]
}

// put stores an object under its name. size is the expected number of objects in the bucket, 0 if
// unknown.
func (st *store) put(shelf int, namespace string, size int, o *object.Object) {
	st.bucket(shelf, namespace, size).put(o, &st.trails[shelf])
}

func (st *store) drop(shelf int, namespace, name string) {
	st.bucket(shelf, namespace, 0).drop(name, &st.trails[shelf])
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

// in lists the objects of one resource by namespace and name. An empty namespace means all.
func (st *store) in(shelf int, namespace string) []*object.Object {
	sh := st.shelves[shelf]
	if namespace != "" {
		return sh.namespaces[namespace].matching(all, nil)
	}
	var list []*object.Object
	for _, ns := range sh.order {
		list = sh.namespaces[ns].matching(all, list)
	}
	return list
}
