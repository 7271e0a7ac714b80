package plan

import "github.com/kubectl-gc/kubectl-gc/internal/plan/outcome"

// Reason is why an object has the outcome it has, where the collector's own
// reasons do not say it. Reasons are API; docs/reasons.md lists them.
type Reason = outcome.Reason

// The reasons of effects beside those of the engine.
const (
	Requested          = outcome.Requested
	RequestRefused     = outcome.RequestRefused
	FinalizerRemains   = outcome.FinalizerRemains
	BlockingDependents = outcome.BlockingDependents
	WaitsForItself     = outcome.WaitsForItself
	CycleOfWaiting     = outcome.CycleOfWaiting
	OrphaningFails     = outcome.OrphaningFails
	GracePeriodRuns    = outcome.GracePeriodRuns
	ContentRemains     = outcome.ContentRemains
	DiscoveryFails     = outcome.DiscoveryFails
	ContentNotCovered  = outcome.ContentNotCovered
	DependentUnknown   = outcome.DependentUnknown
	OwnerUnknown       = outcome.OwnerUnknown
	DeletionMissed     = outcome.DeletionMissed
	SharedUID          = outcome.SharedUID
	MissingUID         = outcome.MissingUID
	InUse              = outcome.InUse
	ProtectionUnknown  = outcome.ProtectionUnknown
	LeftAlone          = outcome.LeftAlone
	Released           = outcome.Released
	DeletedByRest      = outcome.DeletedByRest
	Protected          = outcome.Protected
	NotAskedFor        = outcome.NotAskedFor
	FinalizerTaken     = outcome.FinalizerTaken
	VolumeReclaimed    = outcome.VolumeReclaimed
	VolumeRetained     = outcome.VolumeRetained
	VolumeRecycled     = outcome.VolumeRecycled
	VolumeUnknown      = outcome.VolumeUnknown
	ReleasedLater      = outcome.ReleasedLater
	UntilReleased      = outcome.UntilReleased

	NodeNotReady          = outcome.NodeNotReady
	NodeGone              = outcome.NodeGone
	APIServiceUnavailable = outcome.APIServiceUnavailable
	WebhookUnreachable    = outcome.WebhookUnreachable
	ConversionFails       = outcome.ConversionFails
	WebhookUnknown        = outcome.WebhookUnknown
	AccountGone           = outcome.AccountGone
	TokenUnknown          = outcome.TokenUnknown
	ClaimLeft             = outcome.ClaimLeft

	CollectorNotWorking    = outcome.CollectorNotWorking
	ControllerNotWorking   = outcome.ControllerNotWorking
	DefinitionCleanupFails = outcome.DefinitionCleanupFails
	NamespaceDeletionFails = outcome.NamespaceDeletionFails
	PodNotFinished         = outcome.PodNotFinished
)

// ReasonText is one documented reason.
type ReasonText struct {
	Reason Reason
	Text   string
}

// Reasons lists the reasons of this package with one sentence each.
func Reasons() []ReasonText {
	return []ReasonText{
		{Requested, "The user asked for it."},
		{RequestRefused, "The API server refuses the request."},
		{FinalizerRemains, "A finalizer that the collector does not remove holds the object."},
		{BlockingDependents, "The object is being deleted in the foreground and a blocking dependent stays."},
		{WaitsForItself, "The object is being deleted in the foreground and blocks itself with its own owner reference: nothing ever frees it."},
		{CycleOfWaiting, "Objects that are all being deleted wait for one another: nothing ever frees them."},
		{OrphaningFails, "The Orphan policy cannot finish because a dependent cannot be patched."},
		{GracePeriodRuns, "The grace period of the pod runs, and nobody is known to finish it."},
		{ContentRemains, "The namespace or custom resource definition still has content."},
		{DiscoveryFails, "The API server cannot name the resources of an API version, so that the namespace cannot be shown to be empty."},
		{ContentNotCovered, "The snapshot does not show all of the content of the namespace or custom resource definition."},
		{DependentUnknown, "The object waits for a dependent whose own fate is unknown."},
		{OwnerUnknown, "Only an owner whose own fate is unknown decides about the object."},
		{DeletionMissed, "The collector has missed the start of this deletion and will not look again until it restarts."},
		{SharedUID, "Several objects claim the same uid, so that owners cannot be told apart."},
		{MissingUID, "The object has no uid in the snapshot, so that nothing can be said about who refers to it."},
		{InUse, "A finalizer of Kubernetes protects the object: a pod on a node uses the claim, a pod reserves the device, a claim has the volume, or Services have addresses of the range."},
		{ProtectionUnknown, "The snapshot does not show whether a finalizer of Kubernetes stays: who uses the claim or the volume, or who manages the Job."},
		{LeftAlone, "The object has a finalizer that the controller of Kubernetes which knows it does not remove from this object."},
		{Released, "A controller of Kubernetes takes off the finalizer with which it protects or counts the object."},
		{DeletedByRest, "A controller other than the collector deletes the object: the namespace's or the custom resource definition's content goes with it."},
		{Protected, "The object is garbage, and this program does not delete it: its kind, its name or an annotation protects it."},
		{NotAskedFor, "The object is garbage, and outside of the namespaces in which this program was told to collect."},
		{FinalizerTaken, "A finalizer is taken off on request."},
		{VolumeReclaimed, "The claim of the volume goes, and its reclaim policy is Delete: the volume goes, and the storage behind it."},
		{VolumeRetained, "The claim of the volume goes, and its reclaim policy is Retain: the volume stays with its data, and no claim gets it."},
		{VolumeRecycled, "The claim of the volume goes, and its reclaim policy is Recycle: the volume stays, and its data is erased."},
		{VolumeUnknown, "The claim of the volume goes or may go, and what then becomes of the volume is not known."},
		{ReleasedLater, "The controller of a finalizer takes it off."},
		{UntilReleased, "The object stays as long as a finalizer holds what it depends on."},
		{NodeNotReady, "The node of the pod is not ready: its kubelet does not end the pod."},
		{NodeGone, "The node of the pod does not exist, and pod GC has not removed the pod for minutes."},
		{APIServiceUnavailable, "An aggregated API does not answer: no namespace can be emptied as long as discovery fails."},
		{WebhookUnreachable, "A webhook has to admit a request without which the object stays, and it does not answer."},
		{ConversionFails, "The webhook that converts the versions of the object does not answer, so that every request that needs it fails."},
		{WebhookUnknown, "A webhook does not answer, and whether it has to be asked is not known."},
		{AccountGone, "The Secret is the token of a ServiceAccount that goes or does not exist: the tokens controller deletes it, whoever owns it."},
		{TokenUnknown, "The ServiceAccount that the Secret names goes or may go, and whether the Secret is a token and goes with it is not known."},
		{ClaimLeft, "The StatefulSet that has made the claim goes. StatefulSets leave their claims: it stays with its data, until somebody deletes it."},
		{CollectorNotWorking, "Only the garbage collector holds the object, and has not done its part for minutes."},
		{ControllerNotWorking, "Only a controller of Kubernetes holds the object, and has not done its part for minutes."},
		{DefinitionCleanupFails, "The API server says that it cannot delete the instances of the definition, or has not for minutes."},
		{NamespaceDeletionFails, "The namespace controller says that it cannot discover or delete the content of the namespace."},
		{PodNotFinished, "The grace period of the pod has been over for minutes, and the kubelet has not ended it."},
	}
}

// IsLate reports whether a reason says that somebody is late, or fails.
func IsLate(r Reason) bool { return outcome.IsLate(r) }
