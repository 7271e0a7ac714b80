package report

// Consequence is what a run does to one object, at once or later: our requests change or delete it.
// All consequences of a plan are the account of a run. Guards, question, counts, backup, waiting
// and comparison read the account and nothing else.
//
// In JSON it is a part of the effect on the object, without the fields that the effect has.
type Consequence struct {
	Object Ref    `json:"-"`
	Change Change `json:"change"`
	When   When   `json:"when"`
	// After are the finalizers that must be removed before the object is gone, the Once of the
	// effect. With FinalizerRemoved nothing happens to the object before.
	After []Release `json:"-"`
	// Controller is the controller that acts, for ControllerActs.
	Controller string    `json:"controller,omitempty"`
	Certainty  Certainty `json:"certainty"`
	// Anyway is true if it would also happen without the request. It is for display: the object
	// counts like any other.
	Anyway bool `json:"anyway,omitempty"`
	// Outcome is the predicted outcome of the object, which may be less than Change.
	Outcome Outcome `json:"-"`
	// Reason is the reason of the effect on the object.
	Reason string `json:"-"`
}

// Change is the most that may happen to an object.
type Change string

// The changes.
const (
	// ChangeDeleted: the object is deleted, or marked for deletion, which cannot be undone.
	ChangeDeleted Change = "Deleted"
	// ChangeEdited: the object stays, with other owner references or finalizers, or rewritten by a
	// controller.
	ChangeEdited Change = "Changed"
)

// When is what must happen before an object is changed or deleted.
type When string

// The times.
const (
	// AtOnce: our request does it, or the garbage collector as a result of it.
	AtOnce When = "AtOnce"
	// ControllerActs: another controller of the cluster does it, such as the namespace controller.
	ControllerActs When = "ControllerActs"
	// FinalizerRemoved: not before finalizers of other objects are removed.
	FinalizerRemoved When = "FinalizerRemoved"
)

// Certainty is how certain it is that an object is changed or deleted.
type Certainty string

// The certainties.
const (
	// Sure: whatever else happens in the cluster meanwhile, as far as the plan can see.
	Sure Certainty = "Sure"
	// Possible: it depends on timing, or on a finalizer that may or may not be removed.
	Possible Certainty = "Possible"
	// Undecided: the snapshot does not show what it depends on.
	Undecided Certainty = "Unknown"
)

// Release is a finalizer that must be removed from an object, and what is known about the
// controller that removes it.
type Release struct {
	Object    Ref    `json:"object"`
	Finalizer string `json:"finalizer"`
	// Controller is the name of the controller that removes it; empty if none is known.
	Controller string          `json:"controller,omitempty"`
	State      ControllerState `json:"state"`
}

// ControllerState is what the evidence says about the controller of a finalizer.
type ControllerState string

// The states of controllers.
const (
	// ControllerRuns: it was seen running, and removes the finalizer when it has done its work.
	ControllerRuns ControllerState = "Running"
	// ControllerGone: everything that could show it was read, and it is not there.
	ControllerGone ControllerState = "Gone"
	// ControllerGuards: it runs, and removes the finalizer once nothing uses the object. Whether
	// something uses it is unknown.
	ControllerGuards ControllerState = "Guards"
	// ControllerUnknown: the evidence does not decide.
	ControllerUnknown ControllerState = "Unknown"
)
