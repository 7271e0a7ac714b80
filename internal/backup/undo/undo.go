// Package undo plans how what a run took can be made again. It takes the saved
// objects and a way to ask what the cluster has now, and answers with steps, and
// with a reason for everything that it leaves alone.
//
// What nothing can bring back: the UID, so that whatever remembers one forgets;
// what was outside of the cluster, such as a disk or a load balancer; a deletion
// that has begun; and the time between. (spec §20, W16, N32, N33)
//
// Two rules come before everything else. Nothing is overwritten: coordinates that
// are taken stay as they are. And no reference is ever written to an owner that
// is not there, since the collector would take that for garbage and delete the
// object that was just made.
package undo

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Saved is an object as it was before the run.
type Saved struct {
	Object object.Ref
	// Raw is the object as the server sent it; nil when it was not kept.
	Raw []byte
	// Changed tells that the run took references away from the object rather than
	// the object itself. Only those of such an object are given back.
	Changed bool
}

// Lookup returns what is at the coordinates now, whatever its UID; nil when
// nothing is, and that is proven. Any error means that nobody can tell. The
// namespace of a cluster-scoped kind is to be ignored, for an owner reference
// does not say the scope of the owner.
type Lookup func(object.Ref) (*object.Object, error)

// Cluster is what an undo asks of the cluster that there is now.
type Cluster struct {
	Lookup Lookup
	// Status is where the status of a kind that is served is written. Nil: nobody can
	// tell.
	Status func(apiVersion, kind string) StatusAt
	// Written reports whether the object at the coordinates has a status. Nil: nobody can
	// tell, and none is given back to what an earlier undo made.
	Written func(object.Ref) (bool, error)
}

// Plan is what an undo does and what it leaves.
type Plan struct {
	// Steps are in the order in which they have to be taken: owners first, and
	// before an object what the server wants to have before it.
	Steps []Step
	// Skipped is sorted by object.
	Skipped []Skip
}

// Verb is what a step does.
type Verb string

// The verbs.
const (
	// Create: the object is made again.
	Create Verb = "Create"
	// Restore: references are given back to an object that is still there, or that was
	// made before its owner.
	Restore Verb = "Restore"
	// Status: the status of an object that was made is given back, unless somebody has
	// written one since.
	Status Verb = "Status"
)

// Step is one request.
type Step struct {
	// N is the number of the step, counted from 1.
	N    int
	Verb Verb
	// Object is the object as it was saved, with its old UID.
	Object object.Ref
	// References are those that the object will have: of Restore, those that it
	// gets beside the ones it has.
	References []Reference
	Dropped    []Dropped
	// Stripped are the fields beyond those of every object that are left out.
	Stripped []string
	Notes    []Note

	content map[string]any // of Create
	live    *object.Object // of Restore and Status, unless an earlier step makes the object
	status  any            // of Status
}

// Reference is a reference that will be written.
type Reference struct {
	object.OwnerReference
	// Made tells that the owner is made again by an earlier step. The UID is the
	// old one; a Mapping knows the new one.
	Made bool
}

// Dropped is a reference that will not be written.
type Dropped struct {
	Reference object.OwnerReference
	Reason    DropReason
}

// DropReason says why a reference is not written.
type DropReason string

// The reasons to drop a reference.
const (
	// OwnerGone: the owner is neither in the cluster nor in the backup.
	OwnerGone DropReason = "OwnerGone"
	// OwnerIsAnother: another object has the coordinates of the owner now.
	OwnerIsAnother DropReason = "OwnerIsAnother"
	// OwnerBeingDeleted: the owner is going, and would take the object along.
	OwnerBeingDeleted DropReason = "OwnerBeingDeleted"
	// OwnerUnknown: nobody can tell whether the owner is there.
	OwnerUnknown DropReason = "OwnerUnknown"
	// OwnerElsewhere: the UID belongs to an object of other coordinates or of
	// another namespace, which is no valid owner.
	OwnerElsewhere DropReason = "OwnerElsewhere"
	// OwnerAmbiguous: several saved objects have the UID.
	OwnerAmbiguous DropReason = "OwnerAmbiguous"
	// OwnerNotRestored: the owner is in the backup and is not made again.
	OwnerNotRestored DropReason = "OwnerNotRestored"
	// OwnerCycle: the object refers to itself.
	OwnerCycle DropReason = "OwnerCycle"
	// ControllerTaken: the object has got another controller since.
	ControllerTaken DropReason = "ControllerTaken"
)

// DropReasons lists the reasons.
func DropReasons() []DropReason {
	return []DropReason{OwnerGone, OwnerIsAnother, OwnerBeingDeleted, OwnerUnknown, OwnerElsewhere, OwnerAmbiguous,
		OwnerNotRestored, OwnerCycle, ControllerTaken}
}

// Note is something that people should know before they take a step.
type Note string

// The notes.
const (
	// AddressesDropped: the Service gets other addresses and node ports.
	AddressesDropped Note = "AddressesDropped"
	// VolumeGone: the claim waits for a volume that does not exist. It is not
	// given an empty one: nothing would show that the content is lost.
	VolumeGone Note = "VolumeGone"
	// VolumeReleased: the volume still belongs to the claim that was deleted. The
	// new one waits until spec.claimRef.uid of the volume is taken away by hand.
	VolumeReleased Note = "VolumeReleased"
	// VolumeUnknown: nobody can tell whether the volume is there.
	VolumeUnknown Note = "VolumeUnknown"
	// TokenDropped: the token was made for a ServiceAccount that is no more, and
	// gets made anew.
	TokenDropped Note = "TokenDropped"
	// WasBeingDeleted: the object was being deleted when it was saved; the new one
	// is not.
	WasBeingDeleted Note = "WasBeingDeleted"
	// FinalizersNotRestored: the live object has lost finalizers, which it does not
	// get back: whom they were for has been told.
	FinalizersNotRestored Note = "FinalizersNotRestored"
	// StatusComputed: the status is not given back. The controllers of Kubernetes work
	// it out anew.
	StatusComputed Note = "StatusComputed"
	// StartsOver: the Job begins with its first completion.
	StartsOver Note = "StartsOver"
	// FilledIn: a controller makes the object by itself as soon as it is missing. What
	// was in it is written into the new one, unless something else is there.
	FilledIn Note = "FilledIn"
)

// Notes lists the notes.
func Notes() []Note {
	return []Note{AddressesDropped, VolumeGone, VolumeReleased, VolumeUnknown, TokenDropped, WasBeingDeleted, FinalizersNotRestored,
		StatusComputed, StartsOver, FilledIn}
}

// Skip is an object that is left alone.
type Skip struct {
	Object object.Ref
	Reason SkipReason
	// Live is the UID of what has the coordinates now; empty for nothing.
	Live types.UID
	// Dropped are the references that cannot be given back: ReferencesLost.
	Dropped []Dropped
	// Detail is the error behind CannotTell and Unreadable, for people.
	Detail string
}

// SkipReason says why an object is left alone.
type SkipReason string

// The reasons to leave an object alone.
const (
	// StillAlive: the object itself is there and has what it had.
	StillAlive SkipReason = "StillAlive"
	// MadeBefore: an earlier undo of this backup made it, and it is there.
	MadeBefore SkipReason = "MadeBefore"
	// StillTerminating: the object itself is there and being deleted, which nobody
	// can call off.
	StillTerminating SkipReason = "StillTerminating"
	// TakenByAnother: another object has the coordinates.
	TakenByAnother SkipReason = "TakenByAnother"
	// CannotTell: nobody can tell what is at the coordinates.
	CannotTell SkipReason = "CannotTell"
	// NotSaved: the object is gone, and its bytes were not kept.
	NotSaved SkipReason = "NotSaved"
	// WouldRunAgain: it is a Job or Pod that had run to its end, or a request for a
	// certificate that was answered. Made again it would do its work a second time.
	WouldRunAgain SkipReason = "WouldRunAgain"
	// ControllerMakesIt: whoever controls it makes another one by itself.
	ControllerMakesIt SkipReason = "ControllerMakesIt"
	// HolderMakesIt: it is a lock or a sign of life. Who holds it makes it anew; made
	// again it would say that somebody holds it who may not be there.
	HolderMakesIt SkipReason = "HolderMakesIt"
	// PastEvent: it is an Event, a record of what was.
	PastEvent SkipReason = "PastEvent"
	// ReferencesLost: the object is there and has lost references, none of which
	// can be given back.
	ReferencesLost SkipReason = "ReferencesLost"
	// ListedTwice: the backup has the coordinates of the object twice.
	ListedTwice SkipReason = "ListedTwice"
	// Unreadable: the bytes are no object, or another one.
	Unreadable SkipReason = "Unreadable"
)

// SkipReasons lists the reasons.
func SkipReasons() []SkipReason {
	return []SkipReason{StillAlive, MadeBefore, StillTerminating, TakenByAnother, CannotTell, NotSaved, WouldRunAgain,
		ControllerMakesIt, HolderMakesIt, PastEvent, ReferencesLost, ListedTwice, Unreadable}
}
