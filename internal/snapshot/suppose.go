package snapshot

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Suppose is the snapshot with a namespace of which it holds content and not the object
// itself, as many dumps do: no more of it is known than that it is there. Its uid is made
// up (see MissingUID); finalizers, labels and annotations of its own are unknown. It is nil
// where nothing is to be supposed: the namespace is there, is proven not to be, or nothing
// in it was seen.
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
