package reason

// Results of the rules of the collector.
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

// Collector has the reasons of the garbage collector.
var Collector = &Family{
	Title: "Reasons of the garbage collector",
	Found: "in effects, steps and explanations",
	Meanings: []Meaning{
		{Code: NoOwners, Short: "it has no owners", Long: "It has no owner references: the garbage collector never deletes it."},
		{Code: ExistingOwner, Short: "an owner exists and does not wait for its dependents", Long: "An owner exists and does not wait for its dependents: it stays."},
		{Code: DanglingReferences, Short: "an owner keeps it; references to other owners are removed", Long: "An owner exists: it stays. Its references to absent or waiting owners are removed."},
		{Code: NoExistingOwner, Short: "every owner is absent", Long: "Every owner is absent: it is garbage and is deleted."},
		{Code: WaitingOwner, Short: "an owner waits for its deletion, and no other owner keeps it", Long: "No owner keeps it, and an owner that is being deleted in the foreground waits for it: it is deleted."},
		{Code: WaitingOwnerInCycle, Short: "an owner waits for its deletion, and the owners may form a cycle", Long: "As WaitingOwner, and one of its dependents waits for dependents: first its references stop blocking, in case the owners form a cycle."},
		{Code: NoBlockingDependents, Short: "no dependent blocks the deletion any more", Long: "No dependent blocks its foreground deletion: the finalizer foregroundDeletion is removed."},
		{Code: WaitingForDependents, Short: "dependents block the deletion", Long: "Its foreground deletion waits for blocking dependents."},
		{Code: BeingDeleted, Short: "it is already being deleted", Long: "It is already being deleted and does not wait for dependents: the garbage collector ignores it."},
		{Code: NotFound, Short: "it does not exist", Long: "It is gone. Its dependents are examined."},
		{Code: UIDMismatch, Short: "an object of that name has another UID", Long: "An object of that name has another uid: the original is gone."},
		{Code: OwnerRefInvalidNamespace, Short: "it is cluster-scoped and refers to a namespaced owner", Long: "It is cluster-scoped and refers to a namespaced owner, which cannot be looked up: it stays and is never retried."},
		{Code: UnknownOwnerKind, Short: "the kind of an owner is not known to be served", Long: "The kind of an owner is not served: it stays and is retried forever."},
		ownerNotCovered,
		{Code: ObjectNotCovered, Short: "the snapshot does not cover it", Long: "The snapshot does not cover it: it may or may not exist."},
		{Code: LookupFailed, Short: "a read failed", Long: "A read failed, or an owner has an impossible name: the attempt is repeated."},
		{Code: OrphanDependents, Short: "the Orphan policy removes the references of its dependents first", Long: "The Orphan policy removes the references of its dependents, then the finalizer orphan."},
		{Code: NotObserved, Short: "it exists, but its kind is not watched", Long: "It exists, but its kind is not watched: it is requested again and again."},
		{Code: AbsenceNotProven, Short: "it is not proven that an owner is absent", Long: "Kubernetes' collector would call an owner absent, but that is not proven: by the strict rules it stays."},
		{Code: Contended, Short: "it changed repeatedly while it was judged", Long: "It changed repeatedly between read and write: it stays, and is tried again later."},
	},
}
