package object

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// The two finalizers of the garbage collector.
const (
	Foreground = metav1.FinalizerDeleteDependents // "foregroundDeletion"
	Orphan     = metav1.FinalizerOrphanDependents // "orphan"
)

// Object is what deletion needs to know of a Kubernetes object. It never holds
// managedFields, or spec and status as a whole, nor of the annotations more than
// that some of them protect the object.
//
// An Object is immutable once it has been handed to a snapshot, a server or a
// graph: these share the pointer. Whoever changes one works on a Clone. A snapshot that
// objects are read into gives them their hints: nobody else has them then.
type Object struct {
	Ref
	// ResourceVersion is opaque: only equality means anything to a server.
	ResourceVersion string
	// Owners are metadata.ownerReferences in the stored order.
	Owners []OwnerReference
	Labels Labels
	// Created is the creationTimestamp in seconds since 1970; 0 if unknown.
	Created int64
	// Generation is metadata.generation; 0 for kinds without one.
	Generation int64
	// Lifecycle is nil for an object that has nothing of it, as most. It is shared between
	// objects and as immutable as they are; use Edit to change it.
	Lifecycle *Lifecycle
	// hint is the number that a snapshot gave the object; 0 for none.
	hint uint32
}

// Hint is where an object may be found among those of the snapshot that it was read into,
// from 1; 0 if it was read into none. Clones keep it. See snapshot.Place.
func (o *Object) Hint() uint32 { return o.hint }

// SetHint is for the snapshot that the object becomes part of.
func (o *Object) SetHint(n uint32) { o.hint = n }

// Lifecycle is what the end of an object depends on, beside its owners: what holds it, a
// deletion that has begun, and what its kind adds.
type Lifecycle struct {
	Finalizers []string
	// DeletionTimestamp is in seconds since 1970; 0 when the object is not
	// being deleted.
	DeletionTimestamp int64
	// GracePeriod is deletionGracePeriodSeconds; nil when absent.
	GracePeriod *int64
	// Protection is what the annotations ask for.
	Protection Protection
	// Revision is the number that the Deployment controller has written on a
	// Deployment and on each of its ReplicaSets; 0 when there is none.
	Revision uint32

	// Facts are what the kind adds; nil for most kinds.
	Facts Facts
}

var none Lifecycle

func (o *Object) lifecycle() *Lifecycle {
	if o.Lifecycle == nil {
		return &none
	}
	return o.Lifecycle
}

// Finalizers are metadata.finalizers in the stored order. Callers must not
// change the slice.
func (o *Object) Finalizers() []string { return o.lifecycle().Finalizers }

// HasFinalizer reports whether name is among the finalizers.
func (o *Object) HasFinalizer(name string) bool {
	return o.Lifecycle != nil && slices.Contains(o.Lifecycle.Finalizers, name)
}

// HandlesDependents reports whether the object has a finalizer of the garbage collector: it
// goes only after its dependents have gone or been released.
func (o *Object) HandlesDependents() bool {
	return o.HasFinalizer(Foreground) || o.HasFinalizer(Orphan)
}

// BeingDeleted reports whether the object has a deletion timestamp. The API calls
// such an object Terminating.
func (o *Object) BeingDeleted() bool { return o.Lifecycle != nil && o.Lifecycle.DeletionTimestamp != 0 }

// WaitingForDependents reports whether the object is being deleted in the
// foreground.
func (o *Object) WaitingForDependents() bool {
	return o.BeingDeleted() && o.HasFinalizer(Foreground)
}

// DeletionTimestamp is in seconds since 1970; 0 when not being deleted.
func (o *Object) DeletionTimestamp() int64 { return o.lifecycle().DeletionTimestamp }

// Deleted is when the object was deleted, in seconds since 1970: its deletion timestamp
// without the grace period. It is 0 when not being deleted.
func (o *Object) Deleted() int64 {
	if grace := o.lifecycle().GracePeriod; grace != nil {
		return o.lifecycle().DeletionTimestamp - *grace
	}
	return o.lifecycle().DeletionTimestamp
}

// GracePeriod is deletionGracePeriodSeconds; nil when absent.
func (o *Object) GracePeriod() *int64 { return o.lifecycle().GracePeriod }

// Revision tells which ReplicaSet is the current one of its Deployment: the two have
// the same. It is 0 when it is not known.
func (o *Object) Revision() uint32 { return o.lifecycle().Revision }

// Controller returns the reference with controller: true, if there is one.
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

// Clone returns a copy whose own fields may be assigned. Owners, finalizers and
// Lifecycle are still shared: replace them, do not write into them (see Edit).
func (o *Object) Clone() *Object {
	c := *o
	return &c
}

// Edit gives the (cloned) object a Lifecycle of its own and returns it for writing.
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
		x.Protection == y.Protection && x.Revision == y.Revision &&
		equalFacts(x.Facts, y.Facts)
}

func equalPointees[T comparable](a, b *T) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}
