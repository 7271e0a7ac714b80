package undo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// Mapping records the new UIDs of the objects of executed steps. The zero value is empty and ready.
// It is not safe for concurrent use.
type Mapping struct {
	uids map[types.UID]types.UID
	// objects is the same by coordinates, for objects that share a UID.
	objects map[object.Ref]types.UID
}

// Made records the UID of the object that the step created.
func (m *Mapping) Made(s *Step, uid types.UID) { m.note(s, uid) }

// Failed records that the object of the step was not created. Its dependents are created without
// the reference to it.
func (m *Mapping) Failed(s *Step) { m.note(s, "") }

// Now returns the new UID of the object with the old UID; empty if it was not created.
func (m *Mapping) Now(old types.UID) types.UID { return m.uids[old] }

// Of returns the new UID of the object; empty if it was not created.
func (m *Mapping) Of(ref object.Ref) types.UID { return m.objects[ref] }

func (m *Mapping) note(s *Step, uid types.UID) {
	if m.uids == nil {
		m.uids, m.objects = map[types.UID]types.UID{}, map[object.Ref]types.UID{}
	}
	m.uids[s.Object.UID], m.objects[s.Object] = uid, uid
}

// resolve returns the references of a step with their current UIDs, and those dropped because their
// owner was not created.
func (m *Mapping) resolve(s *Step) (owners []object.OwnerReference, dropped []Dropped, err error) {
	for _, r := range s.References {
		ref := r.OwnerReference
		if r.Made {
			uid, taken := m.uids[ref.UID]
			switch {
			case !taken:
				return nil, nil, fmt.Errorf("step %d (%s) comes before the step of its owner %s %s", s.N, s.Object, ref.Kind, ref.Name)
			case uid == "":
				dropped = append(dropped, Dropped{ref, reason.OwnerNotRestored})
				continue
			}
			ref.UID = uid
		}
		owners = append(owners, ref)
	}
	return owners, dropped, nil
}

// Body returns the object that a Create step sends. dropped are the references to owners with failed
// steps. The mapping must contain the steps of all owners.
func (s *Step) Body(m *Mapping) (body []byte, dropped []Dropped, err error) {
	if s.Verb != Create {
		return nil, nil, fmt.Errorf("step %d creates nothing", s.N)
	}
	owners, dropped, err := m.resolve(s)
	if err != nil {
		return nil, nil, err
	}
	content := maps.Clone(s.content)
	if len(owners) > 0 {
		old, _ := content["metadata"].(map[string]any)
		metadata := maps.Clone(old)
		metadata["ownerReferences"] = ownerBodies(owners)
		content["metadata"] = metadata
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(content); err != nil {
		return nil, nil, fmt.Errorf("step %d (%s): %w", s.N, s.Object, err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), dropped, nil
}

func ownerBodies(owners []object.OwnerReference) []map[string]any {
	list := make([]map[string]any, len(owners))
	for i, o := range owners {
		list[i] = map[string]any{"apiVersion": o.APIVersion, "kind": o.Kind, "name": o.Name, "uid": o.UID}
		if b := o.Controller.Bool(); b != nil {
			list[i]["controller"] = *b
		}
		if b := o.BlockOwnerDeletion.Bool(); b != nil {
			list[i]["blockOwnerDeletion"] = *b
		}
	}
	return list
}

// Patch returns the patch of a Restore step: the current references and the restored ones, with the
// UID and the resourceVersion seen in planning. It is a merge patch, which every kind supports.
// After a 409, the object has changed and the undo must be planned again.
func (s *Step) Patch(m *Mapping) (patch object.Patch, dropped []Dropped, err error) {
	if s.live == nil {
		return object.Patch{}, nil, fmt.Errorf("step %d restores nothing that was there when it was planned", s.N)
	}
	patch, dropped, _, err = s.PatchOf(m, s.live)
	return patch, dropped, err
}

// PatchOf is Patch for the current version of an object. needless reports that it has the
// references already.
func (s *Step) PatchOf(m *Mapping, live *object.Object) (patch object.Patch, dropped []Dropped, needless bool, err error) {
	if s.Verb != Restore {
		return object.Patch{}, nil, false, fmt.Errorf("step %d restores nothing", s.N)
	}
	owners, dropped, err := m.resolve(s)
	if err != nil {
		return object.Patch{}, nil, false, err
	}
	all := slices.DeleteFunc(slices.Clone(live.Owners), func(ref object.OwnerReference) bool {
		return slices.ContainsFunc(s.References, func(r Reference) bool {
			return r.replaces(ref) && !slices.ContainsFunc(dropped, func(d Dropped) bool { return d.Reference.UID == r.UID })
		})
	})
	for _, ref := range owners {
		if !live.RefersTo(ref.UID) {
			all = append(all, ref)
		}
	}
	return object.Patch{
		Type: object.Merge, UID: live.UID, ResourceVersion: live.ResourceVersion, Owners: &all,
	}, dropped, slices.Equal(all, live.Owners), nil
}

// Replaces reports whether a reference is to a deleted owner that the step replaces with the
// recreated one.
func (s *Step) Replaces(ref object.OwnerReference) bool {
	return slices.ContainsFunc(s.References, func(r Reference) bool { return r.replaces(ref) })
}

func (r *Reference) replaces(ref object.OwnerReference) bool {
	return r.Made && r.UID == ref.UID || r.Was != "" && r.Was == ref.UID
}

// Live returns the version of the object that the step was planned for. It is nil for Create, and
// if an earlier step creates the object.
func (s *Step) Live() *object.Object { return s.live }
