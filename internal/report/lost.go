package report

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Lost is what went away within the history that a server still has, and who took it.
type Lost struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Source     Source `json:"source"`
	// Namespace is the only one that was asked about, with the object of that name; empty
	// for all. Targets are the only objects that were; they may never have existed.
	Namespace string `json:"namespace,omitempty"`
	Targets   []Ref  `json:"targets,omitempty"`
	// Asked is how far back was asked for: a revision or a time. It is absent for as far as
	// there is history. Short says that there is less of it.
	Asked *Moment `json:"asked,omitempty"`
	Short bool    `json:"short,omitempty"`
	// SinceIgnored is why a time that was asked for was not looked back to, but all that is
	// remembered was looked at; absent where it was.
	SinceIgnored SinceIgnored `json:"sinceIgnored,omitempty"`
	// From is where the history begins that was looked at: nothing is known of what was
	// before. To is where it ends.
	From    Moment      `json:"from"`
	To      Moment      `json:"to"`
	Summary LostSummary `json:"summary"`
	// Requests are those that explain the losses, as few as can be, in the order in which
	// they were sent.
	Requests []LostRequest `json:"requests"`
	// Losses are in the order in which they began.
	Losses []Loss `json:"losses"`
	// Elsewhere are objects outside of what was asked about of which a delete was seen.
	Elsewhere []Ref `json:"elsewhere,omitempty"`
	// Limits are the kinds of which less history is known, and Gaps those of which none is.
	Limits []HistoryLimit `json:"limits"`
	// AuditLog is what was read of audit logs, if there were any.
	AuditLog *AuditLog `json:"auditLog,omitempty"`
	// Remedies are commands that bring back what is gone, or save it where it cannot come back yet.
	Remedies []Remedy `json:"remedies,omitempty"`
	// Terminating are the namespaces of losses in which nothing can be made: they are being deleted.
	Terminating []string `json:"terminating,omitempty"`
	// Complete is false when something that was not seen may have gone, too, or when there is
	// less history than was asked for.
	Complete bool  `json:"complete"`
	Gaps     []Gap `json:"gaps"`
}

// SinceIgnored is why nobody knows which revision a time was.
type SinceIgnored string

// The reasons for which a time was ignored.
const (
	// LeasesForbidden: the leases in namespace kube-system, which tell the time, may not be listed.
	LeasesForbidden SinceIgnored = "LeasesForbidden"
	// NoLeaseRenewed: nobody renews these leases, or they are not there.
	NoLeaseRenewed SinceIgnored = "NoLeaseRenewed"
)

// Moment is a revision of a cluster, and when that was.
type Moment struct {
	// Revision is a resourceVersion. All kinds share one counter.
	Revision int64 `json:"revision,omitempty"`
	// Time is in RFC 3339, by the clocks of the cluster; absent where it is not known. It may
	// be some seconds early.
	Time string `json:"time,omitempty"`
}

// LostSummary counts the losses. Those in the ordinary course of things are only in Routine.
type LostSummary struct {
	Deleted      int `json:"deleted"`
	BeingDeleted int `json:"beingDeleted"`
	Orphaned     int `json:"orphaned"`
	// WithoutRequest are those that no request explains; each is in one of the others, too.
	WithoutRequest int `json:"withoutRequest"`
	Routine        int `json:"routine"`
}

// LostRequest is a delete that explains losses.
type LostRequest struct {
	N int `json:"n"`
	// Objects are what was asked for: one object, or several of a kind at once.
	Objects []Ref `json:"objects"`
	// Policy is Background, Foreground or Orphan, as far as traces tell.
	Policy string `json:"policy"`
	At     Moment `json:"at"`
	// Certain is false when a controller may have done it, and nobody asked.
	Certain bool `json:"certain"`
	// Took counts the losses that it explains, its objects included, wherever they are.
	Took int `json:"took"`
	// ByKind counts those of them that were asked about.
	ByKind []LostCount `json:"byKind"`
	// Routine says that it is one of a controller in the ordinary course of things.
	Routine bool `json:"routine,omitempty"`
	// Sent is who sent it; absent where the audit log does not have it.
	Sent *Sent `json:"sent,omitempty"`
}

// LostCount is a number of losses of one kind.
type LostCount struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	State      LossState `json:"state"`
	Count      int       `json:"count"`
	// Data says what data such objects hold; empty for most kinds.
	Data Data `json:"data,omitempty"`
	// Routine counts those that only make noise: Events, and what Kubernetes makes by itself.
	Routine bool `json:"routine,omitempty"`
}

// LossState is what became of an object.
type LossState string

// The states of losses.
const (
	// LossDeleted: gone.
	LossDeleted LossState = "Deleted"
	// LossBeingDeleted: its deletion was asked for, and it is still there.
	LossBeingDeleted LossState = "BeingDeleted"
	// LossOrphaned: it is there, and has lost an owner.
	LossOrphaned LossState = "Orphaned"
)

// Loss is one object that is gone, is being deleted, or has lost an owner.
type Loss struct {
	// Object is the object as it was, with its uid.
	Object Ref       `json:"object"`
	State  LossState `json:"state"`
	// Began is when its deletion began, or when it lost an owner; Gone is when it went.
	Began Moment  `json:"began"`
	Gone  *Moment `json:"gone,omitempty"`
	// Policy is that of its deletion.
	Policy string `json:"policy,omitempty"`
	// Owners are those that it has lost and stays without.
	Owners []Ref `json:"owners,omitempty"`
	// OwnersThen are the owners that an object had which was asked about by name, and ReplacedBy
	// what was made in its place.
	OwnersThen []Ref `json:"ownersThen,omitempty"`
	ReplacedBy []Ref `json:"replacedBy,omitempty"`
	// Again is the uid of what is there now by the name of an object that went; of one that has lost
	// an owner its own, if it has an owner of that name again.
	Again types.UID `json:"again,omitempty"`
	LossCause
	// Or are other causes that what is known does not exclude.
	Or []LossCause `json:"or,omitempty"`
	// Sent is who sent the request by which its deletion began, a controller or somebody; absent
	// where the audit log does not have it.
	Sent *Sent `json:"sent,omitempty"`
	// Contradicts is what would be certain without the audit log, which says otherwise.
	Contradicts *LossCause `json:"contradicts,omitempty"`
	// Routine marks what goes in the ordinary course of things: Events, what Kubernetes makes
	// by itself, what a controller replaces.
	Routine bool `json:"routine,omitempty"`
}

// LossCause is who took an object.
type LossCause struct {
	// Code is a CamelCase code of docs/reasons.md.
	Code string `json:"code"`
	// By is what it went with: its owner, namespace or CRD.
	By *Ref `json:"by,omitempty"`
	// Request is the number of the request that began it; 0 for none.
	Request int `json:"request,omitempty"`
}

// HistoryLimit is a kind whose history begins later than that of the others.
type HistoryLimit struct {
	APIVersion string `json:"apiVersion"`
	Resource   string `json:"resource"`
	// From is where its history begins.
	From Moment `json:"from"`
	// Listed says that lists of what was there before that are known, too: only what was created and deleted
	// again between two of them is not.
	Listed bool `json:"listed,omitempty"`
	// Why begins as that of a gap does.
	Why string `json:"why"`
}

// GetObjectKind gives printers the apiVersion and kind.
func (l *Lost) GetObjectKind() schema.ObjectKind { return typeFields{&l.APIVersion, &l.Kind} }

// DeepCopyObject returns a copy that shares no memory that can be written.
func (l *Lost) DeepCopyObject() runtime.Object { return deepCopy(l) }
