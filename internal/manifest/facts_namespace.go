package manifest

import "github.com/kubectl-gc/kubectl-gc/internal/object"

var namespaceFacts = &factKind{
	kind: object.Namespace,
	fields: []factField{
		texts("spec.finalizers", func(f *facts) *[]string { return &f.namespace.Finalizers }),
		sharedText("status.phase", func(f *facts) *string { return &f.namespace.Phase }),
	},
	facts: func(f *facts, _ *object.Object) object.Facts { return new(f.namespace) },
}
