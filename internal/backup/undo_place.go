package backup

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/backup/undo"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// inPlace returns the object that was created concurrently under the name of a step's object, and
// why it counts as that; nil if it does not. differs lists its differences in content.
//
// Controllers are faster than an undo: a ReplicaSet exists as soon as its Deployment does, and the
// default ServiceAccount as soon as its namespace.
func (r *running) inPlace(ctx context.Context, s *undo.Step) (there *object.Object, why string, differs []undo.Difference) {
	raw, there, err := r.client.Raw(ctx, s.Object)
	switch {
	case err != nil:
		return nil, "", nil // it was deleted again or cannot be read
	case r.byController(s, there):
		return there, "its controller made it meanwhile", nil
	case s.Fills():
		there, why = r.fillIn(ctx, s, raw, there)
		return there, why, nil
	}
	differs, err = s.Differs(raw)
	switch {
	case err != nil:
		return nil, "", nil
	case len(differs) > 0:
		return nil, "it was created in the meantime, with other content", differs
	case s.LacksOwner(&r.mapping, there):
		return nil, "", nil
	}
	return there, "it was created in the meantime, with the same content", nil
}

// fillIn adds the saved content that a controller-made object lacks. It returns nil if the object
// conflicts with the saved content.
func (r *running) fillIn(ctx context.Context, s *undo.Step, raw []byte, there *object.Object) (filled *object.Object, why string) {
	for range attempts {
		patch, other, err := s.Lacks(&r.mapping, raw)
		switch {
		case err != nil || other:
			return nil, ""
		case patch == nil:
			return there, "it was created in the meantime, with the same content"
		}
		place := s.Object
		place.UID = there.UID
		_, err = r.journalled(Intent{Object: place, Verb: verbPatch, ResourceVersion: there.ResourceVersion, Body: patch}, func() (string, error) {
			return "", r.client.PatchRaw(ctx, place, "", types.MergePatchType, patch, false)
		})
		if err == nil {
			return there, "a controller made it meanwhile; the content that it lacked was added"
		}
		if raw, there, err = r.client.Raw(ctx, s.Object); err != nil {
			return nil, ""
		}
	}
	return nil, ""
}

// byController reports whether the object's own built-in controller was faster. The undo has
// recreated its owner, and the controller gives the dependent its former name, as with every
// ReplicaSet of a Deployment. Operators are excluded: their objects may have other content, such as
// a new password.
func (r *running) byController(s *undo.Step, there *object.Object) bool {
	return slices.ContainsFunc(s.References, func(ref undo.Reference) bool {
		owner := r.mapping.Now(ref.UID)
		return ref.Made && ref.Controller == object.True && owner != "" && undo.BuiltIn(object.GroupOf(ref.APIVersion)) &&
			slices.ContainsFunc(there.Owners, func(o object.OwnerReference) bool { return o.UID == owner && o.Controller == object.True })
	})
}
