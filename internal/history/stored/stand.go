package stored

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// open adds a limit for each kind that cannot be read completely.
func (l *look) open() {
	for _, g := range l.record.stored.Gaps {
		if r := l.record.resourceOf(g); !history.Ordinary(r) {
			l.limit(r, g.Why)
		}
	}
}

// resourceOf returns the resource of a gap, which may cover a whole group version.
func (r *Record) resourceOf(g snapshot.Gap) object.Resource {
	group, version := object.SplitAPIVersion(g.APIVersion)
	if known, ok := r.resources.Preferred(schema.GroupResource{Group: group, Resource: g.Resource}); ok {
		return known
	}
	return object.Resource{Group: group, Version: version, Name: g.Resource, Namespaced: true}
}

// stand adds the unchanged objects, and the absent objects that the changes depend on.
func (l *look) stand() {
	around := map[object.Ref]bool{}
	for i := range l.past.Changes {
		for _, o := range []*object.Object{l.past.Changes[i].Old, l.past.Changes[i].Object} {
			if o == nil {
				continue
			}
			for _, ref := range history.Around(o, l.past.Resources) {
				if at, r, ok := l.record.locate(ref); ok && !around[at] {
					around[at] = true
					l.absent(at, r)
				}
			}
		}
	}
	for _, o := range l.record.stored.Objects {
		at := o.WithoutUID()
		if l.written[at] || !l.wants(o.Namespace) && !around[at] {
			continue
		}
		if r, err := l.past.Resources.For(o.APIVersion, o.Kind); err != nil || !history.Ordinary(r) {
			l.past.Standing = append(l.past.Standing, o)
		}
	}
	slices.SortFunc(l.past.Standing, func(a, b *object.Object) int { return object.Compare(a.Ref, b.Ref) })
	slices.SortFunc(l.past.Absent, object.Compare)
}

// locate returns a reference with its served resource.
func (r *Record) locate(ref object.Ref) (object.Ref, object.Resource, bool) {
	res, err := r.resources.For(ref.APIVersion, ref.Kind)
	if err != nil || !res.Served() {
		return ref, res, false
	}
	if stored, ok := r.resources.Stored(res.GroupResource()); ok {
		res = stored
	}
	at := object.Ref{APIVersion: res.APIVersion(), Kind: res.Kind, Namespace: ref.Namespace, Name: ref.Name}
	if !res.Namespaced {
		at.Namespace = ""
	}
	return at, res, true
}

// absent records that a place was empty, if that is known.
func (l *look) absent(at object.Ref, r object.Resource) {
	s := l.record.stored
	if history.Ordinary(r) || l.written[at] || l.limited[r.GroupResource()] || s.Find(at.APIVersion, at.Kind, at.Namespace, at.Name) != nil {
		return
	}
	// For a resource that was only served in the past, all stored objects are known.
	if _, served := s.Resources.Preferred(r.GroupResource()); !served || s.Covers(r, at.Namespace) {
		l.past.Absent = append(l.past.Absent, at)
	}
}
