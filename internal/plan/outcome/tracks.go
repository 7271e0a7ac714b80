package outcome

import (
	"iter"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// Key numbers an object in a run, in object.Compare order: its index in the snapshot, or a larger
// number if the snapshot lacks it. Objects that share a uid have different keys.
type Key int32

// noKey is an invalid key.
const noKey Key = -1

// Tracks records the objects that something touched or considered. It is not safe for concurrent use.
type Tracks struct {
	// collector and reclaim are the interned names of these actors.
	collector, reclaim Word
	// Shared has the uids that several objects have.
	Shared map[types.UID]bool
	Phase  Phases

	snap  *snapshot.Snapshot
	along *snapshot.Cursor
	of    table[Track]
	store slab[Track]
	// others has the keys of objects that the snapshot lacks under these coordinates, by uid, or by
	// twin if the uid is shared. uids has the keys of the objects in the snapshot; computed on first
	// use.
	others, uids map[types.UID]Key
	// begun has the tracks in the order of creation. byUID indexes begun[:seen], as an owner
	// reference identifies an object by its uid alone.
	begun []*Track
	byUID map[types.UID]*Track
	seen  int
	last  *Track
	// deployers has the objects whose deployers have deleted an object, by its key. undeployed has the keys of
	// the deleted objects, by the uid of the one whose deployer has deleted them. A later deployer of an object
	// replaces an earlier one in deployers alone.
	deployers  map[Key]*object.Object
	undeployed map[types.UID][]Key
}

// NewTracks returns the empty tracks of a new run.
func NewTracks(snap *snapshot.Snapshot, w *Words) *Tracks {
	return &Tracks{
		collector: w.Number(ActorCollector), reclaim: w.Number(controllers.ReclaimName),
		Phase: InBaseline, Shared: sharedUIDs(snap), snap: snap, along: snap.Cursor(),
		others: map[types.UID]Key{}, byUID: map[types.UID]*Track{},
	}
}

// Of returns the track of an object, and creates it if there is none.
func (t *Tracks) Of(o *object.Object) *Track {
	key := t.Key(o)
	tr := t.of.at(key)
	if tr == nil {
		if stored := t.storedTwin(o.Ref); stored != nil {
			o = stored
		}
		tr = t.store.take()
		tr.First, tr.Last = o, o
		t.of.set(key, tr)
		t.begun = append(t.begun, tr)
	}
	return tr
}

// Known returns the track of an object; nil if it has none. Unlike Of, it creates none.
func (t *Tracks) Known(o *object.Object) *Track {
	if place := t.snap.Place(o); place >= 0 {
		return t.of.at(Key(place))
	}
	if t.Shared[o.UID] {
		return t.of.at(t.foreign(twin(o.Ref)))
	}
	return t.ByUID(o.UID)
}

// Meant returns the track of the object with the uid of r; nil if nothing touched it, or if the uid
// is shared. It returns the same as ByUID, and is faster if the rest of r is right.
func (t *Tracks) Meant(r object.Ref) *Track {
	if t.Shared[r.UID] {
		return nil
	}
	if tr := t.Named(r); tr != nil {
		return tr
	}
	return t.ByUID(r.UID)
}

// Named returns the track of the object with exactly this identity; nil if nothing touched it.
func (t *Tracks) Named(r object.Ref) *Track { return t.of.at(t.named(r)) }

// ByUID returns the track of the object with a uid; nil if nothing touched it, or if the uid is
// shared.
func (t *Tracks) ByUID(uid types.UID) *Track {
	if t.last != nil && t.last.First.UID == uid {
		return t.last
	}
	for _, tr := range t.begun[t.seen:] {
		if !t.Shared[tr.First.UID] {
			t.byUID[tr.First.UID] = tr
		}
	}
	t.seen = len(t.begun)
	tr := t.byUID[uid]
	if tr != nil {
		t.last = tr
	}
	return tr
}

// All iterates over the tracks in the order of their keys.
func (t *Tracks) All() iter.Seq2[Key, *Track] { return t.of.all() }

// At returns the track with a key; nil for none.
func (t *Tracks) At(k Key) *Track { return t.of.at(k) }

// Now returns the current state of an object of the snapshot; nil once it is gone. An object without
// a track is unchanged.
func (t *Tracks) Now(o *object.Object) *object.Object {
	if tr := t.Known(o); tr != nil {
		return tr.Last
	}
	return o
}

// Key returns the key of an object, whether or not it has a track.
func (t *Tracks) Key(o *object.Object) Key {
	if place := t.snap.Place(o); place >= 0 {
		return Key(place)
	}
	uid := o.UID
	if t.Shared[uid] {
		uid = twin(o.Ref)
	} else if key, ok := t.stored()[uid]; ok {
		return key
	}
	key, ok := t.others[uid]
	if !ok {
		key = Key(len(t.snap.Objects) + len(t.others))
		t.others[uid] = key
	}
	return key
}

// named returns the key of the object with exactly this identity; noKey if it has none.
func (t *Tracks) named(r object.Ref) Key {
	if o := t.along.Find(r); o != nil && o.UID == r.UID {
		return Key(t.snap.Place(o))
	}
	if t.Shared[r.UID] {
		return t.foreign(twin(r))
	}
	return t.foreign(r.UID)
}

// foreign returns the key of an object that the snapshot lacks; noKey if it has none.
func (t *Tracks) foreign(uid types.UID) Key {
	if key, ok := t.others[uid]; ok {
		return key
	}
	return noKey
}

// stored returns the keys of the objects in the snapshot by uid, computed on first use.
func (t *Tracks) stored() map[types.UID]Key {
	if t.uids == nil {
		t.uids = make(map[types.UID]Key, len(t.snap.Objects))
		for i, o := range t.snap.Objects {
			t.uids[o.UID] = Key(i)
		}
	}
	return t.uids
}

// storedTwin returns the object of the snapshot with this reference if its UID is shared; nil
// otherwise. The collector confuses such objects, so that the one it observed is not the one in
// storage.
func (t *Tracks) storedTwin(r object.Ref) *object.Object {
	if !t.Shared[r.UID] {
		return nil
	}
	return t.snap.Find(r.APIVersion, r.Kind, r.Namespace, r.Name)
}

// twin returns a key that replaces a shared uid. It cannot collide, because no UID has a zero byte.
func twin(r object.Ref) types.UID { return types.UID(string(r.UID) + "\x00" + r.String()) }

// Event records a change in storage.
func (t *Tracks) Event(e object.Event, actor Word) {
	before := e.Old
	if before == nil {
		before = e.Object
	}
	tr := t.Of(before)
	tr.Last = e.Object
	if !counted(before, e) {
		tr.Changed |= t.Phase
	}
	tr.reclaimed = tr.reclaimed || actor == t.reclaim && e.Object.BeingDeleted() && !before.BeingDeleted() || actor == t.reclaim && e.Type == object.Deleted
	tr.resumed = tr.resumed || actor == t.collector && ended(tr.First, before, e)
	tr.updated = tr.updated || updated(before, e)
	switch {
	case e.Type == object.Deleted:
		tr.Last, tr.RemovedBy = nil, actor
	case e.Object.BeingDeleted() && !before.BeingDeleted():
		tr.MarkedBy = actor
	case len(e.Object.Finalizers()) < len(before.Finalizers()):
		tr.releasedBy = actor
	}
}

// Decided records a decision of the collector about an object.
func (t *Tracks) Decided(d engine.Decision) {
	o := judgedObject(d)
	if o == nil || d.Attempt.Work == engine.OrphanWork {
		return
	}
	if d.Disposition == engine.Vanish && len(d.Requests) == 0 {
		return
	}
	if key := t.Key(o); d.Attempt.Virtual && int(key) < len(t.snap.Objects) {
		o = t.snap.Objects[key] // the reference may name it in another version
	}
	tr := t.Of(o)
	tr.decided(judgementOf(d, t.Phase))
	if t.Phase == InBaseline {
		tr.before = d.Reason
	}
}

// Orphaning records the release of an owner's dependents.
func (t *Tracks) Orphaning(d engine.Decision) {
	for i := range d.Requests {
		r := &d.Requests[i]
		if r.Verb == engine.RemoveOwners {
			t.Of(r.Live).orphanedBy = d.Attempt.Observed
		}
	}
}

// Undeploying records that the deployer of the object from deletes another one with it.
func (t *Tracks) Undeploying(from, o *object.Object) {
	if t.deployers == nil {
		t.deployers, t.undeployed = map[Key]*object.Object{}, map[types.UID][]Key{}
	}
	key := t.Key(o)
	t.deployers[key] = from
	t.undeployed[from.UID] = append(t.undeployed[from.UID], key)
}

// Undeployed returns the tracks of the objects that the deployer of an object has deleted or tried to delete
// with it, in the order of their keys.
func (t *Tracks) Undeployed(from *object.Object) []*Track {
	keys := slices.Clone(t.undeployed[from.UID])
	slices.Sort(keys)
	var list []*Track
	for _, k := range slices.Compact(keys) { // it may have tried twice
		if tr := t.At(k); tr != nil && t.deployers[k].Ref == from.Ref {
			list = append(list, tr)
		}
	}
	return list
}

// Deployer returns the object whose deployer has deleted an object; nil if none has.
func (t *Tracks) Deployer(o *object.Object) *object.Object {
	if len(t.deployers) == 0 {
		return nil
	}
	return t.deployers[t.Key(o)]
}

// Elsewhere returns the full name of the object that has the uid of an object's owner but that the
// reference cannot mean; empty if none was seen.
func (t *Tracks) Elsewhere(of object.Ref, owners []object.Ref) string {
	o := t.snap.Find(of.APIVersion, of.Kind, of.Namespace, of.Name)
	if o == nil || len(owners) != 1 {
		return ""
	}
	for _, ref := range o.Owners {
		at := ref.In(o.Namespace)
		if actual := t.snap.Elsewhere(at); actual != nil && ref.UID == owners[0].UID {
			return actual.Ref.FullName()
		}
	}
	return ""
}

// pageSize is the number of keys per page of a table. Pages without entries are not allocated.
const pageSize = 1 << 8

// table maps keys to pointers, and iterates in the order of the keys.
type table[T any] struct {
	pages []*[pageSize]*T
	size  int
}

// at returns the entry of a key; nil if it has none or is invalid.
func (t *table[T]) at(k Key) *T {
	if k < 0 || int(k)/pageSize >= len(t.pages) {
		return nil
	}
	page := t.pages[int(k)/pageSize]
	if page == nil {
		return nil
	}
	return page[int(k)%pageSize]
}

// set replaces the entry of a key; nil removes it.
func (t *table[T]) set(k Key, x *T) {
	n := int(k) / pageSize
	if n >= len(t.pages) {
		t.pages = append(t.pages, make([]*[pageSize]*T, n+1-len(t.pages))...)
	}
	if t.pages[n] == nil {
		t.pages[n] = new([pageSize]*T)
	}
	at := &t.pages[n][int(k)%pageSize]
	if *at != nil {
		t.size--
	}
	if x != nil {
		t.size++
	}
	*at = x
}

// all iterates over the entries. Entries added meanwhile may or may not be visited.
func (t *table[T]) all() iter.Seq2[Key, *T] {
	return func(yield func(Key, *T) bool) {
		for n, page := range t.pages {
			if page == nil {
				continue
			}
			for i := range page {
				if page[i] != nil && !yield(Key(n*pageSize+i), page[i]) {
					return
				}
			}
		}
	}
}

// clone returns a copy that shares the entries.
func (t *table[T]) clone() table[T] {
	c := table[T]{pages: make([]*[pageSize]*T, len(t.pages)), size: t.size}
	for n, page := range t.pages {
		if page != nil {
			own := *page
			c.pages[n] = &own
		}
	}
	return c
}

// slab allocates values of one type in batches. A batch is freed as a whole.
type slab[T any] struct{ free []T }

func (s *slab[T]) take() *T {
	const many = 64
	if len(s.free) == 0 {
		s.free = make([]T, many)
	}
	x := &s.free[0]
	s.free = s.free[1:]
	return x
}
