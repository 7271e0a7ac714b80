package outcome

import (
	"iter"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// Key is the number of an object in a run, in object.Compare order: its place in the snapshot,
// and a number behind these for one that the snapshot does not have. Objects that share a uid
// have keys of their own.
type Key int32

// nobody is the key of no object.
const nobody Key = -1

// Tracks are the objects that something touched or considered. They are for one goroutine.
type Tracks struct {
	// collector and reclaim are the words for these actors.
	collector, reclaim Word
	// Shared are the uids that several objects have.
	Shared map[types.UID]bool
	Phase  Phases

	snap  *snapshot.Snapshot
	along *snapshot.Along
	of    table[Track]
	store slab[Track]
	// others are the keys of objects that the snapshot does not have under these coordinates, by
	// uid; of those with a shared one, by twin. uids are the keys of those that it has; nil until
	// somebody asks.
	others, uids map[types.UID]Key
	// begun are the tracks in the order in which they began, and byUID those up to seen: who is
	// referred to is known by its uid alone.
	begun []*Track
	byUID map[types.UID]*Track
	seen  int
	last  *Track
}

// NewTracks are those of a run of which nothing is recorded yet.
func NewTracks(snap *snapshot.Snapshot, w *Words) *Tracks {
	return &Tracks{
		collector: w.Number(ActorCollector), reclaim: w.Number(controllers.ReclaimName),
		Phase: InBaseline, Shared: sharedUIDs(snap), snap: snap, along: snap.Along(),
		others: map[types.UID]Key{}, byUID: map[types.UID]*Track{},
	}
}

// Of is the track of an object. It begins when somebody asks for it.
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

// Known is the track of an object; nil for one that nothing touched.
func (t *Tracks) Known(o *object.Object) *Track {
	if place := t.snap.Place(o); place >= 0 {
		return t.of.at(Key(place))
	}
	if t.Shared[o.UID] {
		return t.of.at(t.foreign(twin(o.Ref)))
	}
	return t.ByUID(o.UID)
}

// Meant is the track of the object whose uid a reference has; nil for one that nothing touched, and
// where several have it. It is as ByUID, and faster where the reference is right.
func (t *Tracks) Meant(r object.Ref) *Track {
	if t.Shared[r.UID] {
		return nil
	}
	if tr := t.Named(r); tr != nil {
		return tr
	}
	return t.ByUID(r.UID)
}

// Named is the track of the object with exactly this identity; nil for one that nothing touched.
func (t *Tracks) Named(r object.Ref) *Track { return t.of.at(t.named(r)) }

// ByUID is the track of the object with a uid; nil for one that nothing touched, and where
// several have it.
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

// All are the tracks that there are, in the order of their keys.
func (t *Tracks) All() iter.Seq2[Key, *Track] { return t.of.all() }

// At is the track with a key; nil for none.
func (t *Tracks) At(k Key) *Track { return t.of.at(k) }

// Now is an object of the snapshot as it is now; nil once it is gone. Nothing has happened to one
// of which there is no track.
func (t *Tracks) Now(o *object.Object) *object.Object {
	if tr := t.Known(o); tr != nil {
		return tr.Last
	}
	return o
}

// Key is the key under which the track of an object is or would be.
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

// named is the key of the object with exactly this identity; nobody if it has none.
func (t *Tracks) named(r object.Ref) Key {
	if o := t.along.Find(r); o != nil && o.UID == r.UID {
		return Key(t.snap.Place(o))
	}
	if t.Shared[r.UID] {
		return t.foreign(twin(r))
	}
	return t.foreign(r.UID)
}

func (t *Tracks) foreign(uid types.UID) Key {
	if key, ok := t.others[uid]; ok {
		return key
	}
	return nobody
}

// stored are the keys of the objects of the snapshot by their uids.
func (t *Tracks) stored() map[types.UID]Key {
	if t.uids == nil {
		t.uids = make(map[types.UID]Key, len(t.snap.Objects))
		for i, o := range t.snap.Objects {
			t.uids[o.UID] = Key(i)
		}
	}
	return t.uids
}

// storedTwin is an object of the snapshot that shares its UID with another one: of these the
// collector takes one for the other, and what it has observed is not what is stored.
func (t *Tracks) storedTwin(r object.Ref) *object.Object {
	if !t.Shared[r.UID] {
		return nil
	}
	return t.snap.Find(r.APIVersion, r.Kind, r.Namespace, r.Name)
}

// twin stands for the uid of an object whose uid another object has as well. A UID holds
// no zero byte.
func twin(r object.Ref) types.UID { return types.UID(string(r.UID) + "\x00" + r.String()) }

// Event follows a change of what is stored.
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

// Decided follows a decision of the collector about an observed object.
func (t *Tracks) Decided(d engine.Decision) {
	if d.Attempt.Virtual || d.Attempt.Work == engine.OrphanWork {
		return
	}
	if d.Disposition == engine.Vanish && len(d.Requests) == 0 {
		return
	}
	tr := t.Of(d.Attempt.Observed)
	tr.decided(judgementOf(d, t.Phase))
	if t.Phase == InBaseline {
		tr.before = d.Reason
	}
}

// Orphaning follows the release of the dependents of an owner.
func (t *Tracks) Orphaning(d engine.Decision) {
	for i := range d.Requests {
		r := &d.Requests[i]
		if r.Verb == engine.RemoveOwners {
			t.Of(r.Live).orphanedBy = d.Attempt.Observed
		}
	}
}

// Elsewhere names the object that has the uid of an object's owner and that the reference cannot
// mean; empty if none was seen.
func (t *Tracks) Elsewhere(of report.Ref, owners []report.Ref) string {
	o := t.snap.Find(of.APIVersion, of.Kind, of.Namespace, of.Name)
	if o == nil || len(owners) != 1 {
		return ""
	}
	for _, ref := range o.Owners {
		at := ref.In(o.Namespace)
		if actual := t.snap.Elsewhere(at); actual != nil && ref.UID == owners[0].UID {
			return report.RefOf(actual.Ref).FullName()
		}
	}
	return ""
}
