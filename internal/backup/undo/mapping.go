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

// Mapping is what became of the objects of steps that were taken. The zero value
// is empty and ready. It is not safe for concurrent use.
type Mapping struct {
	uids map[types.UID]types.UID
	// objects is the same by coordinates, for those that share a UID.
	objects map[object.Ref]types.UID
}

// Made notes the UID that the object of the step got.
func (m *Mapping) Made(s *Step, uid types.UID) { m.note(s, uid) }

// Failed notes that the object of the step was not made. What refers to it is
// made without that reference.
func (m *Mapping) Failed(s *Step) { m.note(s, "") }

// Now is the UID that an object with this old one got; empty when it was not made.
func (m *Mapping) Now(old types.UID) types.UID { return m.uids[old] }

// Of is the UID that the object got; empty when it was not made.
func (m *Mapping) Of(ref object.Ref) types.UID { return m.objects[ref] }

func (m *Mapping) note(s *Step, uid types.UID) {
	if m.uids == nil {
		m.uids, m.objects = map[types.UID]types.UID{}, map[object.Ref]types.UID{}
	}
	m.uids[s.Object.UID], m.objects[s.Object] = uid, uid
}

// resolve turns the references of a step into those that are written now, and
// those that cannot be since their owner was not made.
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

// Body is the object that a Create step sends. Dropped are references to owners
// whose own steps failed. The steps of owners have to be in the mapping.
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

// Patch is what a Restore step sends: the references that the object has and
// those that it gets back, under its UID and the resourceVersion that was seen.
// It is a merge patch, which every kind understands. Should it be answered with
// 409, the object has changed and the undo has to be planned again.
func (s *Step) Patch(m *Mapping) (patch object.Patch, dropped []Dropped, err error) {
	if s.live == nil {
		return object.Patch{}, nil, fmt.Errorf("step %d restores nothing that was there when it was planned", s.N)
	}
	patch, dropped, _, err = s.PatchOf(m, s.live)
	return patch, dropped, err
}

// PatchOf is Patch for an object that an earlier step has made, as it is now. Needless
// tells that it has the references by now.
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

// Replaces reports whether a reference is to an owner that has gone, in whose place the
// step gives the one that was made anew.
func (s *Step) Replaces(ref object.OwnerReference) bool {
	return slices.ContainsFunc(s.References, func(r Reference) bool { return r.replaces(ref) })
}

func (r *Reference) replaces(ref object.OwnerReference) bool {
	return r.Made && r.UID == ref.UID || r.Was != "" && r.Was == ref.UID
}

// Live is the version of the object that a Restore or Status step was planned on; nil
// for Create, and when an earlier step makes the object.
func (s *Step) Live() *object.Object { return s.live }
