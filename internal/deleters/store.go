package deleters

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// maxGone bounds the remembered deleted objects. A forgotten object costs another list.
const maxGone = 1 << 14

// store has the state that the watches have shown and the collector has processed. It is safe for
// concurrent use. Its objects must not be modified.
type store struct {
	// resource maps an apiVersion and kind to what the server serves.
	resource func(apiVersion, kind string) (object.Resource, error)

	mu      sync.Mutex
	objects map[schema.GroupResource]map[types.NamespacedName]*object.Object
	// gone are the objects that were seen to be deleted.
	gone map[types.UID]object.Ref
	// generation counts the changes of objects and of kinds; kinds counts those of kinds only.
	generation, kinds uint64
	changed           chan struct{}
}

func newStore(resource func(apiVersion, kind string) (object.Resource, error)) *store {
	return &store{resource: resource, objects: map[schema.GroupResource]map[types.NamespacedName]*object.Object{}, gone: map[types.UID]object.Ref{}, changed: make(chan struct{})}
}

// record stores an event. Events of a kind that is no longer served are dropped.
func (s *store) record(e object.Event) {
	o := e.Object
	r, err := s.resource(o.APIVersion, o.Kind)
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.change()
	if e.Type == object.Deleted {
		if len(s.gone) >= maxGone {
			clear(s.gone)
		}
		s.gone[o.UID] = o.Ref
	}
	if err != nil {
		return
	}
	gr, at := r.GroupResource(), types.NamespacedName{Namespace: o.Namespace, Name: o.Name}
	of := s.objects[gr]
	switch old := of[at]; {
	case e.Type != object.Deleted && of == nil:
		s.objects[gr] = map[types.NamespacedName]*object.Object{at: o}
	case e.Type != object.Deleted:
		of[at] = o
	case old != nil && old.UID == o.UID:
		delete(of, at)
	}
}

// kind records the state of a kind. A kind that is not served has no objects.
func (s *store) kind(k kube.KindState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if k.State == kube.Dropped {
		delete(s.objects, k.Resource.GroupResource())
	}
	s.kinds++
	s.change()
}

// wake signals a change outside of the store.
func (s *store) wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.change()
}

// change signals a change. The lock must be held.
func (s *store) change() {
	s.generation++
	close(s.changed)
	s.changed = make(chan struct{})
}

// now returns the number of changes so far, and a channel that the next change closes.
func (s *store) now() (generation uint64, changed <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.generation, s.changed
}

// kindChanges returns the number of changes of kinds so far.
func (s *store) kindChanges() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kinds
}

// list returns the objects of a resource that match, sorted by namespace and name.
func (s *store) list(gr schema.GroupResource, namespace string, match func(*object.Object) bool) []*object.Object {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []*object.Object
	for at, o := range s.objects[gr] {
		if (namespace == "" || at.Namespace == namespace) && match(o) {
			list = append(list, o)
		}
	}
	slices.SortFunc(list, func(a, b *object.Object) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	return list
}

// all returns the objects that match, in the order of object.Compare.
func (s *store) all(match func(*object.Object) bool) []*object.Object {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []*object.Object
	for _, of := range s.objects {
		for _, o := range of {
			if match(o) {
				list = append(list, o)
			}
		}
	}
	slices.SortFunc(list, func(a, b *object.Object) int { return object.Compare(a.Ref, b.Ref) })
	return list
}

// find returns the object at a place; nil if there is none.
func (s *store) find(gr schema.GroupResource, namespace, name string) *object.Object {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.objects[gr][types.NamespacedName{Namespace: namespace, Name: name}]
}

// deletedRef returns the reference of an object that was seen to be deleted.
func (s *store) deletedRef(uid types.UID) (object.Ref, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ref, gone := s.gone[uid]
	return ref, gone
}

// listed is a list of a resource, limited to one namespace unless it is empty.
type listed struct {
	resource  schema.GroupResource
	namespace string
	// versions are the resourceVersions of the objects by uid, version is that of the list.
	versions map[types.UID]string
	version  string
}

// hasReached reports whether the store has the state of a list or a later one: it has every object
// in that version or a later one, or has seen its deletion; and all its other objects are newer
// than the list.
func (s *store) hasReached(l listed) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := 0
	for at, o := range s.objects[l.resource] {
		if l.namespace != "" && at.Namespace != l.namespace {
			continue
		}
		switch version, there := l.versions[o.UID]; {
		case !there && !isLater(o.ResourceVersion, l.version), there && o.ResourceVersion != version && !isLater(o.ResourceVersion, version):
			return false
		case there:
			found++
		}
	}
	if found == len(l.versions) {
		return true
	}
	for uid := range l.versions {
		if _, gone := s.gone[uid]; gone {
			found++
		}
	}
	return found == len(l.versions)
}

// isLater reports whether a resourceVersion is later than another one. It returns false if one is
// not a number.
func isLater(a, b string) bool {
	x, err := strconv.ParseUint(a, 10, 64)
	y, other := strconv.ParseUint(b, 10, 64)
	return err == nil && other == nil && x > y
}
