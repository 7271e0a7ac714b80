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
		{SelfBlock, report.Error, "The object is being deleted in the foreground and blocks itself with its own owner reference: nothing ever frees it. (Q1)"},
		{WaitingCycle, report.Error, "Objects that are all being deleted in the foreground wait for one another: nothing ever frees them. (Q2)"},
		{LiveDependentBlocks, report.Error, "The object is being deleted in the foreground, and a blocking dependent stays that the collector does not delete. (Q3, Q4)"},
		{OrphaningStuck, report.Error, "The Orphan policy cannot finish because a dependent cannot be patched. (Q23)"},
		{DeletionForgotten, report.Error, "The collector has missed this deletion: it will not look again until it restarts. (Q20)"},
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

// ProofReason is a kind of proof. Reasons are API; docs/reasons.md lists them.
type ProofReason string

// The reasons of proofs.
const (
	WrittenBy         ProofReason = "WrittenBy"
	WrittenByTool     ProofReason = "WrittenByTool"
	WriterNotShown    ProofReason = "WriterNotShown"
	RemovedBy         ProofReason = "RemovedBy"
	RemoverRuns       ProofReason = "RemoverRuns"
	RemoverNotReady   ProofReason = "RemoverNotReady"
	RemoverMayNot     ProofReason = "RemoverMayNot"
	RemoverAbsent     ProofReason = "RemoverAbsent"
	ScaledToZero      ProofReason = "ScaledToZero"
	RunsWithAllRights ProofReason = "RunsWithAllRights"
	MayFromOutside    ProofReason = "MayFromOutside"
	RunsOutside       ProofReason = "RunsOutside"
	RightsNotTold     ProofReason = "RightsNotTold"
	LeaseRenewed      ProofReason = "LeaseRenewed"
	LeaseExpired      ProofReason = "LeaseExpired"
	LeaseNotFound     ProofReason = "LeaseNotFound"
	NotRead           ProofReason = "NotRead"
	TakesLong         ProofReason = "TakesLong"
	ConditionSays     ProofReason = "ConditionSays"
	DiscoveryWorks    ProofReason = "DiscoveryWorks"
	EventSays         ProofReason = "EventSays"
	NoEndpoints       ProofReason = "NoEndpoints"
	ServiceAbsent     ProofReason = "ServiceAbsent"
	SimulationSays    ProofReason = "SimulationSays"
	NodeSays          ProofReason = "NodeSays"
	StaticPod         ProofReason = "StaticPod"
)

// ProofText is one documented reason of a proof.
type ProofText struct {
	Reason ProofReason
	Text   string
}

// ProofReasons lists the reasons of proofs with one sentence each.
func ProofReasons() []ProofText {
	return []ProofText{
		{WrittenBy, "managedFields name the program that wrote the finalizer."},
		{WrittenByTool, "managedFields name a tool of people as the writer of the finalizer: who removes it does not follow from that."},
		{WriterNotShown, "managedFields of the object were not seen, or do not own the finalizer."},
		{RemovedBy, "The table of finalizers says who removes it, and when."},
		{RemoverRuns, "A pod runs under a service account that may write the object."},
		{RemoverNotReady, "Such a pod is there, and is not ready."},
		{RemoverMayNot, "A program of that name runs, and its service account may not write the object."},
		{RemoverAbsent, "No pod runs under a service account that may write the object."},
		{ScaledToZero, "A workload under such an account is scaled to 0."},
		{RunsWithAllRights, "A pod runs under a service account that may write everything, this object included: it may be the remover or not."},
		{MayFromOutside, "A user or group may write the object: a program outside of the cluster may run as it."},
		{RunsOutside, "The remover belongs to the provider of the cluster and may run where no pod shows it."},
		{RightsNotTold, "The roles that an API server with RBAC makes are not there: rights may be given in another way."},
		{LeaseRenewed, "A lease that belongs to the remover was renewed in time."},
		{LeaseExpired, "A lease that belongs to the remover has expired."},
		{LeaseNotFound, "There is no lease that belongs to the remover: it may work without one."},
		{NotRead, "A part of the evidence was not read: nothing in it counts as absent."},
		{TakesLong, "The deletion has lasted long. That alone never means that nobody is at work."},
		{ConditionSays, "A condition of the object's status."},
		{DiscoveryWorks, "Discovery failed when the condition was written, and does not fail any more."},
		{EventSays, "A warning event about the object."},
		{NoEndpoints, "The service has no endpoint that is ready."},
		{ServiceAbsent, "The service does not exist."},
		{SimulationSays, "What the simulated collector makes of the object."},
		{NodeSays, "What is known of the node."},
		{StaticPod, "The pod mirrors a static pod: its kubelet makes it anew."},
	}
}
