package report

import (
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// Lost is what was deleted within the history that a server still has, and because of which
// requests.
type Lost struct {
	Header

	Source Source `json:"source"`
	// Namespace limits the answer to a namespace and its content; empty for all. Targets limit it
	// to objects, which may never have existed.
	Namespace string       `json:"namespace,omitempty"`
	Targets   []object.Ref `json:"targets,omitempty"`
	// Asked is the requested beginning, a revision or a time; absent for all existing history.
	// Short is true if the history begins later.
	Asked *Moment `json:"asked,omitempty"`
	Short bool    `json:"short,omitempty"`
	// SinceIgnored is why the requested time was ignored, and all remembered history was examined;
	// absent if it was not ignored.
	SinceIgnored SinceIgnored `json:"sinceIgnored,omitempty"`
	// From and To are the beginning and the end of the history that was examined. Nothing is known
	// about the time before.
	From    Moment      `json:"from"`
	To      Moment      `json:"to"`
	Summary LostSummary `json:"summary"`
	// Requests are the smallest set of requests that explains the losses, in sending order.
	Requests []LostRequest `json:"requests"`
	// Losses are sorted by beginning.
	Losses []Loss `json:"losses"`
	// Elsewhere are objects outside of Namespace and Targets with a delete in the history.
	Elsewhere []object.Ref `json:"elsewhere,omitempty"`
	// Limits are the kinds with less history, and Gaps those without any.
	Limits []HistoryLimit `json:"limits"`
	// AuditLog describes the audit logs that were read, if any.
	AuditLog *AuditLog `json:"auditLog,omitempty"`
	// Remedies are commands that restore what is gone, or save what cannot be restored yet.
	Remedies []Remedy `json:"remedies,omitempty"`
	// Terminating are the namespaces of losses that are being deleted. Nothing can be created in
	// them.
	Terminating []string `json:"terminating,omitempty"`
	// Complete is false if something that was not seen may also have been deleted, or if the
	// history is shorter than requested.
	Complete bool  `json:"complete"`
	Gaps     []Gap `json:"gaps"`
}

// SinceIgnored is why the revision at a time is unknown.
type SinceIgnored string

// The reasons to ignore a time.
const (
	// LeasesForbidden: the user may not list the leases in namespace kube-system, which show the
	// time.
	LeasesForbidden SinceIgnored = "LeasesForbidden"
	// NoLeaseRenewed: these leases are not renewed, or do not exist.
	NoLeaseRenewed SinceIgnored = "NoLeaseRenewed"
)

// Moment is a revision of a cluster, and its time.
type Moment struct {
	// Revision is a resourceVersion. All kinds share one counter.
	Revision int64 `json:"revision,omitempty"`
	// Time is in RFC 3339, by the clocks of the cluster; absent if unknown. It may be some seconds
	// early.
	Time string `json:"time,omitempty"`
}

// LostSummary counts the losses. Routine losses are counted in Routine only.
type LostSummary struct {
	Deleted      int `json:"deleted"`
	BeingDeleted int `json:"beingDeleted"`
	Orphaned     int `json:"orphaned"`
	// WithoutRequest counts the losses that no request explains. Each is in another count, too.
	WithoutRequest int `json:"withoutRequest"`
	Routine        int `json:"routine"`
}

// LostRequest is a delete that explains losses.
type LostRequest struct {
	N int `json:"n"`
	// Objects are the targets of the request: one object, or several of a kind at once.
	Objects []object.Ref `json:"objects"`
	// Policy is Background, Foreground or Orphan, as far as the history shows it.
	Policy string `json:"policy"`
	At     Moment `json:"at"`
	// Certain is false if a controller may have deleted the object without a request of a user.
	Certain bool `json:"certain"`
	// Took counts the losses that it explains, its objects included, in all namespaces.
	Took int `json:"took"`
	// ByKind counts those of them within Namespace and Targets of the document.
	ByKind []LostCount `json:"byKind"`
	// Routine is true for the routine work of a controller.
	Routine bool `json:"routine,omitempty"`
	// Sent is the request in the audit log; absent if the log does not have it.
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

// LossState is the outcome of a loss.
type LossState string

// The states of losses.
const (
	// LossDeleted: gone.
	LossDeleted LossState = "Deleted"
	// LossBeingDeleted: its deletion was requested, and it is still there.
	LossBeingDeleted LossState = "BeingDeleted"
	// LossOrphaned: it exists, and has lost an owner.
	LossOrphaned LossState = "Orphaned"
)

// Loss is one object that is gone, is being deleted, or has lost an owner.
type Loss struct {
	// Object is the object as it was, with its uid.
	Object object.Ref `json:"object"`
	State  LossState  `json:"state"`
	// Began is when its deletion began, or when it lost an owner. Gone is when it was removed.
	Began Moment  `json:"began"`
	Gone  *Moment `json:"gone,omitempty"`
	// Policy is that of its deletion.
	Policy string `json:"policy,omitempty"`
	// Owners are the owners that it has lost and still lacks.
	Owners []object.Ref `json:"owners,omitempty"`
	// OwnersThen are the owners that the object had, and ReplacedBy the objects that were created
	// in its place. Both are set only for Targets.
	OwnersThen []object.Ref `json:"ownersThen,omitempty"`
	ReplacedBy []object.Ref `json:"replacedBy,omitempty"`
	// Again is the uid of the object that now has the name of a deleted object. For an object that
	// lost an owner it is its own uid, if it has an owner of that name again.
	Again types.UID `json:"again,omitempty"`
	LossCause
	// Or are other causes that cannot be excluded.
	Or []LossCause `json:"or,omitempty"`
	// Sent is the request that began its deletion, of a controller or a user; absent if the audit
	// log does not have it.
	Sent *Sent `json:"sent,omitempty"`
	// Contradicts is the cause that would be certain without the audit log, which contradicts it.
	Contradicts *LossCause `json:"contradicts,omitempty"`
	// Routine marks routine losses: Events, objects that Kubernetes creates by itself, objects that
	// a controller replaces.
	Routine bool `json:"routine,omitempty"`
}

// LossCause is the cause of a loss.
type LossCause struct {
	// Code is a CamelCase code of docs/reasons.md.
	Code string `json:"code"`
	// By is the object that it was deleted with: its owner, namespace or CRD.
	By *object.Ref `json:"by,omitempty"`
	// Request is the number of the request that began it; 0 for none.
	Request int `json:"request,omitempty"`
}

// HistoryLimit is a kind with a history that begins later than that of the others.
type HistoryLimit struct {
	APIVersion string `json:"apiVersion"`
	Resource   string `json:"resource"`
	// From is where its history begins.
	From Moment `json:"from"`
	// Listed is true if earlier lists of the kind are known: only objects that were created and
	// deleted between two of them are not.
	Listed bool `json:"listed,omitempty"`
	// Why has the same form as that of a gap.
	Why string `json:"why"`
}

// DeepCopyObject returns a copy that shares no memory that can be written.
func (l *Lost) DeepCopyObject() runtime.Object { return deepCopy(l) }

// AuditLog describes the audit logs that were read. Their silence proves nothing: a log may leave
// requests out, and each API server has its own.
type AuditLog struct {
	// From and To are the times of the first and last request in the logs, in RFC 3339; absent for
	// empty logs.
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
	// Requests counts the successful deletes and evictions in the examined time.
	Requests int `json:"requests"`
	// CutOff are the logs that end in the middle of a line.
	CutOff []string `json:"cutOff,omitempty"`
}

// Sent is a request in an audit log, or several of one client that asked for the same.
type Sent struct {
	// Verb is delete, deletecollection or evict.
	Verb string `json:"verb"`
	User string `json:"user"`
	// ImpersonatedUser is the user that the request impersonated.
	ImpersonatedUser string `json:"impersonatedUser,omitempty"`
	UserAgent        string `json:"userAgent,omitempty"`
	// SourceIPs are the addresses that it came from. The client can forge all but the last.
	SourceIPs []string `json:"sourceIPs,omitempty"`
	// Options are the options of the request; absent if the log does not have them.
	Options *SentOptions `json:"options,omitempty"`
	// Time is when the first of the requests came, in RFC 3339.
	Time string `json:"time"`
	// AuditIDs are the names of the requests in the log.
	AuditIDs []string `json:"auditIDs"`
	// MatchedBy is UID, Name or Selector: how the request was found. With Selector it is a
	// deletecollection that matches by selector and time, and may have come too late.
	MatchedBy string `json:"matchedBy"`
}

// SentOptions are the options of a request. Options that it does not set are absent.
type SentOptions struct {
	PropagationPolicy  string `json:"propagationPolicy,omitempty"`
	GracePeriodSeconds *int64 `json:"gracePeriodSeconds,omitempty"`
}
