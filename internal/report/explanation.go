package report

// Verdict is the state of one object in the eyes of the collector.
type Verdict string

// The verdicts of an explanation.
const (
	Live                 Verdict = "Live"
	Garbage              Verdict = "Garbage"
	BeingDeleted         Verdict = "BeingDeleted"
	WaitingForDependents Verdict = "WaitingForDependents"
	HeldByFinalizer      Verdict = "HeldByFinalizer"
	Undecidable          Verdict = "Undecidable"
)

// Class is what an owner reference counts as.
type Class string

// The classes of an owner reference.
const (
	Solid        Class = "Solid"
	Dangling     Class = "Dangling"
	Waiting      Class = "Waiting"
	UnknownClass Class = "Unknown"
)

// Explanation says why one object stays, goes or is stuck.
type Explanation struct {
	APIVersion string  `json:"apiVersion"`
	Kind       string  `json:"kind"`
	Source     Source  `json:"source"`
	Object     Ref     `json:"object"`
	Verdict    Verdict `json:"verdict"`
	Reason     string  `json:"reason"`
	Message    string  `json:"message"`
	// Next is the request that the collector would send for the object now, as
	// "DELETE Background"; empty when it would send none.
	Next       string             `json:"next,omitempty"`
	Owners     []OwnerFinding     `json:"owners"`
	Dependents []DependentFinding `json:"dependents"`
	Finalizers []FinalizerFinding `json:"finalizers"`
	// Chain is a sequence: from the object over its owners to the solid root, or
	// to what is absent.
	Chain []ChainLink `json:"chain"`
	// TakenBy lists single deletes that would take the object.
	TakenBy  []Taker  `json:"takenBy"`
	Remedies []Remedy `json:"remedies"`
	Complete bool     `json:"complete"`
	Gaps     []Gap    `json:"gaps"`
}

// OwnerFinding is what one owner reference counts as, with evidence.
type OwnerFinding struct {
	Ref                Ref    `json:"ref"`
	Controller         bool   `json:"controller,omitempty"`
	BlockOwnerDeletion bool   `json:"blockOwnerDeletion,omitempty"`
	Class              Class  `json:"class"`
	Evidence           string `json:"evidence"`
}

// DependentFinding is one object that refers to the explained one.
type DependentFinding struct {
	Ref      Ref  `json:"ref"`
	Blocking bool `json:"blocking,omitempty"`
	// State is Live, BeingDeleted or WaitingForDependents.
	State string `json:"state"`
}

// FinalizerFinding is one finalizer of the object.
type FinalizerFinding struct {
	Name      string `json:"name"`
	RemovedBy string `json:"removedBy"`
	// State is Waiting when the object is being deleted, Idle otherwise.
	State    string `json:"state"`
	Evidence string `json:"evidence,omitempty"`
	Remedy   string `json:"remedy,omitempty"`
}

// ChainLink is one step of the way to what decides.
type ChainLink struct {
	Ref
	Class Class `json:"class"`
}

// Taker is a single delete that would take the object.
type Taker struct {
	Object Ref    `json:"object"`
	Policy string `json:"policy"`
}

// Remedy is a command that would change the verdict, and what it does.
type Remedy struct {
	Command string `json:"command"`
	Effect  string `json:"effect"`
}
