package snapshot

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// A projection is a resource of an aggregated API server that shows the objects of another resource
// with their UIDs: an ImageStreamTag has the UID of its ImageStream. It is neither an owner nor a
// dependent, and is deleted along with its source. A snapshot omits its objects. The resource keeps
// only the verb get, so that a list of it that was not read is no gap.

// dropProjections omits the objects of known projections.
func (s *Snapshot) dropProjections() {
	known := map[schema.GroupResource]bool{}
	var stored storedKinds
	for _, r := range s.Resources.All() {
		of, ok := object.ProjectionOf(r.GroupResource())
		if !ok {
			continue
		}
		if source, ok := s.Resources.Preferred(of); !ok || !source.Served() {
			continue
		}
		if stored == nil {
			stored = s.storedKinds()
		}
		if !stored[schema.GroupKind{Group: r.Group, Kind: r.Kind}] {
			known[r.GroupResource()] = true
		}
	}
	s.drop(known)
}

// withoutProjections omits the objects of resources that only show objects of another resource,
// judged by groups of objects with the same UID. It returns the other groups.
func (s *Snapshot) withoutProjections(groups [][]*object.Object) [][]*object.Object {
	if len(groups) == 0 {
		return nil
	}
	stored, shown := s.storedKinds(), map[typeName]int{}
	for _, group := range groups {
		sources := map[[2]string]bool{}
		for _, o := range group {
			if stored.has(o) {
				sources[[2]string{o.Namespace, o.Name}] = true
			}
		}
		for _, o := range group {
			if sources[[2]string{o.Namespace, o.Name}] && !stored.has(o) {
				shown[typeName{o.APIVersion, o.Kind}]++
			}
		}
	}
	if len(shown) == 0 {
		return groups
	}
	for _, o := range s.Objects {
		if name := (typeName{o.APIVersion, o.Kind}); shown[name] > 0 {
			shown[name]--
		} else if _, ok := shown[name]; ok {
			delete(shown, name) // it has an object with its own UID
		}
	}
	found := map[schema.GroupResource]bool{}
	for name := range shown {
		found[s.canonicalOf(name).resource.GroupResource()] = true
	}
	s.drop(found)
	for i, group := range groups {
		groups[i] = slices.DeleteFunc(group, func(o *object.Object) bool {
			_, ok := shown[typeName{o.APIVersion, o.Kind}]
			return ok
		})
	}
	return slices.DeleteFunc(groups, func(group []*object.Object) bool { return len(group) < 2 })
}

// storedKinds are the kinds, besides the built-in ones, that the API server is known to store:
// those of CRDs.
type storedKinds map[schema.GroupKind]bool

func (s *Snapshot) storedKinds() storedKinds {
	stored := storedKinds{}
	for _, d := range definitionsOf(s.Objects) {
		stored[schema.GroupKind{Group: d.Group, Kind: d.Kind}] = true
	}
	return stored
}

func (stored storedKinds) has(o *object.Object) bool {
	_, err := builtinResources().For(o.APIVersion, o.Kind)
	return err == nil || stored[schema.GroupKind{Group: object.GroupOf(o.APIVersion), Kind: o.Kind}]
}

// drop omits the objects of some resources and removes all verbs except get from them.
func (s *Snapshot) drop(resources map[schema.GroupResource]bool) {
	if len(resources) == 0 {
		return
	}
	kept := &object.Resources{}
	gone := map[typeName]bool{}
	for _, r := range s.Resources.All() {
		if resources[r.GroupResource()] {
			r.Verbs &= object.Get
			gone[typeName{r.APIVersion(), r.Kind}] = true
		}
		kept.Add(r)
	}
	s.Resources = kept
	s.Objects = slices.DeleteFunc(s.Objects, func(o *object.Object) bool { return gone[typeName{o.APIVersion, o.Kind}] })
}
