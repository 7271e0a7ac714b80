package snapshot

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// A dump is not one moment: its lists are read one after the other, while the cluster goes
// on. An owner that was made after its kind was listed is not in the dump, or an older
// object of its name is, and what it owns may be in a later list.

// meanwhile is why an object that was not seen may exist.
const meanwhile = "it may have been created while the dump was taken"

// dumpSeconds is how long a dump may take from the first list to the last.
const dumpSeconds = 10 * 60

// Doubt is why it is not known whether the object with a uid exists, though the snapshot
// covers its kind; empty where it is known.
func (s *Snapshot) Doubt(uid types.UID) string {
	if s.missingIsAbsent {
		return ""
	}
	return s.doubts[uid]
}

// Successors are the uids of owners that may exist under the name of an object, of which the
// snapshot has an older copy then: who deletes the object by its name deletes that owner.
func (s *Snapshot) Successors(of object.Ref) []types.UID {
	if s.missingIsAbsent {
		return nil
	}
	return s.successors[of]
}

// doubt finds the owners that may have been made while the dump was taken; latest is a time
// at which the cluster was still running. What does not say when it was made, nobody can
// compare. The oldest of what an owner owns decides: it was there before that.
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

// oldestOfUnseen are the oldest dependents of the owners that were not seen, by the uid of the owner.
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

// ownersUnseen are the uids that references name and no object has. It remembers the owners alone,
// which are mostly far fewer than the objects.
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

// why is why an owner that was not seen may exist, with the older object that has its name.
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
		return "", nil // the owner was there before its kind was listed, and no longer then
	}
	switch other := d.Find(at.APIVersion, at.Kind, at.Namespace, at.Name); {
	case other == nil:
		return meanwhile, nil
	case other.Created > o.Created:
		return "", nil // it has taken the name since then
	default:
		return "the dump has another object of that name, possibly an older copy", other
	}
}
