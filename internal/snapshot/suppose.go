package snapshot

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Suppose returns the snapshot with a namespace added that it lacks although it has objects in it,
// as many dumps do. Only its existence is known. Its UID is made up (see MissingUID); its
// finalizers, labels and annotations are unknown. It returns nil if the namespace is in the
// snapshot, is proven absent, or has no objects.
func (s *Snapshot) Suppose(namespace string) *Snapshot {
	r := object.Namespace.Resource()
	if s.FindKind(object.Namespace, "", namespace) != nil || s.Covers(r, "") ||
		!slices.ContainsFunc(s.Objects, func(o *object.Object) bool { return o.Namespace == namespace && namespace != "" }) {
		return nil
	}
	o := &object.Object{Ref: object.Ref{APIVersion: r.APIVersion(), Kind: r.Kind, Name: namespace, UID: makeUID(r, "", namespace)}}
	o.Edit().Facts = &object.NamespaceFacts{Phase: "Active", Finalizers: []string{"kubernetes"}}
	return s.With(append(slices.Clone(s.Objects), o))
}
