package snapshot

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// UIDs are unique. An owner with a UID that was seen at some coordinates doesn't exist at any
// other, whether those were read or not.

// findOwners records the objects with a UID in references. It stores only the owners, which are
// mostly far fewer than the objects. A UID of several objects is recorded as nil.
func (s *Snapshot) findOwners() {
	named := map[types.UID]bool{}
	var before []object.OwnerReference
	for _, o := range s.Objects {
		if object.SameOwners(before, o.Owners) {
			continue
		}
		before = o.Owners
		for _, ref := range o.Owners {
			named[ref.UID] = true
		}
	}
	s.owners = map[types.UID]*object.Object{}
	for _, o := range s.Objects {
		if !named[o.UID] {
			continue
		}
		if _, twice := s.owners[o.UID]; twice {
			s.owners[o.UID] = nil
			continue
		}
		s.owners[o.UID] = o
	}
}

// Elsewhere returns the object with the UID of the reference if the reference can't mean it: it has
// another namespace, name or kind. It returns nil if the UID was not seen, or if the object may be
// the right one under another kind, as ImageStreamTags have the UID of their ImageStream.
func (s *Snapshot) Elsewhere(ref object.Ref) *object.Object {
	o := s.owners[ref.UID]
	if o == nil || ref.UID == "" {
		return nil
	}
	r, err := s.Resources.For(ref.APIVersion, ref.Kind)
	if err != nil {
		return nil
	}
	namespace := ref.Namespace
	if !r.Namespaced {
		namespace = ""
	}
	if o.Namespace != namespace {
		return o
	}
	of, err := s.Resources.For(o.APIVersion, o.Kind)
	switch same := err == nil && object.Storage(of.GroupResource()) == object.Storage(r.GroupResource()); {
	case err != nil, same && o.Name == ref.Name:
		return nil
	case same, !object.MayBeCustom(of.Group) && !object.MayBeCustom(r.Group):
		return o
	default:
		return nil
	}
}
