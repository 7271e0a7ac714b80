package engine

import "github.com/kubectl-gc/kubectl-gc/internal/reason"

// Reason says which rule decided; NoReason is no decision.
type Reason = reason.Code

// The reasons of the collector.
const (
	NoReason Reason = ""

	NoOwners                 = reason.NoOwners
	SolidOwner               = reason.SolidOwner
	DanglingReferences       = reason.DanglingReferences
	NoSolidOwner             = reason.NoSolidOwner
	WaitingOwner             = reason.WaitingOwner
	WaitingOwnerInCycle      = reason.WaitingOwnerInCycle
	NoBlockingDependents     = reason.NoBlockingDependents
	WaitingForDependents     = reason.WaitingForDependents
	BeingDeleted             = reason.BeingDeleted
	NotFound                 = reason.NotFound
	UIDMismatch              = reason.UIDMismatch
	OwnerRefInvalidNamespace = reason.OwnerRefInvalidNamespace
	UnknownOwnerKind         = reason.UnknownOwnerKind
	OwnerNotCovered          = reason.OwnerNotCovered
	ObjectNotCovered         = reason.ObjectNotCovered
	LookupFailed             = reason.LookupFailed
	OrphanDependents         = reason.OrphanDependents
	NotObserved              = reason.NotObserved
	AbsenceNotProven         = reason.AbsenceNotProven
	Contended                = reason.Contended
)
