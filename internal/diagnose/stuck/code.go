package stuck

import (
	"github.com/kubectl-gc/kubectl-gc/internal/diagnose"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// The codes of the findings. Each names what has to move.
const (
	FinalizerRemoverGone    diagnose.Code = "FinalizerRemoverGone"
	FinalizerRemoverSlow    diagnose.Code = "FinalizerRemoverSlow"
	FinalizerRemoverUnknown diagnose.Code = "FinalizerRemoverUnknown"
	FinalizerRemoverAlive   diagnose.Code = "FinalizerRemoverAlive"
	StillInUse              diagnose.Code = "StillInUse"
	SelfBlock               diagnose.Code = "SelfBlock"
	WaitingCycle            diagnose.Code = "WaitingCycle"
	LiveDependentBlocks     diagnose.Code = "LiveDependentBlocks"
	OrphaningStuck          diagnose.Code = "OrphaningStuck"
	DeletionForgotten       diagnose.Code = "DeletionForgotten"
	CollectorNotWorking     diagnose.Code = "CollectorNotWorking"
	ControllerNotWorking    diagnose.Code = "ControllerNotWorking"
	APIServiceUnavailable   diagnose.Code = "APIServiceUnavailable"
	WebhookUnreachable      diagnose.Code = "WebhookUnreachable"
	NamespaceDeletionFails  diagnose.Code = "NamespaceDeletionFails"
	DefinitionCleanupFails  diagnose.Code = "DefinitionCleanupFails"
	KindNotServed           diagnose.Code = "KindNotServed"
	NodeGone                diagnose.Code = "NodeGone"
	NodeNotReady            diagnose.Code = "NodeNotReady"
	PodNotFinished          diagnose.Code = "PodNotFinished"
	GracePeriod             diagnose.Code = "GracePeriod"
	EndNotSeen              diagnose.Code = "EndNotSeen"
	UnderWay                diagnose.Code = "UnderWay"
)

// Codes lists the codes with their severity and one sentence each. An
// error does not go away by itself.
func Codes() []diagnose.CodeText {
	return []diagnose.CodeText{
		{Code: FinalizerRemoverGone, Severity: reason.Error, Text: "A finalizer holds the object, and nobody who could remove it runs: all of them were looked for in what was completely read."},
		{Code: FinalizerRemoverSlow, Severity: reason.Warning, Text: "A finalizer holds the object; one who removes it is there and does not get it done."},
		{Code: FinalizerRemoverUnknown, Severity: reason.Warning, Text: "A finalizer holds the object, and whether anybody removes it is not known."},
		{Code: FinalizerRemoverAlive, Severity: reason.Info, Text: "A finalizer holds the object, and one who removes it is at work."},
		{Code: StillInUse, Severity: reason.Error, Text: "A claim or volume is protected because a pod uses it or a claim has it, and that stays."},
		{Code: SelfBlock, Severity: reason.Error, Text: "The object is being deleted in the foreground and blocks itself with its own owner reference: nothing ever frees it."},
		{Code: WaitingCycle, Severity: reason.Error, Text: "Objects that are all being deleted in the foreground wait for one another: nothing ever frees them."},
		{Code: LiveDependentBlocks, Severity: reason.Error, Text: "The object is being deleted in the foreground, and a blocking dependent stays that the collector does not delete."},
		{Code: OrphaningStuck, Severity: reason.Error, Text: "The Orphan policy cannot finish because a dependent cannot be patched."},
		{Code: DeletionForgotten, Severity: reason.Error, Text: "The collector has missed this deletion: it will not look again until it restarts."},
		{Code: CollectorNotWorking, Severity: reason.Error, Text: "Nothing holds the object but the collector, which has not done its part for minutes."},
		{Code: ControllerNotWorking, Severity: reason.Error, Text: "Nothing holds the object but a controller of Kubernetes, which has not done its part for minutes."},
		{Code: APIServiceUnavailable, Severity: reason.Error, Text: "An aggregated API does not answer: no namespace can be emptied as long as discovery fails."},
		{Code: WebhookUnreachable, Severity: reason.Error, Text: "A webhook that has to be asked has no endpoints: every request that needs it fails."},
		{Code: NamespaceDeletionFails, Severity: reason.Error, Text: "The namespace controller says that it cannot discover or delete the content of the namespace."},
		{Code: DefinitionCleanupFails, Severity: reason.Error, Text: "The API server says that it cannot delete the instances of the definition."},
		{Code: KindNotServed, Severity: reason.Error, Text: "The kind of the object is not served: no request reaches it, not even one that removes a finalizer."},
		{Code: NodeGone, Severity: reason.Error, Text: "The node of the pod does not exist: no kubelet ends the pod."},
		{Code: NodeNotReady, Severity: reason.Error, Text: "The node of the pod is not ready: its kubelet does not end the pod."},
		{Code: PodNotFinished, Severity: reason.Warning, Text: "The grace period of the pod is over, its node is not known to be broken, and the kubelet has not ended it."},
		{Code: GracePeriod, Severity: reason.Info, Text: "The grace period of the pod runs."},
		{Code: EndNotSeen, Severity: reason.Warning, Text: "What the object waits for was not seen."},
		{Code: UnderWay, Severity: reason.Info, Text: "Nothing holds the object that does not go by itself."},
	}
}

func severityOf(code diagnose.Code) reason.Severity { return diagnose.SeverityOf(Codes(), code) }
