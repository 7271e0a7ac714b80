package report

// Consequence is what a run does to one object, at once or later: the object is
// changed or gone because of what we send. All consequences of a plan are the account
// of a run: whoever guards, asks, counts, copies, waits or compares reads the account
// and nothing else.
//
// In JSON it is a part of the effect on the object, and what the effect says already is not
// said again.
type Consequence struct {
	Object Ref    `json:"-"`
	Change Change `json:"change"`
	When   When   `json:"when"`
	// After are the finalizers that have to come off before the object is gone, the Once of
	// the effect. With FinalizerRemoved nothing happens to it before.
	After []Release `json:"-"`
	// Controller is who acts, for ControllerActs.
	Controller string    `json:"controller,omitempty"`
	Certainty  Certainty `json:"certainty"`
	// Anyway says that it would have happened without the request, too. It is for
	// display: the object counts like any other.
	Anyway bool `json:"anyway,omitempty"`
	// Outcome is what the plan expects to become of the object, which may be less than
	// Change.
	Outcome Outcome `json:"-"`
	// Reason is the one of the effect on the object.
	Reason string `json:"-"`
}

// Change is what may happen to an object at most.
type Change string

// The changes.
const (
	// ChangeDeleted: the object goes, or is marked for deletion, which nobody takes back.
	ChangeDeleted Change = "Deleted"
	// ChangeEdited: the object stays, with other owner references or finalizers, or as a
	// controller rewrites it.
	ChangeEdited Change = "Changed"
)

// When is what has to happen before an object is touched.
type When string

// The times.
const (
	// AtOnce: by our request itself, or by the garbage collector following it.
	AtOnce When = "AtOnce"
	// ControllerActs: by another controller of the cluster, as the namespace controller.
	ControllerActs When = "ControllerActs"
	// FinalizerRemoved: not before somebody takes finalizers off other objects.
	FinalizerRemoved When = "FinalizerRemoved"
)

// Certainty is how sure it is that an object is touched.
type Certainty string

// The certainties.
const (
	// Sure: whatever happens in the cluster meanwhile, as far as the plan can see.
	Sure Certainty = "Sure"
	// Possible: it depends on timing, or on a finalizer of which it is not known
	// whether it comes off.
	Possible Certainty = "Possible"
	// Undecided: the snapshot does not show what decides about it.
	Undecided Certainty = "Unknown"
)

// Release is a finalizer that has to come off an object, and what is known of the
// controller that removes it.
type Release struct {
	Object    Ref    `json:"object"`
	Finalizer string `json:"finalizer"`
	// Controller is the name of who removes it; empty when nobody is known.
	Controller string          `json:"controller,omitempty"`
	State      ControllerState `json:"state"`
}

// ControllerState is what the evidence says of the controller of a finalizer.
type ControllerState string

// The states of controllers.
const (
	// ControllerRuns: it was seen to run, and removes the finalizer when it has done its work.
	ControllerRuns ControllerState = "Running"
	// ControllerGone: everything was read that could show it, and it is not there.
	ControllerGone ControllerState = "Gone"
	// ControllerGuards: it runs, and removes the finalizer once nothing uses the object. It is not
	// shown that nothing does.
	ControllerGuards ControllerState = "Guards"
	// ControllerUnknown: neither is shown.
	ControllerUnknown ControllerState = "Unknown"
)
