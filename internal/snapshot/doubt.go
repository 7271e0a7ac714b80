package snapshot

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// A dump is not one moment: its lists are read one after the other while the cluster changes. An
// owner that was created after its kind was listed is not in the dump, or an older object with its
// name is, and its dependents may be in a later list.

// meanwhile is why an object that is not in the dump may exist.
const meanwhile = "it may have been created while the dump was taken"

// dumpSeconds is the maximum time between the first and the last list of a dump.
const dumpSeconds = 10 * 60

// Doubt returns why it is unknown whether the object with a UID exists although its kind is
// covered; "" if it is known.
func (s *Snapshot) Doubt(uid types.UID) string {
	if s.missingIsAbsent {
		return ""
	}
	return s.doubts[uid]
}

// Successors returns the UIDs of owners that may exist under the name of the given object, which is
// then an older copy: deleting the object by name would delete that owner.
func (s *Snapshot) Successors(of object.Ref) []types.UID {
	if s.missingIsAbsent {
		return nil
	}
	return s.successors[of]
}

// doubt records the owners that may have been created while the dump was taken. latest is a time at
// which the cluster was still running. An object without a creation time can't be compared. An
// owner is at least as old as its oldest dependent.
func (s *Snapshot) doubt(latest int64) {
	for _, o := range s.Objects {
		latest = max(latest, o.Created)
	}
	oldest := s.oldestOfUnseen()
	d := momentsOf(s, latest-dumpSeconds)
	s.moments = d
	s.doubts, s.successors = map[types.UID]string{}, map[object.Ref][]types.UID{}
	for uid, o := range oldest {
		for _, ref := range o.Owners {
			if ref.UID != uid {
				continue
			}
			why, older := d.why(o, ref)
			if why != "" {
				s.doubts[uid] = why
			}
			if older != nil {
				s.successors[older.Ref] = append(s.successors[older.Ref], uid)
			}
		}
	}
	for _, uids := range s.successors {
		slices.Sort(uids)
	}
}

// oldestOfUnseen returns the oldest dependent of each missing owner, by the owner's UID.
func (s *Snapshot) oldestOfUnseen() map[types.UID]*object.Object {
	unseen := s.ownersUnseen()
	oldest := map[types.UID]*object.Object{}
	if len(unseen) == 0 {
		return oldest
	}
	for _, o := range s.Objects {
		for _, ref := range o.Owners {
			if x := oldest[ref.UID]; unseen[ref.UID] && o.Created != 0 && (x == nil || o.Created < x.Created) {
				oldest[ref.UID] = o
			}
		}
	}
	return oldest
}

// ownersUnseen returns the UIDs in references that no object has. It stores only the owners, which
// are mostly far fewer than the objects.
func (s *Snapshot) ownersUnseen() map[types.UID]bool {
	unseen := map[types.UID]bool{}
	var before []object.OwnerReference
	for _, o := range s.Objects {
		if object.SameOwners(before, o.Owners) {
			continue
		}
		before = o.Owners
		for _, ref := range o.Owners {
			unseen[ref.UID] = true
		}
	}
	for _, o := range s.Objects {
		delete(unseen, o.UID)
	}
	return unseen
}

// why returns why a missing owner may exist, and the older object with its name.
func (d *moments) why(o *object.Object, ref object.OwnerReference) (why string, older *object.Object) {
	r, err := d.Resources.For(ref.APIVersion, ref.Kind)
	if err != nil {
		return "", nil
	}
	at := object.Ref{Name: ref.Name}
	if r.Namespaced {
		at.Namespace = o.Namespace
	}
	stored := d.canonicalOf(typeName{ref.APIVersion, ref.Kind})
	at.APIVersion, at.Kind = stored.apiVersion, stored.kind
	if !d.after(listed{stored.resource.GroupResource(), at.Namespace}, o.Created) {
		return "", nil // it existed before its kind was listed, and not any more then
	}
	switch other := d.Find(at.APIVersion, at.Kind, at.Namespace, at.Name); {
	case other == nil:
		return meanwhile, nil
	case other.Created > o.Created:
		return "", nil // it got the name later
	default:
		return "the dump has another object of that name, possibly an older copy", other
	}
}
