package history

import "github.com/kubectl-gc/kubectl-gc/internal/object"

// Around returns the coordinates that the attribution of an object's deletion depends on: its
// owners, namespace and CRD, the node of a pod, and leaders that it follows without a reference.
// The UIDs are empty. A Past should have each among its changes, Standing or Absent. If not, the
// result is less certain.
func Around(o *object.Object, served *object.Resources) []object.Ref {
	var refs []object.Ref
	for _, owner := range o.Owners {
		ref := owner.In(o.Namespace).WithoutUID()
		if r, err := served.For(ref.APIVersion, ref.Kind); err == nil && !r.Namespaced {
			ref.Namespace = ""
		}
		refs = append(refs, ref)
	}
	if o.Namespace != "" {
		refs = append(refs, object.Namespace.Ref("", o.Namespace))
	}
	if r, err := served.For(o.APIVersion, o.Kind); err == nil && r.Custom {
		refs = append(refs, definitionOf(r))
	}
	if pod := o.Pod(); pod != nil && pod.NodeName != "" {
		refs = append(refs, object.Node.Ref("", pod.NodeName))
	}
	for _, f := range followers() {
		if leader, ok := f.of(o); ok && leader.Name != "" {
			refs = append(refs, leader)
		}
	}
	return refs
}

// definitionOf returns the reference to the CRD of a custom resource.
func definitionOf(r object.Resource) object.Ref { return object.CRD.Ref("", r.Name+"."+r.Group) }
