package snapshot

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// A uid is given once. An owner whose uid is seen in one place does not exist in any other, whether
// or not that other place was read.

// findOwners notes the objects that references mean by their uids: the owners alone, which are
// mostly far fewer than the objects. A uid that several objects have means none of them.
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

// Elsewhere returns the object that has the uid of a reference and that the reference cannot
// mean: it is in another namespace, or of another name or kind. It is nil if the uid was not seen, and
// where the object may be the one that is meant under another kind, as ImageStreamTags have the uid
// of their ImageStream.
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
