package history

import "github.com/kubectl-gc/kubectl-gc/internal/object"

// Around are the coordinates of what has to be known to tell who took an object: its owners,
// namespace and definition, the node of a pod, and what it follows without a reference. The
// UIDs are empty. A Past has them among its changes, what stands or what is absent; where it
// has not, the answer is less certain.
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

// definitionOf names the definition of a custom resource.
func definitionOf(r object.Resource) object.Ref { return object.CRD.Ref("", r.Name+"."+r.Group) }
