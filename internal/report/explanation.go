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
	Existing     Class = "Existing"
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
	// TakenBy is a sequence: the single deletes that would take the object, nearest
	// first, each under the mildest policy that does, or under all that do.
	TakenBy []Taker `json:"takenBy"`
	// TakersUntried counts the objects further away whose delete was not tried.
	TakersUntried int `json:"takersUntried,omitempty"`
	// Deadlock is set when nothing that runs by itself ever ends the deletion.
	Deadlock *Deadlock `json:"deadlock,omitempty"`
	// Events are the last events of a live cluster about the object, those of type
	// Warning first.
	Events []EventFinding `json:"events,omitempty"`
	// EventsUnknown is why no events were read; empty when they were, or of a dump.
	EventsUnknown string `json:"eventsUnknown,omitempty"`
	// WaitsFor is, of an object that is being deleted, one finding of stuck for each end
	// that it waits for, in the order of their codes.
	WaitsFor []Finding `json:"waitsFor,omitempty"`
	// Content counts, of a namespace, what is in it: workloads first, then data.
	Content []ContentCount `json:"content,omitempty"`
	// UsedBy are, of a PVC, the pods that use it.
	UsedBy []Ref `json:"usedBy,omitempty"`
	// Storage is, of a PVC or a volume, what becomes of the storage behind it when it is
	// deleted; absent of a PVC that has no volume.
	Storage *Storage `json:"storage,omitempty"`
	// Remedies are, of an object that is being deleted, those of stuck first, each once.
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
	// Verdict says whether anybody removes it, and Proof what was seen of that; absent
	// where the object does not wait for it.
	Verdict ControllerVerdict `json:"verdict,omitempty"`
	Proof   []Proof           `json:"proof,omitempty"`
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
	// Unknown marks a delete that may take the object, or may not: that rests on
	// something that was not seen.
	Unknown bool `json:"unknown,omitempty"`
	// Once are the finalizers that have to come off before the object goes; empty where
	// none has to.
	Once []Release `json:"once,omitempty"`
	// Later marks a delete that takes the object only if finalizers of Once come off of
	// which that is not expected, or once what does not answer works again.
	Later bool `json:"later,omitempty"`
}

// Deadlock is a wait that never ends by itself.
type Deadlock struct {
	// Reason is a CamelCase reason of docs/reasons.md.
	Reason string `json:"reason"`
	// Path is a sequence: from the object over what it waits for to where that ends.
	Path    []Ref  `json:"path"`
	Message string `json:"message"`
}

// EventFinding is one event about the object.
type EventFinding struct {
	// Type is Normal or Warning.
	Type    string `json:"type"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
	// Count is how often it was seen, Last when it was seen last, as an RFC 3339 text.
	Count int    `json:"count"`
	Last  string `json:"last,omitempty"`
	// From is the component that says so.
	From string `json:"from,omitempty"`
}
