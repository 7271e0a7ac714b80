package report

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"k8s.io/apimachinery/pkg/types"
)

// RunState says how a run ended.
type RunState string

// The states of a run.
const (
	// Complete: everything is as planned.
	Complete RunState = "Complete"
	// Partial: something is not as planned. The writes say what, and the message why.
	Partial RunState = "Partial"
	// NothingWritten: the run was refused before its first write.
	NothingWritten RunState = "NothingWritten"
	// Interrupted: it was stopped. Requests in flight were finished.
	Interrupted RunState = "Interrupted"
	// TimedOut: the writes were sent, and their consequences did not finish in time.
	TimedOut RunState = "TimedOut"
	// NotCollected: the writes were sent, and no garbage collector seems to run in the cluster.
	NotCollected RunState = "NotCollected"
	// Unseen: the writes were sent, and the outcome of some objects cannot be read: their kind is
	// not served any more, or the user may not read it.
	Unseen RunState = "Unseen"
	// NotAwaited: the writes were sent, and their consequences were not waited for.
	NotAwaited RunState = "NotAwaited"
)

// WriteState is the outcome of one planned write.
type WriteState string

// The states of writes.
const (
	// Confirmed: the server answered with success, or shows the result.
	Confirmed WriteState = "Confirmed"
	// AlreadyDone: the cluster was already in that state.
	AlreadyDone WriteState = "AlreadyDone"
	// Refused: the server refused it.
	Refused WriteState = "Refused"
	// Contended: the object has changed since the plan, or changed repeatedly.
	Contended WriteState = "Contended"
	// UnknownWrite: it was sent, and whether it was done is unknown.
	UnknownWrite WriteState = "Unknown"
	// NotDone: it was not sent.
	NotDone WriteState = "NotDone"
)

// WriteStates returns the states of writes in display order.
func WriteStates() []WriteState {
	return []WriteState{Confirmed, AlreadyDone, Contended, Refused, UnknownWrite, NotDone}
}

// Run is the result of a plan that was carried out: what the server confirmed, and how the cluster
// differs from the prediction.
type Run struct {
	Header

	Source Source `json:"source"`
	Seed   Seed   `json:"seed"`
	// Digest is that of the plan.
	Digest string `json:"digest"`
	// Bundle is the directory of backup and journal.
	Bundle  string     `json:"backup,omitempty"`
	State   RunState   `json:"state"`
	Message string     `json:"message,omitempty"`
	Summary RunSummary `json:"summary"`
	// Writes are the planned writes, in the order of the plan.
	Writes []RunWrite `json:"writes"`
	// Surprises are writes that are not in the plan. They were not sent.
	Surprises []Surprise `json:"surprises,omitempty"`
	// Pending are objects that were to be deleted and are not gone yet.
	Pending []Pending `json:"pending,omitempty"`
	// Differences are the objects that are not as predicted.
	Differences []Difference `json:"differences"`
}

// RunSummary counts the writes by state, and the predictions by result.
type RunSummary struct {
	Confirmed   int `json:"confirmed"`
	AlreadyDone int `json:"alreadyDone"`
	Refused     int `json:"refused"`
	Contended   int `json:"contended"`
	Unknown     int `json:"unknown"`
	NotDone     int `json:"notDone"`
	// Gone is the number of objects that were predicted to go and are gone.
	Gone int `json:"gone"`
	// Pending is the number of those that are not gone yet.
	Pending int `json:"pending"`
	// Compared is the number of predicted effects that were checked afterwards. Differing is the
	// number of those that are not as predicted.
	Compared  int `json:"compared"`
	Differing int `json:"differing"`
}

// Of returns the count of a state.
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
	Object object.Ref `json:"object"`
	// Verb is DELETE or PATCH.
	Verb    string     `json:"verb"`
	State   WriteState `json:"state"`
	Message string     `json:"message,omitempty"`
}

// Surprise is a write that the collector wanted and that is not in the plan.
type Surprise struct {
	Object  object.Ref `json:"object"`
	Verb    string     `json:"verb"`
	Message string     `json:"message"`
}

// Pending is an object that was to be deleted and is not gone yet.
type Pending struct {
	Object object.Ref `json:"object"`
	// NotBegun reports that it is not being deleted: after a timeout, no controller has deleted it
	// yet, or the server refuses that.
	NotBegun   bool     `json:"notBegun,omitempty"`
	Finalizers []string `json:"finalizers,omitempty"`
	// Dependents are the dependents that it waits for, as far as the plan knows them.
	Dependents []object.Ref `json:"dependents,omitempty"`
}

// DifferenceReason says how an object differs from what was predicted.
type DifferenceReason string

// The reasons of drift.
const (
	// Survived: it was predicted to be deleted, and is not.
	Survived DifferenceReason = "Survived"
	// GoneInstead: it was predicted to stay, and is gone or being deleted.
	GoneInstead DifferenceReason = "Gone"
	// OtherFinalizers: it is held by other finalizers than predicted.
	OtherFinalizers DifferenceReason = "OtherFinalizers"
	// OtherReferences: it has other owner references than predicted.
	OtherReferences DifferenceReason = "OtherReferences"
	// CreatedAgain: it was deleted, and another object has its name, which was not predicted.
	CreatedAgain DifferenceReason = "CreatedAgain"
)

// Difference is an object that is not as predicted.
type Difference struct {
	Object    object.Ref       `json:"object"`
	Predicted Outcome          `json:"predicted"`
	Reason    DifferenceReason `json:"reason"`
	Message   string           `json:"message"`
}

// Confirmation is what a user must see before agreeing to a plan: the cluster, the user, the
// counts, and the data that would be lost. It is only shown; no document contains it. (spec W21)
type Confirmation struct {
	// Verb is the verb of the question: delete, collect, undo.
	Verb    string
	Context string
	Server  string
	// User and ClusterUID are empty if the server does not tell them.
	User       string
	ClusterUID types.UID
	// Counts are the consequences by kind, change, time and certainty.
	Counts []ConsequenceCount
	// Deletes is the number of objects that are deleted or may be. UpTo is true if some of them
	// only may be.
	Deletes int
	UpTo    bool
	// Removes is the number of finalizers that are removed, Restores the number of objects that an
	// undo creates or changes.
	Removes, Restores int
	// Only is the written object; nil if there are several.
	Only *object.Ref
	// Data are the objects with data that cannot be recreated.
	Data []object.Ref
	// Notes are further sentences that the user should read.
	Notes []string
	// Backup is the name of the backup to remove, which no cluster has a part in; otherwise empty.
	Backup string
	// Digest identifies the plan.
	Digest string
}

// ConsequenceCount is the number of objects of one kind with the same change, time and certainty.
type ConsequenceCount struct {
	APIVersion, Kind string
	Change           Change
	When             When
	Certainty        Certainty
	Count            int
}

// Add counts one object.
func (c *Confirmation) Add(n ConsequenceCount) {
	for i := range c.Counts {
		same := c.Counts[i]
		if same.Count = n.Count; same == n {
			c.Counts[i].Count++
			return
		}
	}
	n.Count = 1
	c.Counts = append(c.Counts, n)
}

// Edits returns the number of objects that are changed and stay.
func (c *Confirmation) Edits() int {
	n := 0
	for i := range c.Counts {
		if c.Counts[i].Change == ChangeEdited {
			n += c.Counts[i].Count
		}
	}
	return n
}

// DataKinds counts the data by kind, in order of first occurrence.
func (c *Confirmation) DataKinds() []KindCount {
	var list []KindCount
	for _, r := range c.Data {
		i := slices.IndexFunc(list, func(k KindCount) bool { return k.Kind == r.Kind && k.APIVersion == r.APIVersion })
		if i < 0 {
			i, list = len(list), append(list, KindCount{APIVersion: r.APIVersion, Kind: r.Kind})
		}
		list[i].Count++
	}
	return list
}

// Name returns what the user types to confirm: the context of the kubeconfig, or the server if
// there is none. For the removal of a backup it is the name of the backup.
func (c *Confirmation) Name() string {
	if c.Backup != "" {
		return c.Backup
	}
	if c.Context != "" {
		return c.Context
	}
	return c.Server
}

// Obstacle is why a plan is refused, with the objects concerned and what lifts it. It is only
// shown; no document contains it.
type Obstacle struct {
	// Reason is a reason.Code, or an apply.RefusalReason without one.
	Reason  string
	Objects []object.Ref
	// Finalizer and Message are set for a finalizer that must stay.
	Finalizer, Message string
	// Planned and Limit are set for a plan that deletes too much.
	Planned, Limit int
	// Unlock is the value of --unlock that lifts it; empty if none does.
	Unlock string
}

// Answer is the answer of the API server to a dry-run request. It is only shown; no document
// contains it.
type Answer struct {
	Object object.Ref
	// Verb is DELETE, PATCH, POST or PUT.
	Verb string
	// Refused is the error of a refusal. Untried is why the request was not sent.
	Refused, Untried string
}
