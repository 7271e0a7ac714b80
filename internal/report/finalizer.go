package report

// PlannedFinalizer is a finalizer that a plan takes off, and what is known of it.
type PlannedFinalizer struct {
	Name string `json:"name"`
	// Class is Collector, Protection, Cleanup, Cloud, Operator or Unknown.
	Class string `json:"class"`
	// RemovedBy and When say who would have taken it off, and on what condition.
	RemovedBy string `json:"removedBy,omitempty"`
	When      string `json:"when,omitempty"`
	// Without says what is lost or left behind.
	Without string `json:"without,omitempty"`
	Objects int    `json:"objects"`
}

// Refusal is a rule of safety that forbids to take a finalizer off an object.
type Refusal struct {
	Object    Ref    `json:"object"`
	Finalizer string `json:"finalizer"`
	// Reason is a CamelCase reason of docs/reasons.md.
	Reason string `json:"reason"`
	// Because are the first objects that stand against it.
	Because []Ref `json:"because,omitempty"`
	// LiftedBy is the flag that lifts the refusal; empty when none does.
	LiftedBy string `json:"liftedBy,omitempty"`
	Message  string `json:"message"`
}
