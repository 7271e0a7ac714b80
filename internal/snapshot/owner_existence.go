package snapshot

import (
	"math"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
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
// owner is at least as old as its oldest dependent:
//
//	10:00 ReplicaSets listed   10:01 rs created   10:02 pod of rs created   10:03 pods listed
func (s *Snapshot) doubt(latest int64) {
	for _, o := range s.Objects {
		latest = max(latest, o.Created)
	}
	oldest := s.oldestOfUnseen()
	d := &moments{Snapshot: s, began: latest - dumpSeconds}
	d.newest, d.bound = sync.OnceValue(d.youngest), sync.OnceValue(d.nodes)
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
	unseen := s.ownerUIDs()
	for _, o := range s.Objects {
		delete(unseen, o.UID)
	}
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

// ownerUIDs returns the UIDs in owner references, which are mostly far fewer than the objects.
func (s *Snapshot) ownerUIDs() map[types.UID]bool {
	uids := map[types.UID]bool{}
	var before []object.OwnerReference
	for _, o := range s.Objects {
		if object.SameOwners(before, o.Owners) {
			continue
		}
		before = o.Owners
		for _, ref := range o.Owners {
			uids[ref.UID] = true
		}
	}
	return uids
}

// why returns why the missing owner in a reference of o may exist, and the older object with its
// name; "" and nil if it doesn't exist. o is its oldest dependent.
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

// moments are the bounds on when the lists of a dump were read.
type moments struct {
	*Snapshot
	// began is the earliest time at which the dump can have begun.
	began int64
	// newest returns the creation time of the youngest object of each list. bound returns, by node
	// name, a time at which the node is known to have existed; MaxInt64 if none is known.
	newest func() map[listed]int64
	bound  func() map[string]int64
}

type listed struct {
	resource  schema.GroupResource
	namespace string
}

// Unseen returns why an object of a covered kind may exist although it is not in the snapshot: it
// existed at the given time, in seconds since 1970, when its list may already have been read. It
// returns "" if the object is in the snapshot, doesn't exist, or the time is unknown.
func (s *Snapshot) Unseen(k object.Kind, ref object.Ref, at int64) string {
	if s.missingIsAbsent || s.moments == nil || at == 0 || !s.moments.after(listed{k.GroupResource(), ref.Namespace}, at) {
		return ""
	}
	if o := s.moments.FindKind(k, ref.Namespace, ref.Name); o != nil && (ref.UID == "" || ref.UID == o.UID) {
		return ""
	}
	return meanwhile
}

// UnseenNode is Unseen for a node with pods. A pod of a DaemonSet and a mirror pod were created for
// an existing node. Any other pod may be older than its node, and proves nothing.
func (s *Snapshot) UnseenNode(name string) string {
	if s.missingIsAbsent || s.moments == nil {
		return ""
	}
	return s.Unseen(object.Node, object.Node.Ref("", name), s.moments.bound()[name])
}

// after reports whether a list may have been read before a time. The list was certainly not read
// before its youngest object was created. Times are whole seconds, so equal times prove nothing.
func (m *moments) after(l listed, at int64) bool { return at >= max(m.began, m.newest()[l]) }

func (m *moments) youngest() map[listed]int64 {
	newest := map[listed]int64{}
	for _, o := range m.Objects {
		if r, err := m.Resources.For(o.APIVersion, o.Kind); err == nil {
			l := listed{r.GroupResource(), o.Namespace}
			newest[l] = max(newest[l], o.Created)
		}
	}
	return newest
}

func (m *moments) nodes() map[string]int64 {
	bound := map[string]int64{}
	for _, o := range m.Objects {
		facts := o.Pod()
		if facts == nil || facts.NodeName == "" || o.Created == 0 {
			continue
		}
		at := int64(math.MaxInt64)
		if ref, ok := o.Controller(); ok && ref.Kind == object.DaemonSet.Kind || facts.Mirror {
			at = o.Created
		}
		if have, ok := bound[facts.NodeName]; !ok || at < have {
			bound[facts.NodeName] = at
		}
	}
	return bound
}

// UIDs are unique. An owner with a UID that was seen at some coordinates doesn't exist at any
// other, whether those were read or not.

// findOwners records the objects with a UID in references. A UID of several objects is recorded as
// nil.
func (s *Snapshot) findOwners() {
	named := s.ownerUIDs()
	s.owners = map[types.UID]*object.Object{}
	for _, o := range s.Objects {
		if !named[o.UID] {
			continue
		}
		if _, twice := s.owners[o.UID]; twice {
			s.owners[o.UID] = nil
			continue
		}
		s.owners[o.UID] = o
	}
}

// Elsewhere returns the object with the UID of the reference if the reference can't mean it: it has
// another namespace, name or kind. It returns nil if the UID was not seen, or if the object may be
// the right one under another kind, as ImageStreamTags have the UID of their ImageStream.
func (s *Snapshot) Elsewhere(ref object.Ref) *object.Object {
	o := s.owners[ref.UID]
	if o == nil || ref.UID == "" {
		return nil
	}
	r, err := s.Resources.For(ref.APIVersion, ref.Kind)
	if err != nil {
		return nil
	}
	namespace := ref.Namespace
	if !r.Namespaced {
		namespace = ""
	}
	if o.Namespace != namespace {
		return o
	}
	of, err := s.Resources.For(o.APIVersion, o.Kind)
	switch same := err == nil && object.Storage(of.GroupResource()) == object.Storage(r.GroupResource()); {
	case err != nil, same && o.Name == ref.Name:
		return nil
	case same, !object.MayBeCustom(of.Group) && !object.MayBeCustom(r.Group):
		return o
	default:
		return nil
	}
}
