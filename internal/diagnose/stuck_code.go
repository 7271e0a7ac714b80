package diagnose

import "github.com/kubectl-gc/kubectl-gc/internal/report"

// The codes of Stuck. Each names what has to move.
const (
	FinalizerRemoverGone    Code = "FinalizerRemoverGone"
	FinalizerRemoverSlow    Code = "FinalizerRemoverSlow"
	FinalizerRemoverUnknown Code = "FinalizerRemoverUnknown"
	FinalizerRemoverAlive   Code = "FinalizerRemoverAlive"
	StillInUse              Code = "StillInUse"
	SelfBlock               Code = "SelfBlock"
	WaitingCycle            Code = "WaitingCycle"
	LiveDependentBlocks     Code = "LiveDependentBlocks"
	OrphaningStuck          Code = "OrphaningStuck"
	DeletionForgotten       Code = "DeletionForgotten"
	CollectorNotWorking     Code = "CollectorNotWorking"
	ControllerNotWorking    Code = "ControllerNotWorking"
	APIServiceUnavailable   Code = "APIServiceUnavailable"
	WebhookUnreachable      Code = "WebhookUnreachable"
	NamespaceDeletionFails  Code = "NamespaceDeletionFails"
	DefinitionCleanupFails  Code = "DefinitionCleanupFails"
	KindNotServed           Code = "KindNotServed"
	NodeGone                Code = "NodeGone"
	NodeNotReady            Code = "NodeNotReady"
	PodNotFinished          Code = "PodNotFinished"
	GracePeriod             Code = "GracePeriod"
	EndNotSeen              Code = "EndNotSeen"
	UnderWay                Code = "UnderWay"
)

// StuckCodes lists the codes of Stuck with their severity and one sentence each. An
// error does not go away by itself.
func StuckCodes() []CodeText {
	return []CodeText{
		{FinalizerRemoverGone, report.Error, "A finalizer holds the object, and nobody who could remove it runs: all of them were looked for in what was completely read."},
		{FinalizerRemoverSlow, report.Warning, "A finalizer holds the object; one who removes it is there and does not get it done."},
		{FinalizerRemoverUnknown, report.Warning, "A finalizer holds the object, and whether anybody removes it is not known."},
		{FinalizerRemoverAlive, report.Info, "A finalizer holds the object, and one who removes it is at work."},
		{StillInUse, report.Error, "A claim or volume is protected because a pod uses it or a claim has it, and that stays."},
		{SelfBlock, report.Error, "The object is being deleted in the foreground and blocks itself with its own owner reference: nothing ever frees it."},
		{WaitingCycle, report.Error, "Objects that are all being deleted in the foreground wait for one another: nothing ever frees them."},
		{LiveDependentBlocks, report.Error, "The object is being deleted in the foreground, and a blocking dependent stays that the collector does not delete."},
		{OrphaningStuck, report.Error, "The Orphan policy cannot finish because a dependent cannot be patched."},
		{DeletionForgotten, report.Error, "The collector has missed this deletion: it will not look again until it restarts."},
		{CollectorNotWorking, report.Error, "Nothing holds the object but the collector, which has not done its part for minutes."},
		{ControllerNotWorking, report.Error, "Nothing holds the object but a controller of Kubernetes, which has not done its part for minutes."},
		{APIServiceUnavailable, report.Error, "An aggregated API does not answer: no namespace can be emptied as long as discovery fails."},
		{WebhookUnreachable, report.Error, "A webhook that has to be asked has no endpoints: every request that needs it fails."},
		{NamespaceDeletionFails, report.Error, "The namespace controller says that it cannot discover or delete the content of the namespace."},
		{DefinitionCleanupFails, report.Error, "The API server says that it cannot delete the instances of the definition."},
		{KindNotServed, report.Error, "The kind of the object is not served: no request reaches it, not even one that removes a finalizer."},
		{NodeGone, report.Error, "The node of the pod does not exist: no kubelet ends the pod."},
		{NodeNotReady, report.Error, "The node of the pod is not ready: its kubelet does not end the pod."},
		{PodNotFinished, report.Warning, "The grace period of the pod is over, its node is not known to be broken, and the kubelet has not ended it."},
		{GracePeriod, report.Info, "The grace period of the pod runs."},
		{EndNotSeen, report.Warning, "What the object waits for was not seen."},
		{UnderWay, report.Info, "Nothing holds the object that does not go by itself."},
	}
}
