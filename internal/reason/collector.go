package reason

// What the rules of the collector find.
const (
	NoOwners                 Code = "NoOwners"
	ExistingOwner            Code = "ExistingOwner"
	DanglingReferences       Code = "DanglingReferences"
	NoExistingOwner          Code = "NoExistingOwner"
	WaitingOwner             Code = "WaitingOwner"
	WaitingOwnerInCycle      Code = "WaitingOwnerInCycle"
	NoBlockingDependents     Code = "NoBlockingDependents"
	WaitingForDependents     Code = "WaitingForDependents"
	BeingDeleted             Code = "BeingDeleted"
	NotFound                 Code = "NotFound"
	UIDMismatch              Code = "UIDMismatch"
	OwnerRefInvalidNamespace Code = "OwnerRefInvalidNamespace"
	UnknownOwnerKind         Code = "UnknownOwnerKind"
	OwnerNotCovered          Code = "OwnerNotCovered"
	ObjectNotCovered         Code = "ObjectNotCovered"
	LookupFailed             Code = "LookupFailed"
	OrphanDependents         Code = "OrphanDependents"
	NotObserved              Code = "NotObserved"
	AbsenceNotProven         Code = "AbsenceNotProven"
	Contended                Code = "Contended"
)

// Collector are the reasons of the collector.
var Collector = &Family{
	Title: "Reasons of the garbage collector",
	Found: "in effects, steps and explanations",
	Meanings: []Meaning{
		{Code: NoOwners, Short: "it has no owners", Long: "The object has no owner references, so the garbage collector never touches it."},
		{Code: ExistingOwner, Short: "an owner exists that does not wait for its dependents", Long: "At least one owner exists and does not wait for its dependents to go: the object stays."},
		{Code: DanglingReferences, Short: "an owner keeps it; references to other owners are removed", Long: "An owner exists, so the object stays; its references to absent or waiting owners are removed."},
		{Code: NoExistingOwner, Short: "every owner is absent", Long: "Every owner is absent: the object is garbage and is deleted."},
		{Code: WaitingOwner, Short: "an owner waits for it to go, and no other keeps it", Long: "No owner exists that keeps it, and one is being deleted in the foreground: the object is deleted so that the owner can go."},
		{Code: WaitingOwnerInCycle, Short: "an owner waits for it to go, and the owners may form a cycle", Long: "As WaitingOwner, and a dependent of the object waits for its own dependents: the object's references stop blocking first, so that a cycle cannot hold itself."},
		{Code: NoBlockingDependents, Short: "no dependent blocks the deletion any more", Long: "A foreground deletion has no blocking dependents left: the finalizer foregroundDeletion is removed."},
		{Code: WaitingForDependents, Short: "dependents block the deletion", Long: "A foreground deletion waits until its blocking dependents are gone."},
		{Code: BeingDeleted, Short: "it is being deleted already", Long: "The object is already being deleted and does not wait for dependents: the garbage collector leaves it alone."},
		{Code: NotFound, Short: "it does not exist", Long: "The object is gone; its dependents are examined."},
		{Code: UIDMismatch, Short: "an object of that name has another UID", Long: "An object of that name exists with another uid: the one that was meant is gone."},
		{Code: OwnerRefInvalidNamespace, Short: "a cluster-scoped object refers to a namespaced owner", Long: "A cluster-scoped object refers to a namespaced owner, which cannot be looked up: it is kept and never retried."},
		{Code: UnknownOwnerKind, Short: "the kind of an owner is not known to be served", Long: "The kind of an owner is not served: nothing about the object is decided, it is kept and retried forever."},
		ownerNotCovered,
		{Code: ObjectNotCovered, Short: "nothing is known of the place of the object", Long: "The snapshot does not contain the place where the object would be: it may exist or not."},
		{Code: LookupFailed, Short: "a read failed", Long: "The server refused or failed to answer a read, or no object can have the name of an owner; the attempt is repeated."},
		{Code: OrphanDependents, Short: "the Orphan policy removes references before the owner goes", Long: "The Orphan policy: references of all dependents are removed, then the finalizer orphan."},
		{Code: NotObserved, Short: "it exists, but its kind is not watched", Long: "The object exists but no watch shows its kind: it is asked for again and again."},
		{Code: AbsenceNotProven, Short: "it is not proven that an owner is absent", Long: "Strict rules: Kubernetes' collector would call an owner absent; the evidence is not proof, so the object is kept."},
		{Code: Contended, Short: "it changed again and again while it was judged", Long: "The object changed again and again between being read and being written: it is kept, and tried again later."},
	},
}
