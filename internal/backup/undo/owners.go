package undo

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// keep sorts the references of node i into those to write, now or later, and those to drop.
func (p *planning) keep(i int, owners []object.OwnerReference) {
	s := &p.nodes[i].step
	for _, ref := range owners {
		owner, why := p.owner(i, ref)
		was := ref.UID
		if recreated := p.recreatedOwner(i, ref, why); recreated != "" {
			ref.UID, why = recreated, ""
			s.note(reason.OwnerMadeAgain)
		}
		if why != "" {
			s.Dropped = append(s.Dropped, Dropped{ref, why})
			continue
		}
		if uid, ok := p.madeBefore(ref.UID); ok {
			ref.UID = uid
		}
		if owner >= 0 && ref.UID != p.nodes[owner].Object.UID { // another object of that name, which is recreated
			ref.UID = p.nodes[owner].Object.UID
			s.note(reason.OwnerMadeAgain)
			if slices.ContainsFunc(owners, func(r object.OwnerReference) bool { return r.UID == ref.UID }) {
				continue
			}
		}
		reference := Reference{OwnerReference: ref, Made: owner >= 0}
		if was != ref.UID {
			reference.Was = was
		}
		if p.nodes[i].state == made && owner >= 0 && fills(p.nodes[owner].Object, p.nodes[i].Object) {
			p.nodes[i].later = append(p.nodes[i].later, reference)
			p.nodes[owner].after(i, preferred)
			continue
		}
		s.References = append(s.References, reference)
		if owner >= 0 {
			p.nodes[i].after(owner, referred)
		}
	}
}

// owner returns the node that creates the owner of a reference of node i; -1 if the owner is alive.
// why is set if the reference must not be written.
func (p *planning) owner(i int, ref object.OwnerReference) (owner int, why reason.Code) {
	named := ref.In(p.nodes[i].Object.Namespace)
	saved := p.byUID[ref.UID]
	switch len(saved) {
	case 0:
		return -1, Missing(p.now.Lookup, named)
	case 1:
	default:
		return -1, reason.OwnerAmbiguous
	}
	n := &p.nodes[saved[0]]
	if at := n.Object; at.Name != ref.Name || at.Kind != ref.Kind || at.Group() != object.GroupOf(ref.APIVersion) ||
		at.Namespace != "" && at.Namespace != named.Namespace {
		return -1, reason.OwnerElsewhere
	}
	switch {
	case saved[0] == i:
		return -1, reason.OwnerCycle
	case n.state == made:
		return saved[0], ""
	case n.state == alive:
		return -1, ""
	}
	switch n.skip.Reason {
	case reason.ListedTwice:
		if last := p.places[n.Object.Coordinates()]; p.now.AcceptRecreatedOwners && last != i && p.nodes[last].state == made {
			return last, ""
		}
		return -1, reason.OwnerNotRestored
	case reason.TakenByAnother, reason.SameContent, reason.Differs:
		return -1, reason.OwnerIsAnother
	case reason.StillTerminating:
		return -1, reason.OwnerBeingDeleted
	case reason.CannotTell:
		return -1, reason.OwnerUnknown
	default:
		return -1, reason.OwnerNotRestored
	}
}

// findCollected corrects the reason to skip an object that exists, if the garbage collector deletes it: it has
// owners, each is proven absent, and no step gives it another one.
func (p *planning) findCollected(n *node) {
	if n.live == nil || len(n.live.Owners) == 0 || n.step.Verb != "" {
		return
	}
	switch n.skip.Reason {
	case reason.StillAlive, reason.MadeBefore, reason.SameContent:
	default:
		return
	}
	for _, ref := range n.live.Owners {
		if why := Missing(p.now.Lookup, ref.In(n.Object.Namespace)); why != reason.OwnerGone && why != reason.OwnerIsAnother {
			return
		}
	}
	n.skip.Reason, n.skip.Detail = reason.OwnersGone, strings.Join(ownerNames(n.live.Owners), ", ")
}

// recreatedOwner returns the UID of the object that now has the name of an owner, if it counts as
// the owner (Cluster.AcceptRecreatedOwners); else it is empty.
func (p *planning) recreatedOwner(i int, ref object.OwnerReference, why reason.Code) types.UID {
	if why != reason.OwnerIsAnother || !p.now.AcceptRecreatedOwners {
		return ""
	}
	live, err := p.now.Lookup(ref.In(p.nodes[i].Object.Namespace))
	if err != nil || live == nil || live.BeingDeleted() {
		return ""
	}
	return live.UID
}

func (s *Step) note(n reason.Code) {
	if !slices.Contains(s.Notes, n) {
		s.Notes = append(s.Notes, n)
	}
}

// madeBefore returns the current UID of an owner that an earlier undo created and that still
// exists.
func (p *planning) madeBefore(old types.UID) (types.UID, bool) {
	saved := p.byUID[old]
	if len(saved) != 1 || p.nodes[saved[0]].skip.Reason != reason.MadeBefore {
		return "", false
	}
	return p.again[old], true
}

func (p *planning) isMadeBefore(old types.UID) bool {
	_, is := p.madeBefore(old)
	return is
}

// Missing returns why a reference must not be written to an owner that no step creates; empty if
// the owner exists. Writing a reference requires proof that the owner exists; dropping it requires
// no proof. Call it again right before the write, since the owner may be deleted in between.
func Missing(lookup Lookup, owner object.Ref) reason.Code {
	live, err := lookup(owner)
	if _, invalid := errors.AsType[*object.NamespaceRequiredError](err); invalid {
		return reason.OwnerElsewhere
	}
	switch {
	case err != nil:
		return reason.OwnerUnknown
	case live == nil:
		return reason.OwnerGone
	case live.UID != owner.UID:
		return reason.OwnerIsAnother
	case live.BeingDeleted():
		return reason.OwnerBeingDeleted
	default:
		return ""
	}
}

// references parses the owner references of an object.
func references(content map[string]any) []object.OwnerReference {
	list, _ := at(content, "metadata", "ownerReferences").([]any)
	var refs []object.OwnerReference
	for _, entry := range list {
		ref, ok := entry.(map[string]any)
		if !ok {
			continue // a server never sends such an entry
		}
		refs = append(refs, object.OwnerReference{
			APIVersion: textAt(ref, "apiVersion"), Kind: textAt(ref, "kind"), Name: textAt(ref, "name"), UID: types.UID(textAt(ref, "uid")),
			Controller: flag(ref, "controller"), BlockOwnerDeletion: flag(ref, "blockOwnerDeletion"),
		})
	}
	return refs
}

func flag(m map[string]any, key string) object.Flag {
	if b, ok := m[key].(bool); ok {
		return object.FlagOf(&b)
	}
	return object.Unset
}

// Mapping records the new UIDs of the objects of executed steps. The zero value is empty and ready.
// It is not safe for concurrent use.
type Mapping struct {
	uids map[types.UID]types.UID
	// objects is the same by coordinates, for objects that share a UID.
	objects map[object.Ref]types.UID
}

// Failed records that the object of the step was not created. Its dependents are created without
// the reference to it.
func (m *Mapping) Failed(s *Step) { m.Made(s, "") }

// Now returns the new UID of the object with the old UID; empty if it was not created.
func (m *Mapping) Now(old types.UID) types.UID { return m.uids[old] }

// Of returns the new UID of the object; empty if it was not created.
func (m *Mapping) Of(ref object.Ref) types.UID { return m.objects[ref] }

// Made records the UID of the object that the step created.
func (m *Mapping) Made(s *Step, uid types.UID) {
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
	if body, err = Marshal(content); err != nil {
		return nil, nil, fmt.Errorf("step %d (%s): %w", s.N, s.Object, err)
	}
	return body, dropped, nil
}

// Marshal encodes a value as JSON without HTML escapes and without a newline, as in all files of a
// backup.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
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
