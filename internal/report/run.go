package report

// RunState says how a run ended.
type RunState string

// The states of a run.
const (
	// Complete: everything that was planned is so.
	Complete RunState = "Complete"
	// Partial: some of it is not; the writes say which, and the message why.
	Partial RunState = "Partial"
	// NothingWritten: the run was refused before its first write.
	NothingWritten RunState = "NothingWritten"
	// Interrupted: somebody stopped it; what was under way was finished.
	Interrupted RunState = "Interrupted"
	// TimedOut: the writes were sent, and what follows from them has not come to
	// its end in time.
	TimedOut RunState = "TimedOut"
	// NotCollected: the writes were sent, and nobody seems to collect in the
	// cluster what follows from them.
	NotCollected RunState = "NotCollected"
	// Unseen: the writes were sent, and of some objects it cannot be seen what became of
	// them: their kind is not served any more, or may not be read.
	Unseen RunState = "Unseen"
	// NotAwaited: the writes were sent, and nobody waited for what follows.
	NotAwaited RunState = "NotAwaited"
)

// WriteState is what became of one planned write.
type WriteState string

// The states of writes.
const (
	// Confirmed: the server said that it was done, or shows that it is.
	Confirmed WriteState = "Confirmed"
	// AlreadyDone: the cluster was like that without us.
	AlreadyDone WriteState = "AlreadyDone"
	// Refused: the server said no.
	Refused WriteState = "Refused"
	// Contended: the object changed since the plan, or again and again.
	Contended WriteState = "Contended"
	// UnknownWrite: it was sent, and nothing says whether it was done.
	UnknownWrite WriteState = "Unknown"
	// NotDone: it was not sent.
	NotDone WriteState = "NotDone"
)

// WriteStates lists the states of writes in the order in which they are shown.
func WriteStates() []WriteState {
	return []WriteState{Confirmed, AlreadyDone, Contended, Refused, UnknownWrite, NotDone}
}

// Run is what became of a plan that was carried out: what the server confirmed,
// and how the cluster differs from what was predicted.
type Run struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Source     Source `json:"source"`
	Seed       Seed   `json:"seed"`
	// Digest is that of the plan.
	Digest string `json:"digest"`
	// Bundle is the directory of backup and journal.
	Bundle  string     `json:"backup,omitempty"`
	State   RunState   `json:"state"`
	Message string     `json:"message,omitempty"`
	Summary RunSummary `json:"summary"`
	// Writes are the planned writes, in the order of the plan.
	Writes []RunWrite `json:"writes"`
	// Surprises are writes that the plan did not have. They were not sent.
	Surprises []Surprise `json:"surprises,omitempty"`
	// Pending are objects that are on their way out and not gone yet.
	Pending []Pending `json:"pending,omitempty"`
	// Difference lists where the cluster is not as predicted.
	Differences []Difference `json:"differences"`
}

// RunSummary counts the writes by state, and compares.
type RunSummary struct {
	Confirmed   int `json:"confirmed"`
	AlreadyDone int `json:"alreadyDone"`
	Refused     int `json:"refused"`
	Contended   int `json:"contended"`
	Unknown     int `json:"unknown"`
	NotDone     int `json:"notDone"`
	// Gone is the number of objects that were predicted to go and are gone.
	Gone int `json:"gone"`
	// Pending is the number of those that are still on their way.
	Pending int `json:"pending"`
	// Compared is the number of predicted effects that were looked at afterwards,
	// Differing the number of those that are not as predicted.
	Compared  int `json:"compared"`
	Differing int `json:"differing"`
}

// Of is the count of a state.
func (s *RunSummary) Of(state WriteState) *int {
	switch state {
	case Confirmed:
		return &s.Confirmed
	case AlreadyDone:
		return &s.AlreadyDone
	case Refused:
		return &s.Refused
	case Contended:
		return &s.Contended
	case UnknownWrite:
		return &s.Unknown
	default:
		return &s.NotDone
	}
}

// RunWrite is one planned write.
type RunWrite struct {
	Object Ref `json:"object"`
	// Verb is DELETE or PATCH.
	Verb    string     `json:"verb"`
	State   WriteState `json:"state"`
	Message string     `json:"message,omitempty"`
}

// Surprise is a write that the collector wanted and the plan did not have.
type Surprise struct {
	Object  Ref    `json:"object"`
	Verb    string `json:"verb"`
	Message string `json:"message"`
}

// Pending is an object that is being deleted and not gone yet.
type Pending struct {
	Object     Ref      `json:"object"`
	Finalizers []string `json:"finalizers,omitempty"`
	// Dependents are those that it waits for, as far as the plan knows them.
	Dependents []Ref `json:"dependents,omitempty"`
}

// DifferenceReason says how an object differs from what was predicted.
type DifferenceReason string

// The reasons of drift.
const (
	// Survived: predicted to go, and nobody deletes it.
	Survived DifferenceReason = "Survived"
	// GoneInstead: predicted to stay, and it is gone or on its way.
	GoneInstead DifferenceReason = "Gone"
	// OtherFinalizers: it is held by other finalizers than predicted.
	OtherFinalizers DifferenceReason = "OtherFinalizers"
	// OtherReferences: it has other owner references than predicted.
	OtherReferences DifferenceReason = "OtherReferences"
)

// Difference is an object that is not as predicted.
type Difference struct {
	Object    Ref              `json:"object"`
	Predicted Outcome          `json:"predicted"`
	Reason    DifferenceReason `json:"reason"`
	Message   string           `json:"message"`
}
