package evidence

import (
	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// ofHeld is what is read of an object that is being deleted or has finalizers, whatever it is.
var ofHeld = manifest.FieldsOf(body{}, heldBody{}, statusBody{})

// FieldsOf are the fields of an object that Add reads; nil if the object says nothing.
func FieldsOf(o *object.Object) *manifest.Fields {
	held := o.BeingDeleted() || len(o.Finalizers()) > 0
	s, isPart := sourceOf(o.APIVersion, o.Kind)
	switch {
	case isPart && held:
		return s.held
	case isPart:
		return s.fields
	case held:
		return ofHeld
	}
	return nil
}
