package object

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// The two finalizers of the garbage collector.
const (
	Foreground = metav1.FinalizerDeleteDependents // "foregroundDeletion"
	Orphan     = metav1.FinalizerOrphanDependents // "orphan"
)

// Object holds the fields of a Kubernetes object that its deletion depends on. It never holds
// managedFields or whole spec and status. Of the annotations it holds only whether they protect the
// object.
//
// An Object is immutable once it was given to a snapshot, a server or a graph: they share the
// pointer. To change one, work on a Clone. Only a snapshot sets the hints, while it reads its
// objects and they are not shared yet.
type Object struct {
	Ref
	// ResourceVersion is opaque: servers only compare it for equality.
	ResourceVersion string
	// Owners are metadata.ownerReferences in the stored order.
	Owners []OwnerReference
	Labels Labels
	// Created is the creationTimestamp in seconds since 1970; 0 if unknown.
	Created int64
	// Generation is metadata.generation; 0 for kinds without one.
	Generation int64
	// Lifecycle is nil for most objects: it would be empty. It is shared between objects and as
	// immutable as they are; use Edit to change it.
	Lifecycle *Lifecycle
	// hint is the number that a snapshot gave the object, 0 if none.
	hint uint32
}

// Hint returns the number, from 1, that leads to the object among those of the snapshot that read
// it; 0 if none did. Clones keep it. See snapshot.Place.
func (o *Object) Hint() uint32 { return o.hint }

// SetHint may only be called by the snapshot that reads the object.
func (o *Object) SetHint(n uint32) { o.hint = n }

// Lifecycle holds what the deletion of an object depends on besides its owners: finalizers, a
// deletion that has begun, and the facts of its kind.
type Lifecycle struct {
	Finalizers []string
	// DeletionTimestamp is in seconds since 1970; 0 if the object is not being deleted.
	DeletionTimestamp int64
	// GracePeriod is deletionGracePeriodSeconds; nil if absent.
	GracePeriod *int64
	// Protection is the set of protecting annotations.
	Protection Protection
	// Revision is the number that the Deployment controller writes to a Deployment and to each of
	// its ReplicaSets; 0 if there is none.
	Revision uint32
	// Tracker is the Application of Argo CD that tracks the object: web, or team_web for one in namespace
	// team that is not Argo CD's own. Empty if its annotation names none.
	Tracker string
	// Wave is the wave in which Argo CD applies the object. It deletes those of the highest wave first.
	Wave int32

	// Facts are the facts of the kind; nil for most kinds.
	Facts Facts
}

var none Lifecycle

func (o *Object) lifecycle() *Lifecycle {
	if o.Lifecycle == nil {
		return &none
	}
	return o.Lifecycle
}

// Finalizers returns metadata.finalizers in the stored order. Callers must not change the slice.
func (o *Object) Finalizers() []string { return o.lifecycle().Finalizers }

// HasFinalizer reports whether name is among the finalizers.
func (o *Object) HasFinalizer(name string) bool {
	return o.Lifecycle != nil && slices.Contains(o.Lifecycle.Finalizers, name)
}

// HandlesDependents reports whether the object has a finalizer of the garbage collector: it is
// deleted only after its dependents are deleted or orphaned.
func (o *Object) HandlesDependents() bool {
	return o.HasFinalizer(Foreground) || o.HasFinalizer(Orphan)
}

// BeingDeleted reports whether the object has a deletion timestamp. The API calls
// such an object Terminating.
func (o *Object) BeingDeleted() bool { return o.Lifecycle != nil && o.Lifecycle.DeletionTimestamp != 0 }

// WaitingForDependents reports whether the object is in foreground deletion.
func (o *Object) WaitingForDependents() bool {
	return o.BeingDeleted() && o.HasFinalizer(Foreground)
}

// DeletionTimestamp is in seconds since 1970; 0 if the object is not being deleted.
func (o *Object) DeletionTimestamp() int64 { return o.lifecycle().DeletionTimestamp }

// Deleted returns the time of the delete request, in seconds since 1970: the deletion timestamp
// without the grace period. 0 if the object is not being deleted.
func (o *Object) Deleted() int64 {
	if grace := o.lifecycle().GracePeriod; grace != nil {
		return o.lifecycle().DeletionTimestamp - *grace
	}
	return o.lifecycle().DeletionTimestamp
}

// GracePeriod returns deletionGracePeriodSeconds; nil if absent.
func (o *Object) GracePeriod() *int64 { return o.lifecycle().GracePeriod }

// Revision returns the Deployment's revision of a Deployment or ReplicaSet, 0 if unknown. The
// current ReplicaSet has the revision of its Deployment.
func (o *Object) Revision() uint32 { return o.lifecycle().Revision }

// Tracker returns the Application of Argo CD that the object names as the one that tracks it.
func (o *Object) Tracker() string { return o.lifecycle().Tracker }

// Wave returns the wave in which Argo CD applies the object, by its annotations.
func (o *Object) Wave() int { return int(o.lifecycle().Wave) }

// Controller returns the reference with controller: true, if any.
func (o *Object) Controller() (OwnerReference, bool) {
	for _, ref := range o.Owners {
		if ref.Controller == True {
			return ref, true
		}
	}
	return OwnerReference{}, false
}

// RefersTo reports whether one of the owner references has the UID.
func (o *Object) RefersTo(uid types.UID) bool {
	for i := range o.Owners {
		if o.Owners[i].UID == uid {
			return true
		}
	}
	return false
}

// Clone returns a shallow copy. Owners, finalizers and Lifecycle are still shared: replace them,
// but don't write into them (see Edit).
func (o *Object) Clone() *Object {
	c := *o
	return &c
}

// Edit gives the object, which must be a clone, its own copy of the Lifecycle and returns it for
// writing.
func (o *Object) Edit() *Lifecycle {
	c := *o.lifecycle()
	o.Lifecycle = &c
	return o.Lifecycle
}

// Equal reports whether two objects have the same content, resourceVersion
// included. Nil and empty lists are equal, as they are once serialised.
func Equal(a, b *Object) bool {
	x, y := a.lifecycle(), b.lifecycle()
	return a.Ref == b.Ref && a.ResourceVersion == b.ResourceVersion &&
		a.Created == b.Created && a.Generation == b.Generation && a.Labels == b.Labels &&
		slices.Equal(a.Owners, b.Owners) &&
		slices.Equal(x.Finalizers, y.Finalizers) &&
		x.DeletionTimestamp == y.DeletionTimestamp && equalPointees(x.GracePeriod, y.GracePeriod) &&
		x.Protection == y.Protection && x.Revision == y.Revision && x.Tracker == y.Tracker && x.Wave == y.Wave &&
		equality.Semantic.DeepEqual(x.Facts, y.Facts)
}

func equalPointees[T comparable](a, b *T) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// Flag is an optional boolean of an owner reference. Unset and false mean the same to the
// collector, but two references that differ in it are not equal, which matters when the API server
// removes duplicates.
type Flag uint8

// The values of a Flag.
const (
	Unset Flag = iota
	False
	True
)

// FlagOf converts an optional boolean to a Flag.
func FlagOf(b *bool) Flag {
	switch {
	case b == nil:
		return Unset
	case *b:
		return True
	default:
		return False
	}
}

// Bool converts the flag to Kubernetes' form; nil if unset.
func (f Flag) Bool() *bool {
	switch f {
	case False:
		return new(false)
	case True:
		return new(true)
	default:
		return nil
	}
}

// OwnerReference is one entry of metadata.ownerReferences. It is comparable:
// equality is the semantic deep equality of the API server.
type OwnerReference struct {
	APIVersion         string
	Kind               string
	Name               string
	UID                types.UID
	Controller         Flag
	BlockOwnerDeletion Flag
}

// Blocks reports whether the reference blocks a foreground deletion of its owner.
func (o OwnerReference) Blocks() bool { return o.BlockOwnerDeletion == True }

// SameOwners reports whether two lists share memory: readers share the list of adjacent siblings.
// Lists that don't may still be equal.
func SameOwners(a, b []OwnerReference) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// In returns the identity that the reference names for a dependent in the namespace. References
// have no namespace: an owner is in the namespace of its dependent, or cluster-scoped.
func (o OwnerReference) In(namespace string) Ref {
	return Ref{APIVersion: o.APIVersion, Kind: o.Kind, Namespace: namespace, Name: o.Name, UID: o.UID}
}

// Names reports whether the reference has exactly the coordinates and the UID of r.
func (o OwnerReference) Names(r Ref) bool {
	return o.UID == r.UID && o.Name == r.Name && o.Kind == r.Kind && o.APIVersion == r.APIVersion
}

// WithoutOwners returns the owners without the given UIDs. It doesn't change the input, and returns
// it if nothing matches.
func WithoutOwners(owners []OwnerReference, uids []types.UID) []OwnerReference {
	if !slices.ContainsFunc(owners, func(o OwnerReference) bool { return slices.Contains(uids, o.UID) }) {
		return owners
	}
	kept := make([]OwnerReference, 0, len(owners))
	for _, o := range owners {
		if !slices.Contains(uids, o.UID) {
			kept = append(kept, o)
		}
	}
	return kept
}

// Labels is a set of labels as one canonical string: `key NUL value NUL` for each, sorted by key.
// It costs two words and can be shared and compared. It implements apimachinery's labels.Labels, so
// selectors match it directly.
type Labels string

// LabelsOf returns the canonical form.
func LabelsOf(m map[string]string) Labels {
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(m)) {
		b.WriteString(k)
		b.WriteByte(0)
		b.WriteString(m[k])
		b.WriteByte(0)
	}
	return Labels(b.String())
}

// All calls yield for each label in key order until it returns false.
func (l Labels) All(yield func(key, value string) bool) {
	rest := string(l)
	for rest != "" {
		key, tail, _ := strings.Cut(rest, "\x00")
		value, next, _ := strings.Cut(tail, "\x00")
		if !yield(key, value) {
			return
		}
		rest = next
	}
}

// Lookup returns the value of a label and whether it exists.
func (l Labels) Lookup(label string) (value string, exists bool) {
	for k, v := range l.All {
		if k == label {
			return v, true
		}
	}
	return "", false
}

// Has reports whether the label exists.
func (l Labels) Has(label string) bool {
	_, ok := l.Lookup(label)
	return ok
}

// Get returns the value of a label, "" if it doesn't exist.
func (l Labels) Get(label string) string {
	v, _ := l.Lookup(label)
	return v
}

// EventType is the type of a watch event.
type EventType uint8

// The watch events.
const (
	Added EventType = iota
	Modified
	Deleted
)

// String returns the event type as written in a watch stream.
func (t EventType) String() string {
	switch t {
	case Modified:
		return "MODIFIED"
	case Deleted:
		return "DELETED"
	default:
		return "ADDED"
	}
}

// Event is one change of one object, as a watch reports it. Old is the object before a Modified
// event, nil if the watcher doesn't know it. Object of a Deleted event is the last state.
type Event struct {
	Type   EventType
	Object *Object
	Old    *Object
}

// Printed are the columns READY and STATUS that the API server prints for an object; "" if it
// prints none. It is no evidence of existence.
type Printed struct{ Ready, Status string }

// Unready reports whether the columns say that the object doesn't work. A completed pod need not be
// ready.
func (p Printed) Unready() bool {
	switch p.Status {
	case "Completed", "Succeeded", "Complete":
		return false
	case "Failed", "Error", "Lost":
		return true
	}
	if strings.HasPrefix(p.Status, "NotReady") {
		return true // a node, perhaps also with SchedulingDisabled
	}
	if ready, all, ok := strings.Cut(p.Ready, "/"); ok {
		return ready != all
	}
	return p.Ready == "False" || p.Ready == "false"
}
