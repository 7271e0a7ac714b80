package plan

import "github.com/kubectl-gc/kubectl-gc/internal/reason"

// Reason is why an object has the outcome it has, where the collector's own
// reasons do not say it.
type Reason = reason.Code

// The reasons of effects beside those of the engine.
const (
	Requested              = reason.Requested
	RequestRefused         = reason.RequestRefused
	FinalizerRemains       = reason.FinalizerRemains
	BlockingDependents     = reason.BlockingDependents
	WaitsForItself         = reason.WaitsForItself
	CycleOfWaiting         = reason.CycleOfWaiting
	OrphaningFails         = reason.OrphaningFails
	GracePeriodRuns        = reason.GracePeriodRuns
	ContentRemains         = reason.ContentRemains
	DiscoveryFails         = reason.DiscoveryFails
	ContentNotCovered      = reason.ContentNotCovered
	DependentUnknown       = reason.DependentUnknown
	OwnerUnknown           = reason.OwnerUnknown
	DeletionMissed         = reason.DeletionMissed
	SharedUID              = reason.SharedUID
	MissingUID             = reason.MissingUID
	InUse                  = reason.InUse
	ProtectionUnknown      = reason.ProtectionUnknown
	LeftAlone              = reason.LeftAlone
	Released               = reason.Released
	DeletedByRest          = reason.DeletedByController
	Protected              = reason.Protected
	NotAskedFor            = reason.NotAskedFor
	FinalizerTaken         = reason.FinalizerTaken
	VolumeReclaimed        = reason.VolumeReclaimed
	VolumeRetained         = reason.VolumeRetained
	VolumeRecycled         = reason.VolumeRecycled
	VolumeUnknown          = reason.VolumeUnknown
	ReleasedLater          = reason.FinalizerComesOff
	UntilReleased          = reason.UntilFinalizerComesOff
	NodeNotReady           = reason.NodeNotReady
	NodeGone               = reason.NodeGone
	APIServiceUnavailable  = reason.APIServiceUnavailable
	WebhookUnreachable     = reason.WebhookUnreachable
	ConversionFails        = reason.ConversionFails
	WebhookUnknown         = reason.WebhookUnknown
	AccountGone            = reason.AccountGone
	TokenUnknown           = reason.TokenUnknown
	ClaimLeft              = reason.ClaimLeft
	CollectorNotWorking    = reason.CollectorNotWorking
	ControllerNotWorking   = reason.ControllerNotWorking
	DefinitionCleanupFails = reason.DefinitionCleanupFails
	NamespaceDeletionFails = reason.NamespaceDeletionFails
	PodNotFinished         = reason.PodNotFinished
)
