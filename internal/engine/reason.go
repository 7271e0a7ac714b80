package engine

// Reason says which rule decided. Reasons are API: scripts compare them, and
// docs/reasons.md lists them.
type Reason uint8

// The reasons of the collector.
const (
	// NoReason is no decision.
	NoReason Reason = iota
	// NoOwners: the object has no owner references.
	NoOwners
	// SolidOwner: an owner exists and is not waiting for its dependents.
	SolidOwner
	// DanglingReferences: an owner is solid; the references to absent or waiting owners are removed.
	DanglingReferences
	// NoSolidOwner: every owner is absent.
	NoSolidOwner
	// WaitingOwner: no owner is solid, and one waits for its dependents to go.
	WaitingOwner
	// WaitingOwnerInCycle: as WaitingOwner, and a dependent waits too: blocking is lifted first.
	WaitingOwnerInCycle
	// NoBlockingDependents: a foreground deletion has nothing left to wait for.
	NoBlockingDependents
	// WaitingForDependents: a foreground deletion waits for blocking dependents.
	WaitingForDependents
	// BeingDeleted: already being deleted, and not waiting for dependents: left alone.
	BeingDeleted
	// NotFound: the object is gone.
	NotFound
	// UIDMismatch: another object has taken its name.
	UIDMismatch
	// OwnerRefInvalidNamespace: a cluster-scoped object refers to a namespaced owner: given up, never retried.
	OwnerRefInvalidNamespace
	// UnknownOwnerKind: the kind of an owner is not served: kept, and retried for ever.
	UnknownOwnerKind
	// OwnerNotCovered: the snapshot does not contain the place where an owner would be.
	OwnerNotCovered
	// ObjectNotCovered: the snapshot does not contain the place where the object itself would be.
	ObjectNotCovered
	// LookupFailed: the server refused or failed to answer a read.
	LookupFailed
	// OrphanDependents: the references of all dependents are removed before the object goes.
	OrphanDependents
	// NotObserved: the object exists but its kind is not watched: it is polled.
	NotObserved
	// AbsenceNotProven: strict rules only: upstream would call an owner absent, the proof is not good enough.
	AbsenceNotProven
	// Contended: the object changed each time between being read and being written.
	Contended
)

var reasons = [...]struct{ name, text string }{
	NoReason:                 {"", ""},
	NoOwners:                 {"NoOwners", "The object has no owner references, so the collector never touches it."},
	SolidOwner:               {"SolidOwner", "At least one owner exists and is not waiting for its dependents to go: the object stays."},
	DanglingReferences:       {"DanglingReferences", "An owner is solid, so the object stays; its references to absent or waiting owners are removed."},
	NoSolidOwner:             {"NoSolidOwner", "Every owner is absent: the object is garbage and is deleted."},
	WaitingOwner:             {"WaitingOwner", "No owner is solid and one is being deleted in the foreground: the object is deleted so that the owner can go."},
	WaitingOwnerInCycle:      {"WaitingOwnerInCycle", "As WaitingOwner, and a dependent of the object waits for its own dependents: the object's references stop blocking first, so that a cycle cannot hold itself."},
	NoBlockingDependents:     {"NoBlockingDependents", "A foreground deletion has no blocking dependents left: the finalizer foregroundDeletion is removed."},
	WaitingForDependents:     {"WaitingForDependents", "A foreground deletion waits until its blocking dependents are gone."},
	BeingDeleted:             {"BeingDeleted", "The object is already being deleted and does not wait for dependents: the collector leaves it alone."},
	NotFound:                 {"NotFound", "The object is gone; whoever refers to it is looked at."},
	UIDMismatch:              {"UIDMismatch", "An object of that name exists with another uid: the one that was meant is gone."},
	OwnerRefInvalidNamespace: {"OwnerRefInvalidNamespace", "A cluster-scoped object refers to a namespaced owner, which cannot be looked up: it is kept and never retried."},
	UnknownOwnerKind:         {"UnknownOwnerKind", "The kind of an owner is not served: nothing about the object is decided, it is kept and retried for ever."},
	OwnerNotCovered:          {"OwnerNotCovered", "The snapshot does not contain the place where an owner would be: it may exist or not."},
	ObjectNotCovered:         {"ObjectNotCovered", "The snapshot does not contain the place where the object would be: it may exist or not."},
	LookupFailed:             {"LookupFailed", "The server refused or failed to answer a read; the attempt is repeated."},
	OrphanDependents:         {"OrphanDependents", "The Orphan policy: references of all dependents are removed, then the finalizer orphan."},
	NotObserved:              {"NotObserved", "The object exists but no watch shows its kind: it is asked for again and again."},
	AbsenceNotProven:         {"AbsenceNotProven", "Strict rules: Kubernetes' collector would call an owner absent; the evidence is not proof, so the object is kept."},
	Contended:                {"Contended", "The object changed again and again between being read and being written: it is kept, and tried again later."},
}

// Reasons lists all reasons.
func Reasons() []Reason {
	all := make([]Reason, 0, len(reasons)-1)
	for r := NoOwners; int(r) < len(reasons); r++ {
		all = append(all, r)
	}
	return all
}

// String is the stable CamelCase name.
func (r Reason) String() string { return reasons[r].name }

// Text is one sentence for people and for docs/reasons.md.
func (r Reason) Text() string { return reasons[r].text }
