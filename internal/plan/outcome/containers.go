package outcome

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// containers returns the objects that take o along when they are deleted, if they are gone or being
// deleted: its namespace, its CRD, the Service or the Endpoints that it belongs to, the node of a
// pod, and the CRDs behind an APIService.
func (j *Judge) containers(o *object.Object) []object.Ref {
	var refs []object.Ref
	add := func(container *object.Object) {
		if container == nil {
			return
		}
		if tr := j.Tracks.Meant(container.Ref); container.BeingDeleted() || tr != nil && (tr.Last == nil || tr.Last.BeingDeleted()) {
			refs = append(refs, container.Ref)
		}
	}
	if o.Namespace != "" {
		add(j.Snap.Find("v1", "Namespace", "", o.Namespace))
	}
	definition := func(r object.Resource) {
		add(j.Snap.FindKind(object.CRD, "", r.Name+"."+r.Group))
	}
	if r, err := j.Server.Resource(o.APIVersion, o.Kind); err == nil && r.Group != "" {
		definition(r)
	}
	if owner, ok := o.ImplicitOwner(); ok && len(refs) == 0 && (owner.Kind == object.Service || owner.Kind == object.Endpoints) {
		add(j.Snap.FindKind(owner.Kind, owner.Namespace, owner.Name))
	}
	if node, ok := nodeOf(o); ok && len(refs) == 0 {
		add(j.Snap.Find(node.APIVersion, node.Kind, "", node.Name))
	}
	if o.Is(object.APIService) {
		version, group, _ := strings.Cut(o.Name, ".")
		for _, r := range j.Snap.Resources.All() {
			if r.Group == group && r.Version == version {
				definition(r)
			}
		}
	}
	return refs
}

// Leaves reports whether an object is gone or being deleted by now.
func (j *Judge) Leaves(o *object.Object) bool {
	tr := j.Tracks.Known(o)
	if tr == nil {
		return o.BeingDeleted()
	}
	return tr.Last == nil || tr.Last.BeingDeleted()
}

// Staying returns the objects that still exist. Those that are being deleted are included, because
// an object uses others until it is gone.
func (j *Judge) Staying(refs []object.Ref) []object.Ref {
	return slices.DeleteFunc(slices.Clone(refs), func(ref object.Ref) bool {
		o := j.Snap.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name)
		if o == nil {
			return false
		}
		tr := j.Tracks.Known(o)
		return tr != nil && tr.Last == nil
	})
}

// NamespaceRef returns a reference to a namespace, without a uid.
func NamespaceRef(name string) object.Ref {
	return object.Ref{APIVersion: "v1", Kind: "Namespace", Name: name}
}

// MadeUp reports whether a uid is a placeholder for one that the snapshot lacks.
func MadeUp(uid types.UID) bool { return strings.HasPrefix(string(uid), snapshot.MissingUID) }
