// Package undo plans how what a run took can be made again. It takes the saved
// objects and a way to ask what the cluster has now, and answers with steps, and
// with a reason for everything that it leaves alone.
//
// What nothing can bring back: the UID, so that whatever remembers one forgets;
// what was outside of the cluster, such as a disk or a load balancer; a deletion
// that has begun; and the time between. (spec §20, W16, N32, N33)
//
// Two rules come before everything else. Nothing is overwritten unless that is asked
// for: coordinates that are taken stay as they are, and what differs there is
// said. And no reference is ever written to an owner that
// is not there, since the collector would take that for garbage and delete the
// object that was just made.
package undo

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// Saved is an object as it was before the run.
type Saved struct {
	Object object.Ref
	// Raw is the object as the server sent it; nil when it was not kept.
	Raw []byte
	// Forgotten tells that it was not kept because nobody remembered it.
	Forgotten bool
	// Changed tells that the run took references away from the object rather than
	// the object itself. Only those of such an object are given back.
	Changed bool
}

// Lookup returns what is at the coordinates now, whatever its UID; nil when
// nothing is, and that is proven. Any error means that nobody can tell. The
// namespace of a cluster-scoped kind is to be ignored, for an owner reference
// does not say the scope of the owner.
type Lookup func(object.Ref) (*object.Object, error)

// Annotation is on every object that an undo has made. It holds the UID that the
// object had before: whoever remembers that one can find the new one, and so can
// an undo that was killed before it got the answer.
const Annotation = "kubectl-gc.io/restored-from"

// Cluster is what an undo asks of the cluster that there is now, and how it was asked for
// itself.
type Cluster struct {
	Lookup Lookup
	// Status is where the status of a kind that is served is written. Nil: nobody can
	// tell.
	Status func(apiVersion, kind string) StatusAt
	// Content is the object at the coordinates as the server sends it. Nil: nobody can tell.
	// Then no status is given back to what an earlier undo made, and what exists again is not
	// compared with what was saved.
	Content func(object.Ref) ([]byte, error)
	// Heirs: what was made anew under the name of an owner counts as the owner.
	Heirs bool
	// Overwrite: what exists again with other content gets the saved content.
	Overwrite bool
	// Finished: work that had ended is made again, too.
	Finished bool
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
	// Overwrite: an object that exists again gets the content that was saved.
	Overwrite Verb = "Overwrite"
	// Secrets: the names of Secrets are added to those that a ServiceAccount has.
	Secrets Verb = "Secrets"
	// Manage: the managedFields of an object are restored that an interrupted undo has created.
	Manage Verb = "Manage"
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
	Notes    []reason.Code
	// Differences are the fields that Overwrite changes.
	Differences []Difference
	// Secrets are the names that a ServiceAccount gets.
	Secrets []string

	content map[string]any // of Create; of Overwrite what was intended
	live    *object.Object // of Restore and Status, unless an earlier step makes the object; of Overwrite and Secrets
	now     []byte         // of Overwrite and Secrets: the object that was compared
	status  any            // of Status
	// managers are the saved managedFields, in the last step of an object whose content an undo
	// writes. Left tells that an earlier undo has written it.
	managers []any
	left     bool
	// finalizers are those that the object of Overwrite lacks.
	finalizers []string
}

// Reference is a reference that will be written.
type Reference struct {
	object.OwnerReference
	// Made tells that the owner is made again by an earlier step. The UID is the
	// old one; a Mapping knows the new one.
	Made bool
	// Was is the UID that the reference had, where it was to an earlier owner of that name.
	Was types.UID
}

// Dropped is a reference that will not be written.
type Dropped struct {
	Reference object.OwnerReference
	Reason    reason.Code
}

// Volume is the volume that the claim of a step waits for; false if it names none.
func (s *Step) Volume() (object.Ref, bool) {
	name := textAt(s.content, "spec", "volumeName")
	return object.PV.Ref("", name), s.Object.Is(object.PVC) && name != ""
}

// Skip is an object that is left alone.
type Skip struct {
	Object object.Ref
	Reason reason.Code
	// Live is the UID of what has the coordinates now; empty for nothing.
	Live types.UID
	// Dropped are the references that cannot be given back: ReferencesLost.
	Dropped []Dropped
	// Differences are the fields in which the object that has the coordinates is not as it was
	// saved: Differs.
	Differences []Difference
	// Detail is the error behind CannotTell, Unreadable and TakenByAnother, for people.
	Detail string
}
