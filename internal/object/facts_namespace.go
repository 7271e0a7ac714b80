package object

import (
	"slices"
)

// NamespaceFacts returns nil unless the object is a Namespace.
func (o *Object) NamespaceFacts() *NamespaceFacts {
	f, _ := o.lifecycle().Facts.(*NamespaceFacts)
	return f
}

// NamespaceFacts are the fields that the deletion of a namespace depends on.
type NamespaceFacts struct {
	Phase string `json:"phase,omitzero"`
	// Finalizers are spec.finalizers, not metadata.finalizers.
	Finalizers []string `json:"finalizers,omitempty"`
}

func (n *NamespaceFacts) store(s *StoredFacts) { s.Namespace = n }

// Share replaces strings that repeat over many objects by text(s), for interning.
func (n *NamespaceFacts) Share(text func(string) string) {
	n.Phase = text(n.Phase)
	for i := range n.Finalizers {
		n.Finalizers[i] = text(n.Finalizers[i])
	}
}

func (n *NamespaceFacts) equal(x Facts) bool {
	y, ok := x.(*NamespaceFacts)
	return ok && n.Phase == y.Phase && slices.Equal(n.Finalizers, y.Finalizers)
}
