package evidence

import (
	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// ofHeld lists the fields that are read from any object that is being deleted or has finalizers.
var ofHeld = manifest.FieldsOf(body{}, heldBody{}, statusBody{})

// FieldsOf returns the fields of an object that Add reads. It returns nil if Add needs none of
// them.
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
