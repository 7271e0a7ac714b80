package finalizer

import (
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// Reason says why a finalizer is not taken off. Reasons are API; docs/reasons.md
// lists them.
type Reason string

// The reasons.
const (
	NotBeingDeleted    Reason = "NotBeingDeleted"
	NotThere           Reason = "FinalizerNotThere"
	CollectorFinalizer Reason = "CollectorFinalizer"
	ConsumerExists     Reason = "ConsumerExists"
	ConsumerUnknown    Reason = "ConsumerUnknown"
	InstancesExist     Reason = "InstancesExist"
	InstancesUnknown   Reason = "InstancesUnknown"
	NamespaceNotEmpty  Reason = "NamespaceNotEmpty"
	NamespaceUnknown   Reason = "NamespaceContentUnknown"
	LeaksOutside       Reason = "LeaksOutside"
)

// ReasonText is one documented reason.
type ReasonText struct {
	Reason Reason
	Text   string
}

// Reasons lists the reasons with one sentence each.
func Reasons() []ReasonText {
	return []ReasonText{
		{NotBeingDeleted, "The object is not being deleted: the finalizer holds nothing up, and its controller would put it back. Nothing lifts this."},
		{NotThere, "The object does not have the finalizer. Nothing lifts this."},
		{CollectorFinalizer, "The finalizer is the garbage collector's: without it the collector does something else. Lifted by --force-gc."},
		{ConsumerExists, "The finalizer protects the object, and somebody uses it. Lifted by --force-protection."},
		{ConsumerUnknown, "The finalizer protects the object, and whether somebody uses it cannot be seen. Lifted by --force-protection."},
		{InstancesExist, "The definition still has instances. Lifted by --force-cleanup."},
		{InstancesUnknown, "Whether the definition still has instances cannot be seen. Lifted by --force-cleanup."},
		{NamespaceNotEmpty, "The namespace still has content. Lifted by --force-namespace."},
		{NamespaceUnknown, "Not everything that the namespace may contain could be listed. Lifted by --force-namespace."},
		{LeaksOutside, "The finalizer is the last pointer to something outside of the cluster. Lifted by --accept-leak."},
	}
}

// Allow is what a user has lifted. The zero value lifts nothing.
type Allow struct {
	// Collector is --force-gc, Protection --force-protection, Cleanup
	// --force-cleanup, Namespace --force-namespace, Leak --accept-leak.
	Collector, Protection, Cleanup, Namespace, Leak bool
}

// The flags that lift refusals.
const (
	ForceCollector  = "--force-gc"
	ForceProtection = "--force-protection"
	ForceCleanup    = "--force-cleanup"
	ForceNamespace  = "--force-namespace"
	AcceptLeak      = "--accept-leak"
)

// Refusal is a finalizer that must not be taken off an object. It is an error.
type Refusal struct {
	Object    object.Ref
	Finalizer string
	Reason    Reason
	// Because are the objects that stand against it: the first few.
	Because []object.Ref
	// Detail says more, as what could not be listed.
	Detail string
	// Lift is the flag that lifts the refusal; empty when none does.
	Lift string
}

// Error says what is refused, why, and what would lift it.
func (r *Refusal) Error() string {
	text := fmt.Sprintf("%s: finalizer %s: %s", r.Object, r.Finalizer, r.Why())
	if r.Lift != "" {
		text += " (" + r.Lift + " takes it off all the same)"
	}
	return text
}

// Why is the reason as part of a sentence.
func (r *Refusal) Why() string {
	text := sentences[r.Reason]
	if len(r.Because) > 0 {
		names := make([]string, len(r.Because))
		for i, b := range r.Because {
			names[i] = report.RefOf(b).KubectlName()
			if b.Namespace != "" && b.Namespace != r.Object.Namespace {
				names[i] += " in " + b.Namespace
			}
		}
		text += ": " + strings.Join(names, ", ")
	}
	if r.Detail != "" {
		text += ": " + r.Detail
	}
	return text
}

var sentences = map[Reason]string{
	NotBeingDeleted:    "the object is not being deleted",
	NotThere:           "the object does not have it",
	CollectorFinalizer: "it is the garbage collector's",
	ConsumerExists:     "the object is in use",
	ConsumerUnknown:    "whether the object is in use is not known",
	InstancesExist:     "the definition has instances",
	InstancesUnknown:   "whether the definition has instances is not known",
	NamespaceNotEmpty:  "the namespace has content",
	NamespaceUnknown:   "whether the namespace is empty is not known",
	LeaksOutside:       "it stands for something outside of the cluster",
}
