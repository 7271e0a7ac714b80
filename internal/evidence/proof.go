package evidence

import (
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

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
	PartNotRead       ProofReason = "NotRead"
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
		{PartNotRead, "A part of the evidence was not read: nothing in it counts as absent."},
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

// Proofs are what was seen, and what was not, in the order of its weight.
type Proofs []report.Proof

// Add adds what was seen, unless it says nothing or is there already.
func (p *Proofs) Add(reason ProofReason, about *report.Ref, message string) {
	if message == "" {
		return
	}
	one := report.Proof{Reason: string(reason), Object: about, Message: Clip(message)}
	same := func(q report.Proof) bool { return q.Reason == one.Reason && q.Message == one.Message }
	if !slices.ContainsFunc(*p, same) {
		*p = append(*p, one)
	}
}

// Clip brings foreign text onto one line, and cuts what nobody would read to its end.
func Clip(text string) string {
	const most = 400
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
