package undo

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// An object that exists again differs in these fields if a saved entry is missing. Additional
// entries are ignored.
const (
	ownersField     = "metadata.ownerReferences"
	finalizersField = "metadata.finalizers"
)

// lackFinalizers records the saved finalizers that the existing object lacks. Those of the garbage
// collector are left out: they belonged to the earlier deletion.
func (s *Step) lackFinalizers(saved []string) {
	for _, f := range saved {
		if f != object.Foreground && f != object.Orphan && !s.live.HasFinalizer(f) {
			s.finalizers = append(s.finalizers, f)
		}
	}
	if len(s.finalizers) > 0 {
		s.Differences = append(s.Differences, Difference{Path: finalizersField, Saved: listOf(saved), Now: listOf(s.live.Finalizers())})
	}
}

// compareOwners compares the owner references of an object that exists again with the saved ones. A
// reference counts only if its owner exists or will be created, so all creations must be planned
// before.
func (p *planning) compareOwners(i int) {
	n := &p.nodes[i]
	_, controlled := n.live.Controller()
	var lost []object.OwnerReference
	for _, ref := range n.owners {
		owner, why := p.owner(i, ref)
		uid := ref.UID
		if heir := p.heir(i, ref, why); heir != "" {
			uid, why = heir, ""
		}
		if again, ok := p.madeBefore(ref.UID); ok {
			uid = again
		}
		if why == "" && (owner >= 0 || !n.live.RefersTo(uid)) && !(controlled && ref.Controller == object.True) {
			lost = append(lost, ref)
		}
	}
	if len(lost) == 0 {
		return
	}
	p.differs(n, append(n.compared.Differences, Difference{Path: ownersField, Saved: ownersText(n.owners), Now: ownersText(n.live.Owners)}))
	if n.step.Verb == Overwrite {
		p.keep(i, lost)
		n.before = nil // every object is created before any is overwritten
	}
}

// lacking adds the missing owner references and finalizers to the metadata of a patch.
func (s *Step) lacking(m *Mapping, live *object.Object, metadata map[string]any) error {
	owners, _, err := m.resolve(s)
	if err != nil {
		return err
	}
	all := slices.Clone(live.Owners)
	for _, ref := range owners {
		if !live.RefersTo(ref.UID) {
			all = append(all, ref)
		}
	}
	if len(all) > len(live.Owners) {
		metadata["ownerReferences"] = ownerBodies(all)
	}
	finalizers := slices.Clone(live.Finalizers())
	for _, f := range s.finalizers {
		if !live.HasFinalizer(f) {
			finalizers = append(finalizers, f)
		}
	}
	if len(finalizers) > len(live.Finalizers()) {
		metadata["finalizers"] = finalizers
	}
	return nil
}

// ofContent returns the differences outside of metadata.
func ofContent(list []Difference) []Difference {
	return slices.DeleteFunc(slices.Clone(list), func(d Difference) bool { return d.Path == ownersField || d.Path == finalizersField })
}

// ownersText names owners; nil for none.
func ownersText(refs []object.OwnerReference) any {
	var list []string
	for _, ref := range refs {
		list = append(list, ref.Kind+"/"+ref.Name)
	}
	return listOf(list)
}

// listOf converts strings to a decoded JSON list; nil for none.
func listOf(texts []string) any {
	if len(texts) == 0 {
		return nil
	}
	list := make([]any, len(texts))
	for i, t := range texts {
		list[i] = t
	}
	return list
}
