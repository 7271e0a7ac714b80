// Package undo plans how the deletions and changes of a run are reverted. It takes the saved
// objects and access to the current cluster, and returns steps and a reason for every object
// without one.
//
// Some things cannot be restored: UIDs, so references by UID break; what was outside the cluster,
// such as a disk or a load balancer; a deletion that has begun; and the time between. (spec §20,
// W16, N32, N33)
//
// Two rules come first. Existing objects are not overwritten unless that is requested; their
// differences are reported. And no reference is ever written to an owner that does not exist, since
// the garbage collector would delete the new object.
package undo

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// Saved is an object in its state before the run.
type Saved struct {
	Object object.Ref
	// Raw is the object as the server sent it; nil if it was not kept.
	Raw []byte
	// Forgotten reports that it was not kept because the record no longer contained it.
	Forgotten bool
	// Changed reports that the run removed references from the object instead of deleting it. Only
	// such objects get lost references back.
	Changed bool
}

// Objects returns the objects that a plan looks up: the saved ones, and the volumes that claims name.
func Objects(saved []Saved) []object.Ref {
	refs := make([]object.Ref, 0, len(saved))
	for _, s := range saved {
		refs = append(refs, s.Object)
		if !s.Object.Is(object.PVC) || s.Raw == nil {
			continue
		}
		content, err := ContentOf(s.Raw) // damaged content is reported by the plan
		if name := textAt(content, "spec", "volumeName"); err == nil && name != "" {
			refs = append(refs, object.PV.Ref("", name))
		}
	}
	return refs
}

// Lookup returns the current object at the coordinates, whatever its UID; nil if its absence is
// proven. An error means that its state is unknown. It must ignore the namespace for a
// cluster-scoped kind, since an owner reference does not contain the scope of the owner.
type Lookup func(object.Ref) (*object.Object, error)

// Annotation is set on every object that an undo creates. It holds the old UID of the object. It
// leads clients that know the old UID to the new object, also an undo that was killed before it got
// the answer.
const Annotation = "kubectl-gc.io/restored-from"

// Cluster is the access to the current cluster, and the options of the undo.
type Cluster struct {
	Lookup Lookup
	// Status returns how the status of a served kind is written. Nil: unknown.
	Status func(apiVersion, kind string) StatusAt
	// Content returns the current object at the coordinates as the server sends it. If nil, no
	// status is restored to objects from an earlier undo, and objects that exist again are not
	// compared.
	Content func(object.Ref) ([]byte, error)
	// AcceptRecreatedOwners lets an object that was recreated under the name of an owner count as
	// the owner.
	AcceptRecreatedOwners bool
	// Overwrite restores the saved content of objects that exist again with other content.
	Overwrite bool
	// Finished recreates finished work, too.
	Finished bool
}

// Plan is what an undo does and what it skips.
type Plan struct {
	// Steps are in execution order: owners first, and before an object what the server requires for
	// it.
	Steps []Step
	// Skipped is sorted by object.
	Skipped []Skip
	// madeBefore reports whether an object exists that an earlier undo of this backup created.
	madeBefore bool
}

// Verb is the kind of a step.
type Verb string

// The verbs.
const (
	// Create: the object is created again.
	Create Verb = "Create"
	// Restore: references are added to an object that still exists or that was created before its
	// owner.
	Restore Verb = "Restore"
	// Status: the status of a created object is restored unless one was written since.
	Status Verb = "Status"
	// Overwrite: an object that exists again gets the saved content.
	Overwrite Verb = "Overwrite"
	// Secrets: the names of Secrets are added to those of a ServiceAccount.
	Secrets Verb = "Secrets"
	// Manage: restores the managedFields of an object that an interrupted undo created.
	Manage Verb = "Manage"
)

// Step is one request.
type Step struct {
	// N is the number of the step, counted from 1.
	N    int
	Verb Verb
	// Object is the object as it was saved, with its old UID.
	Object object.Ref
	// References are the references of the new object. For Restore, they are added to the existing
	// ones.
	References []Reference
	Dropped    []Dropped
	// Stripped are removed fields, in addition to those removed from every object.
	Stripped []Stripped
	Notes    []reason.Code
	// Differences are the fields that Overwrite changes.
	Differences []Difference
	// Secrets are the names that are added to a ServiceAccount.
	Secrets []string

	content map[string]any // Create: the object; Overwrite: the desired content
	live    *object.Object // nil for Create, and if an earlier step creates the object
	now     []byte         // Overwrite and Secrets: the object that was compared
	status  any            // Status
	claim   types.UID      // Create of a PVC: the deleted one that its volume still belongs to
	// managers are the saved managedFields, set in the last step of an object that an undo writes.
	// left reports that an earlier undo wrote it.
	managers []any
	left     bool
	// finalizers are those that Overwrite adds.
	finalizers []string
}

// Reference is an owner reference that a step writes.
type Reference struct {
	object.OwnerReference
	// Made reports that an earlier step recreates the owner. The UID is the old one; a Mapping has
	// the new one.
	Made bool
	// Was is the former UID of the reference, if it pointed to an earlier owner of that name.
	Was types.UID
}

// Stripped is a field that is not written as it was saved.
type Stripped struct {
	// Field is its path: spec.nodeName.
	Field string
	Why   reason.Code
}

// Dropped is an owner reference that is not written.
type Dropped struct {
	Reference object.OwnerReference
	Reason    reason.Code
}

// Volume returns the volume of a PVC's step, and the UID of the deleted PVC that it still belongs to;
// false if the PVC names none.
func (s *Step) Volume() (volume object.Ref, claim types.UID, ok bool) {
	name := textAt(s.content, "spec", "volumeName")
	return object.PV.Ref("", name), s.claim, s.Object.Is(object.PVC) && name != ""
}

// Skip is a saved object without a step.
type Skip struct {
	Object object.Ref
	Reason reason.Code
	// Live is the UID of the object that has the coordinates now; empty if none.
	Live types.UID
	// Dropped are the references that cannot be restored, for ReferencesLost.
	Dropped []Dropped
	// Differences are the fields of the existing object that differ from the saved one, for
	// Differs.
	Differences []Difference
	// Detail is the error of CannotTell, Unreadable or TakenByAnother, for people.
	Detail string
}
