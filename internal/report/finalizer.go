package report

// PlannedFinalizer is a finalizer that a plan removes, and what is known about it.
type PlannedFinalizer struct {
	Name string `json:"name"`
	// Class is Collector, Protection, Cleanup, Cloud, Operator or Unknown.
	Class string `json:"class"`
	// RemovedBy and When are the controller that normally removes it, and on what condition.
	RemovedBy string `json:"removedBy,omitempty"`
	When      string `json:"when,omitempty"`
	// Without is what is lost or left behind.
	Without string `json:"without,omitempty"`
	Objects int    `json:"objects"`
}

// Refusal is a safety rule that forbids the removal of a finalizer.
type Refusal struct {
	Object    Ref    `json:"object"`
	Finalizer string `json:"finalizer"`
	// Reason is a CamelCase reason of docs/reasons.md.
	Reason string `json:"reason"`
	// Because are the first objects that cause the refusal.
	Because []Ref `json:"because,omitempty"`
	// LiftedBy is the flag that lifts the refusal; empty if none does.
	LiftedBy string `json:"liftedBy,omitempty"`
	Message  string `json:"message"`
}
