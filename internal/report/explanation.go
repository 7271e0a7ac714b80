package report

import "github.com/kubectl-gc/kubectl-gc/internal/object"

// Verdict is the state of one object by the rules of the collector.
type Verdict string

// The verdicts of an explanation.
const (
	Live                 Verdict = "Live"
	Garbage              Verdict = "Garbage"
	BeingDeleted         Verdict = "BeingDeleted"
	WaitingForDependents Verdict = "WaitingForDependents"
	HeldByFinalizer      Verdict = "HeldByFinalizer"
	Undecidable          Verdict = "Undecidable"
	// Expires: nothing deletes it now, and a controller deletes it in time.
	Expires Verdict = "Expires"
)

// Class is the state of the owner in an owner reference.
type Class string

// The classes of owner references.
const (
	Existing     Class = "Existing"
	Dangling     Class = "Dangling"
	Waiting      Class = "Waiting"
	UnknownClass Class = "Unknown"
)

// Explanation says why one object stays, is deleted or is stuck.
type Explanation struct {
	Header

	Source  Source     `json:"source"`
	Object  object.Ref `json:"object"`
	Verdict Verdict    `json:"verdict"`
	Reason  string     `json:"reason"`
	Message string     `json:"message"`
	// Next is the request that the collector would send for the object now, such as "DELETE
	// Background"; empty if it would send none.
	Next string `json:"next,omitempty"`
	// Expiry is the delete by time or number of an object that stays for now; nil if none is known.
	Expiry     *Expiry            `json:"expiry,omitempty"`
	Owners     []OwnerFinding     `json:"owners"`
	Dependents []DependentFinding `json:"dependents"`
	Finalizers []FinalizerFinding `json:"finalizers"`
	// Chain is a sequence: from the object over its owners to the root that keeps it, or to the
	// absent owner.
	Chain []ChainLink `json:"chain"`
	// TakenBy is a sequence: the single deletes that would delete the object too, nearest first,
	// each under the mildest such policy, or under all such policies.
	TakenBy []Taker `json:"takenBy"`
	// TakersUntried counts the more distant objects that were not tried.
	TakersUntried int `json:"takersUntried,omitempty"`
	// Deadlock is set if no controller will ever end the deletion.
	Deadlock *Deadlock `json:"deadlock,omitempty"`
	// Events are the last Events about the object in a live cluster, warnings first.
	Events []EventFinding `json:"events,omitempty"`
	// EventsUnknown is why no Events were read; empty if they were, and for a dump.
	EventsUnknown string `json:"eventsUnknown,omitempty"`
	// WaitsFor has the findings of stuck about an object that is being deleted, in the order of
	// their codes.
	WaitsFor []Finding `json:"waitsFor,omitempty"`
	// Content counts the content of a namespace: workloads first, then data.
	Content []ContentCount `json:"content,omitempty"`
	// UsedBy are the pods that use a PVC.
	UsedBy []object.Ref `json:"usedBy,omitempty"`
	// Referrers are the objects with a field that refers to the object. It is empty if none was found,
	// and absent if no known field of any kind refers to the kind, or nothing was read.
	// UnreadReferrers are the lists that may hold more.
	Referrers       []Referrer `json:"referrers,omitzero"`
	UnreadReferrers []Gap      `json:"unreadReferrers,omitempty"`
	// Refusal is set if the API server refuses a delete of an object that is not being deleted, or may.
	Refusal *DeleteRefusal `json:"refusal,omitempty"`
	// Obstructs are the deletions that the object obstructs, such as an APIService without an answer that
	// of a namespace.
	Obstructs []BlockedDeletion `json:"obstructs,omitempty"`
	// Storage is the outcome of the storage behind a PVC or volume when it is deleted; absent for a
	// PVC without a volume.
	Storage *Storage `json:"storage,omitempty"`
	// Remedies are commands that would change the verdict. For an object that is being deleted,
	// those of stuck come first.
	Remedies []Remedy `json:"remedies"`
	Complete bool     `json:"complete"`
	Gaps     []Gap    `json:"gaps"`
}

// DeleteRefusal is the refusal of a delete by an admission policy, or because a webhook does not answer.
type DeleteRefusal struct {
	// Certain is false if it is unknown whether the request is refused.
	Certain bool   `json:"certain"`
	Message string `json:"message"`
}

// BlockedDeletion is an unfinished deletion that an object obstructs.
type BlockedDeletion struct {
	Object object.Ref `json:"object"`
	// Outcome is what a delete of the obstructing object makes of Object: Deleted if its deletion then ends,
	// Blocked or Kept if something else obstructs it, too, and Unknown.
	Outcome Outcome `json:"outcome"`
}

// OwnerFinding is one owner reference with its class and the evidence.
type OwnerFinding struct {
	Ref                object.Ref `json:"ref"`
	Controller         bool       `json:"controller,omitempty"`
	BlockOwnerDeletion bool       `json:"blockOwnerDeletion,omitempty"`
	Class              Class      `json:"class"`
	Evidence           string     `json:"evidence"`
	// Elsewhere is the object with the uid of an absent owner, of another kind, namespace or name.
	Elsewhere *object.Ref `json:"elsewhere,omitempty"`
}

// DependentFinding is one dependent of the object.
type DependentFinding struct {
	Ref      object.Ref `json:"ref"`
	Blocking bool       `json:"blocking,omitempty"`
	// State is Live, BeingDeleted or WaitingForDependents.
	State string `json:"state"`
}

// FinalizerFinding is one finalizer of the object.
type FinalizerFinding struct {
	Name      string `json:"name"`
	RemovedBy string `json:"removedBy"`
	// State is Waiting if the object is being deleted, Idle otherwise.
	State    string `json:"state"`
	Evidence string `json:"evidence,omitempty"`
	Remedy   string `json:"remedy,omitempty"`
	// Verdict says whether its controller works, and Proof is the evidence; absent if the object
	// does not wait for it.
	Verdict ControllerVerdict `json:"verdict,omitempty"`
	Proof   []Proof           `json:"proof,omitempty"`
}

// ChainLink is one step of a chain of owners.
type ChainLink struct {
	object.Ref
	Class Class `json:"class"`
}

// Taker is a single delete that would delete the object too.
type Taker struct {
	Object object.Ref `json:"object"`
	Policy string     `json:"policy"`
	// Unknown marks a delete that may or may not delete the object: that depends on something that
	// was not seen.
	Unknown bool `json:"unknown,omitempty"`
	// Once are the finalizers that must be removed before the object is deleted; empty if there are
	// none.
	Once []Release `json:"once,omitempty"`
	// Later marks a delete that deletes the object only if finalizers of Once are removed that are
	// not expected to be, or once an unreachable API or webhook works again.
	Later bool `json:"later,omitempty"`
}

// Deadlock is a wait that no controller ever ends.
type Deadlock struct {
	// Reason is a CamelCase reason of docs/reasons.md.
	Reason string `json:"reason"`
	// Path is a sequence: the object, the objects that it waits for, and where that ends.
	Path    []object.Ref `json:"path"`
	Message string       `json:"message"`
}

// EventFinding is one Event about the object.
type EventFinding struct {
	// Type is Normal or Warning.
	Type    string `json:"type"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
	// Count is how often it was seen. Last is when it was seen last, in RFC 3339.
	Count int    `json:"count"`
	Last  string `json:"last,omitempty"`
	// From is the component that reported it.
	From string `json:"from,omitempty"`
}

// ContentCount counts the objects of one kind and role in a namespace.
type ContentCount struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Role       Role   `json:"role"`
	Count      int    `json:"count"`
}

// Role is the purpose of an object, as far as it matters when a namespace is deleted.
type Role string

// The roles.
const (
	// WorkloadRole: pods, and the objects that create pods.
	WorkloadRole Role = "Workload"
	// DataRole: PVCs, Secrets and custom resources.
	DataRole Role = "Data"
	// OtherRole: everything else that was created on purpose.
	OtherRole Role = "Other"
	// GeneratedRole: Events, and objects that the cluster creates by itself and would create again.
	GeneratedRole Role = "Generated"
)

// Roles returns the roles in display order.
func Roles() []Role { return []Role{WorkloadRole, DataRole, OtherRole, GeneratedRole} }
