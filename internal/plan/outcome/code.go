package outcome

import "github.com/kubectl-gc/kubectl-gc/internal/reason"

// Reason is why an object has the outcome it has, where the collector's own
// reasons do not say it. Reasons are API; docs/reasons.md lists them.
type Reason = reason.Code

// The reasons of effects beside those of the engine.
const (
	Requested          Reason = "Requested"
	RequestRefused     Reason = "RequestRefused"
	FinalizerRemains   Reason = "FinalizerRemains"
	BlockingDependents Reason = "BlockingDependents"
	WaitsForItself     Reason = "WaitsForItself"
	CycleOfWaiting     Reason = "CycleOfWaiting"
	OrphaningFails     Reason = "OrphaningFails"
	GracePeriodRuns    Reason = "GracePeriodRuns"
	ContentRemains     Reason = "ContentRemains"
	DiscoveryFails     Reason = "DiscoveryFails"
	ContentNotCovered  Reason = "ContentNotCovered"
	DependentUnknown   Reason = "DependentUnknown"
	OwnerUnknown       Reason = "OwnerUnknown"
	DeletionMissed     Reason = "DeletionMissed"
	SharedUID          Reason = "SharedUID"
	MissingUID         Reason = "MissingUID"
	InUse              Reason = "InUse"
	ProtectionUnknown  Reason = "ProtectionUnknown"
	LeftAlone          Reason = "LeftAlone"
	Released           Reason = "Released"
	DeletedByRest      Reason = "DeletedByController"
	Protected          Reason = "Protected"
	NotAskedFor        Reason = "NotAskedFor"
	FinalizerTaken     Reason = "FinalizerTaken"
	VolumeReclaimed    Reason = "VolumeReclaimed"
	VolumeRetained     Reason = "VolumeRetained"
	VolumeRecycled     Reason = "VolumeRecycled"
	VolumeUnknown      Reason = "VolumeUnknown"
	ReleasedLater      Reason = "FinalizerComesOff"
	UntilReleased      Reason = "UntilFinalizerComesOff"

	NodeNotReady          Reason = "NodeNotReady"
	NodeGone              Reason = "NodeGone"
	APIServiceUnavailable Reason = "APIServiceUnavailable"
	WebhookUnreachable    Reason = "WebhookUnreachable"
	ConversionFails       Reason = "ConversionFails"
	WebhookUnknown        Reason = "WebhookUnknown"
	AccountGone           Reason = "AccountGone"
	TokenUnknown          Reason = "TokenUnknown"
	ClaimLeft             Reason = "ClaimLeft"

	CollectorNotWorking    Reason = "CollectorNotWorking"
	ControllerNotWorking   Reason = "ControllerNotWorking"
	DefinitionCleanupFails Reason = "DefinitionCleanupFails"
	NamespaceDeletionFails Reason = "NamespaceDeletionFails"
	PodNotFinished         Reason = "PodNotFinished"
)
