package snapshot

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// take fills s with an object, reusing the list of owners.
func (s *storedObject) take(o *object.Object, typeIndex int) {
	owners := s.Owners[:0]
	for _, owner := range o.Owners {
		owners = append(owners, storedOwner(owner))
	}
	*s = storedObject{
		Type: typeIndex, Namespace: o.Namespace, Name: o.Name, UID: o.UID,
		ResourceVersion: o.ResourceVersion, Owners: owners, Labels: o.Labels, Created: o.Created, Generation: o.Generation,
		Finalizers: o.Finalizers(), DeletionTimestamp: o.DeletionTimestamp(), GracePeriod: o.GracePeriod(),
		Protection: o.Protection(), Revision: o.Revision(), StoredFacts: object.StoredFactsOf(o),
	}
}

// object returns the stored object, with repeated strings interned.
func (s *storedObject) object(t typeName, intern *manifest.Interner) *object.Object {
	o := &object.Object{
		Ref: object.Ref{APIVersion: t.apiVersion, Kind: t.kind,
			Namespace: intern.String(s.Namespace), Name: s.Name, UID: s.UID},
		ResourceVersion: s.ResourceVersion,
		Labels:          object.Labels(intern.String(string(s.Labels))),
		Created:         s.Created, Generation: s.Generation,
	}
	if len(s.Owners) > 0 {
		o.Owners = make([]object.OwnerReference, len(s.Owners))
	}
	for i, owner := range s.Owners {
		owner.APIVersion, owner.Kind = intern.String(owner.APIVersion), intern.String(owner.Kind)
		owner.Name, owner.UID = intern.String(owner.Name), types.UID(intern.String(string(owner.UID)))
		o.Owners[i] = object.OwnerReference(owner)
	}
	o.Lifecycle = s.lifecycle(intern)
	return o
}

func (s *storedObject) lifecycle(intern *manifest.Interner) *object.Lifecycle {
	facts := s.Facts()
	if len(s.Finalizers) == 0 && s.DeletionTimestamp == 0 && s.GracePeriod == nil && s.Protection == 0 && s.Revision == 0 && facts == nil {
		return nil
	}
	for i, f := range s.Finalizers {
		s.Finalizers[i] = intern.String(f)
	}
	if facts != nil {
		facts.Share(intern.String)
	}
	return &object.Lifecycle{
		DeletionTimestamp: s.DeletionTimestamp, GracePeriod: s.GracePeriod, Finalizers: s.Finalizers, Protection: s.Protection,
		Revision: s.Revision, Facts: facts,
	}
}
