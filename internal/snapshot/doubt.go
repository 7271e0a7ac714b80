package snapshot

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// A dump is not one moment: its lists are read one after the other, while the cluster goes
// on. An owner that was made after its kind was listed is not in the dump, or an older
// object of its name is, and what it owns may be in a later list.

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

// doubt finds the owners that may have been made while the dump was taken; latest is a time
// at which the cluster was still running. What does not say when it was made, nobody can
// compare. The oldest of what an owner owns decides: it was there before that.
func (s *Snapshot) doubt(latest int64) {
	seen, oldest := make(map[types.UID]bool, len(s.Objects)), map[types.UID]*object.Object{}
	for _, o := range s.Objects {
		seen[o.UID] = true
		latest = max(latest, o.Created)
	}
	for _, o := range s.Objects {
		for _, ref := range o.Owners {
			if x := oldest[ref.UID]; !seen[ref.UID] && o.Created != 0 && (x == nil || o.Created < x.Created) {
				oldest[ref.UID] = o
			}
		}
	}
	d := &doubting{Snapshot: s, began: latest - dumpSeconds}
	s.doubts = map[types.UID]string{}
	for uid, o := range oldest {
		for _, ref := range o.Owners {
			if why := d.why(o, ref); ref.UID == uid && why != "" {
				s.doubts[uid] = why
			}
		}
	}
}

type doubting struct {
	*Snapshot
	// began is when the dump was begun at the earliest.
	began int64
	// newest is when the youngest object of a list was made.
	newest map[listed]int64
}

type listed struct {
	resource  schema.GroupResource
	namespace string
}

// why is why an owner that was not seen may exist.
func (d *doubting) why(o *object.Object, ref object.OwnerReference) string {
	r, err := d.Resources.For(ref.APIVersion, ref.Kind)
	if err != nil {
		return ""
	}
	at := object.Ref{Name: ref.Name}
	if r.Namespaced {
		at.Namespace = o.Namespace
	}
	stored := d.canonicalOf(typeName{ref.APIVersion, ref.Kind})
	at.APIVersion, at.Kind = stored.apiVersion, stored.kind
	if o.Created < max(d.began, d.youngest(listed{stored.resource.GroupResource(), at.Namespace})) {
		return "" // the owner was there before its kind was listed, and no longer then
	}
	switch other := d.Find(at.APIVersion, at.Kind, at.Namespace, at.Name); {
	case other == nil:
		return "it may have been created while the dump was taken"
	case other.Created > o.Created:
		return "" // it has taken the name since then
	default:
		return "the dump has another object of that name, possibly an older copy"
	}
}

// youngest is when the youngest object of a list was made: the list was read then or later, and
// times are whole seconds.
func (d *doubting) youngest(l listed) int64 {
	if d.newest == nil {
		d.newest = map[listed]int64{}
		for _, o := range d.Objects {
			if r, err := d.Resources.For(o.APIVersion, o.Kind); err == nil {
				at := listed{r.GroupResource(), o.Namespace}
				d.newest[at] = max(d.newest[at], o.Created)
			}
		}
	}
	return d.newest[l]
}
