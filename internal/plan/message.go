package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan/outcome"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// messenger writes the message of an effect.
type messenger struct {
	// knowsKindsOf reports whether all served kinds of the group of an API version are known, so that an
	// unknown kind is not served.
	knowsKindsOf func(apiVersion string) bool
	// collectorStopped is true if the collector is assumed to send no request.
	collectorStopped bool
	tracks           *outcome.Tracks
	words            *outcome.Words
}

func (m messenger) message(e *report.Effect, detail string) string {
	text := m.sentence(e)
	if detail != "" {
		text += ": " + detail
	}
	if b := e.BlockedBy; b != nil && len(b.Conditions) > 0 {
		text += "; condition " + strings.Join(b.Conditions, ", ")
	}
	return text + timingNote(e)
}

// timingNote returns what the end of a contested object depends on, and its other ends. Empty for
// other objects.
func timingNote(e *report.Effect) string {
	if !e.DependsOnTiming {
		return ""
	}
	text, also := "depends on timing", []string(nil)
	if len(e.Otherwise) > 0 && e.Otherwise[0].Because == report.Memory {
		text = "depends on what the garbage collector remembers: " + e.Otherwise[0].Remembered
	}
	for _, other := range e.Otherwise {
		if o := string(other.Outcome); other.Outcome != e.Outcome && !slices.Contains(also, o) {
			also = append(also, o)
		}
	}
	if len(also) > 0 {
		text += "; otherwise " + strings.Join(also, " or ")
	}
	return " (" + text + ")"
}

func (m messenger) sentence(e *report.Effect) string {
	if m.collectorStopped && e.Reason == string(reason.CollectorNotWorking) {
		if e.Outcome == report.Blocked {
			return "only the garbage collector holds it, and is not running"
		}
		return "stays: the garbage collector is not running"
	}
	switch e.Outcome {
	case report.Deleted:
		return m.deletedSentence(e)
	case report.Orphaned:
		return "stays; its reference to " + names(e.Because) + " is removed"
	case report.Pruned:
		return fmt.Sprintf("kept by %s; loses its reference to %s", names(e.Because), names(e.RemovedReferences))
	case report.Blocked:
		return blockedSentence(e)
	case report.Unknown:
		return m.unknownSentence(e)
	default:
		return keptSentence(e)
	}
}

func (m messenger) deletedSentence(e *report.Effect) string {
	switch {
	case e.Reason == string(reason.Requested):
		return "deleted as requested"
	case e.Reason == string(reason.FinalizerTaken):
		return "nothing else holds it"
	case e.Reason == string(reason.VolumeReclaimed):
		return "goes with its PVC " + names(e.Because) + ", and the storage behind it, too: its reclaim policy is Delete"
	case e.Reason == string(reason.Undeployed):
		return m.deployerOf(e) + " deletes it with " + names(e.Because)
	case e.Reason == string(reason.Unobstructed):
		return "is already being deleted, and goes on without " + names(e.Because)
	case e.Reason == string(reason.AccountGone) && slices.ContainsFunc(e.Because, m.isDeleted):
		return "a token of " + names(e.Because) + ", and goes with it"
	case e.Reason == string(reason.AccountGone):
		return "a token of " + names(e.Because) + ", which does not exist"
	case e.Reason == string(reason.DeletedByController) && len(e.Because) == 1 && e.Because[0].Kind == object.Node.Kind && e.Object.Kind == object.Pod.Kind:
		return "bound to " + names(e.Because) + ": pod GC deletes it 40 to 60 s after the node"
	case e.Reason == string(reason.DeletedByController) && len(e.Because) > 0:
		return "goes with " + names(e.Because)
	case e.Reason == string(reason.DeletedByController):
		return "deleted by a controller other than the garbage collector"
	case len(e.Because) > 0 && !slices.ContainsFunc(e.Because, m.isDeleted):
		if len(e.Because) > 1 {
			return "none of its owners exists: " + names(e.Because)
		}
		if elsewhere := m.tracks.Elsewhere(e.Object, e.Because); elsewhere != "" {
			return "its owner " + names(e.Because) + " does not exist there: its uid is that of " + elsewhere
		}
		return "its owner " + names(e.Because) + " does not exist"
	case len(e.Because) == 1:
		return "goes with its owner " + names(e.Because)
	case len(e.Because) > 1:
		return "goes with its owners " + names(e.Because)
	default:
		return "is already being deleted, and nothing holds it any longer"
	}
}

// deployerOf returns the name of the deployer that has deleted an object.
func (m messenger) deployerOf(e *report.Effect) string {
	if tr := m.tracks.Named(e.Object); tr != nil {
		if by := m.words.Text(cmp.Or(tr.MarkedBy, tr.RemovedBy)); by != outcome.ActorReleaser && by != "" {
			return by
		}
	}
	return "its deployer"
}

// isDeleted reports whether an owner existed at first and has been deleted or is being deleted.
func (m messenger) isDeleted(owner object.Ref) bool {
	tr := m.tracks.Meant(owner)
	return tr != nil && tr.First.Name == owner.Name && tr.First.Namespace == owner.Namespace &&
		(tr.Last == nil || tr.Last.BeingDeleted())
}

func keptSentence(e *report.Effect) string {
	switch {
	case e.Reason == string(reason.RequestRefused):
		return "the API server refuses to delete it"
	case e.Reason == string(reason.FinalizerTaken):
		return "loses the finalizer and stays: it is not being deleted"
	case e.Reason == string(reason.VolumeRetained):
		return "stays with its data: its PVC " + names(e.Because) + " goes, and its reclaim policy is Retain"
	case e.Reason == string(reason.TokenReferenceRemoved):
		return "stays; the tokens controller removes " + names(e.Because) + " from its secrets"
	case e.Reason == string(reason.RulesAggregated):
		return "stays; its rules are aggregated again because of " + names(e.Because)
	case e.Reason == string(reason.RulesUnknown):
		return "stays; its rules are aggregated again because of " + names(e.Because) + ", and ClusterRoles that were not seen may allow the same"
	case e.Reason == string(reason.PVCLeft):
		return "stays with its data: StatefulSets leave their PVCs, and " + names(e.Because) + " goes"
	case e.Reason == string(reason.VolumeRecycled):
		return "stays, and its data is erased: its PVC " + names(e.Because) + " goes, and its reclaim policy is Recycle"
	case e.Reason == string(reason.CollectorNotWorking):
		return "stays: kube-controller-manager is not running, so neither is the garbage collector"
	case e.Reason == string(reason.WebhookUnreachable), e.Reason == string(reason.ConversionFails), e.Reason == string(reason.PolicyDenies):
		return "stays: the API server refuses to change or delete it"
	case e.Reason == string(reason.Protected):
		return "garbage, but stays: it is protected"
	case e.Reason == string(reason.NotAskedFor):
		return "garbage, but stays: it is not in the requested namespaces"
	case e.Reason == string(reason.UnknownOwnerKind):
		return notServed(e)
	case e.Reason == string(reason.AbsenceNotProven):
		return "stays: it is not proven that its owner " + names(e.Because) + " is absent"
	case e.Reason == string(reason.OwnerRefInvalidNamespace):
		return "stays: it is cluster-scoped, and the garbage collector gives up on its namespaced owner " + names(e.Because)
	case len(e.Because) > 0:
		return "kept by " + names(e.Because)
	default:
		return "stays"
	}
}

func blockedSentence(e *report.Effect) string {
	b := e.BlockedBy
	switch reason.Code(e.Reason) {
	case reason.WaitsForItself:
		return "waits for itself: its own owner reference blocks it"
	case reason.CycleOfWaiting:
		return "waits in a cycle with " + names(b.Dependents)
	case reason.BlockingDependents:
		return "waits for " + names(b.Dependents)
	case reason.OrphaningFails:
		return "cannot be orphaned: a dependent cannot be patched (" + names(b.Dependents) + ")"
	case reason.GracePeriodRuns:
		if b.Node == "" {
			return "its grace period runs, and no kubelet is known to end it"
		}
		return "waits for the kubelet of node " + b.Node
	case reason.ContentRemains:
		if len(b.Dependents) == 0 {
			return "waits"
		}
		text := "waits for its content: " + names(b.Dependents)
		if len(b.Finalizers) > 0 {
			text += ", and for finalizer " + strings.Join(b.Finalizers, ", ")
		}
		return text
	case reason.DiscoveryFails:
		return "stays until the API server can name all resources, or the API that it cannot is removed"
	case reason.APIServiceUnavailable:
		return "stays until every aggregated API answers, or the one that does not is removed"
	case reason.WebhookUnreachable, reason.ConversionFails, reason.PolicyDenies:
		if len(b.Dependents) == 0 {
			return "stays: the API server refuses the requests that would release it"
		}
		return "waits for " + names(b.Dependents)
	case reason.NodeNotReady:
		return "waits for the kubelet of node " + b.Node + ", which does not report"
	case reason.NodeGone:
		return "its node " + b.Node + " does not exist"
	case reason.InUse:
		if len(b.Dependents) == 0 {
			return "held by finalizer " + strings.Join(b.Finalizers, ", ") + ": its status says that it is in use"
		}
		return "held by finalizer " + strings.Join(b.Finalizers, ", ") + ": in use by " + names(b.Dependents)
	case reason.LeftAlone:
		return "held by finalizer " + strings.Join(b.Finalizers, ", ")
	case reason.CollectorNotWorking:
		return "only the garbage collector holds it, and kube-controller-manager is not running"
	case reason.ControllerNotWorking:
		return "held only by a controller of kube-controller-manager, which is not running"
	case reason.DeletionMissed:
		return "held by " + strings.Join(b.Finalizers, ", ") + ", which the garbage collector does not examine again until it restarts"
	default:
		text := "held by " + finalizerHolders(b.Finalizers, e.Object.Kind)
		if len(b.Dependents) > 0 {
			text += "; waits for " + names(b.Dependents)
		}
		if b.Node != "" {
			text += "; waits for the kubelet of node " + b.Node
		}
		return text
	}
}

// finalizerHolders returns the text for finalizers of controllers that are not simulated. For a
// single finalizer, it adds the controller that removes it, and when it does.
func finalizerHolders(finalizers []string, kind string) string {
	if len(finalizers) > 1 {
		return "finalizers " + strings.Join(finalizers, ", ")
	}
	text := "finalizer " + finalizers[0]
	if by, when := RemovedBy(finalizers[0], kind); by != "" {
		return text + " until " + by + " removes it, " + when
	}
	return text
}

func notServed(e *report.Effect) string {
	return "the kind of its owner " + names(e.Because) + " is not served: the garbage collector keeps it and retries forever"
}

func (m messenger) unknownSentence(e *report.Effect) string {
	switch {
	case e.Reason == string(reason.UnknownOwnerKind) && len(e.Because) > 0 && m.knowsKindsOf(e.Because[0].APIVersion):
		return notServed(e)
	case e.Reason == string(reason.UnknownOwnerKind):
		return "unknown whether the kind of its owner " + names(e.Because) + " is served"
	case e.Reason == string(reason.LookupFailed):
		return "the garbage collector cannot look up its owner " + names(e.Because)
	case e.Reason == string(reason.DependentUnknown):
		return "goes only after " + names(e.BlockedBy.Dependents) + ", whose outcome is unknown"
	case e.Reason == string(reason.DependentsNotCovered):
		return "waits for its dependents, and not every kind that may have some was read"
	case e.Reason == string(reason.HolderNotShown):
		return "nothing that holds it is shown: its finalizers may have been cut out, or it is gone by now"
	case e.Reason == string(reason.OwnerUnknown):
		return "goes or stays with " + names(e.Because)
	case e.Reason == string(reason.MayBeOrphaned):
		return "goes with its owner " + names(e.Because) + ", unless the controller of that orphans it first"
	case e.Reason == string(reason.SharedUID) && m.waitsForSharedUID(e):
		return "waits for " + names(e.BlockedBy.Dependents) + ", whose uid several objects have: they cannot be told apart"
	case e.Reason == string(reason.SharedUID):
		return "several objects have its uid or that of an owner: they cannot be told apart"
	case e.Reason == string(reason.MissingUID) && len(e.Because) > 0:
		return "names " + names(e.Because) + " as its owner, but a uid is missing in the snapshot: it goes with that owner if it means this one"
	case e.Reason == string(reason.MissingUID):
		return "an owner has no uid in the snapshot, so whether it is the owner is unknown"
	case e.Reason == string(reason.ProtectionUnknown):
		return "unknown whether finalizer " + strings.Join(e.BlockedBy.Finalizers, ", ") + " is removed"
	case e.Reason == string(reason.VolumeUnknown):
		return "its outcome without its PVC " + names(e.Because) + " is unknown"
	case e.Reason == string(reason.PVCOwnerPending):
		return "goes with " + names(e.Because) + " by its retention policy, if the StatefulSet controller adds the missing owner reference before the delete"
	case e.Reason == string(reason.WebhookUnknown):
		return "unknown whether a webhook that does not answer must be asked"
	case e.Reason == string(reason.PolicyUnknown):
		return "unknown whether a policy or webhook refuses a request that its deletion needs"
	case e.Reason == string(reason.TokenUnknown):
		return "may be a token of " + names(e.Because) + ", and is then deleted with it"
	case e.Reason == string(reason.NodeUnknown):
		return "bound to " + names(e.Because) + ", and pod GC deletes it if that goes"
	case e.Reason == string(reason.ContentNotCovered):
		return "not all of its content is known"
	case e.Reason == string(reason.NamespaceOrderUnknown):
		return "may be deleted at once, whether or not the pods of its namespace are"
	case e.Reason == string(reason.UpdateUnknown):
		return "may stay as it is: its namespace is gone, and before v1.37 the API server refuses to update what is left of one"
	case e.Reason == string(reason.OwnerMisnamed):
		return "may be deleted because a reference names its owner " + names(e.Because) + " in a wrong place"
	case reason.Code(e.Reason).Overdue():
		return overdueSentence(e)
	case len(e.Because) > 0:
		return "unknown whether " + names(e.Because) + " exists"
	default:
		return "unknown"
	}
}

// waitsForSharedUID reports whether an object waits for a dependent that shares its UID with others,
// while its own UID and those of its owners are unique.
func (m messenger) waitsForSharedUID(e *report.Effect) bool {
	tr := m.tracks.Named(e.Object)
	return e.BlockedBy != nil && len(e.BlockedBy.Dependents) > 0 && tr != nil && !m.tracks.Ambiguous(tr)
}

// overdueSentence returns the message for an overdue deletion.
func overdueSentence(e *report.Effect) string {
	const late = ", and has not acted for minutes"
	switch reason.Code(e.Reason) {
	case reason.CollectorNotWorking, reason.DeletionMissed:
		if e.BlockedBy == nil {
			return "will be deleted once the garbage collector acts, which it has not done for minutes"
		}
		if e.Reason == string(reason.DeletionMissed) {
			return "only the garbage collector holds it, which runs" + late + ": it may have missed this deletion"
		}
		return "only the garbage collector holds it" + late
	case reason.ControllerNotWorking:
		return "held only by a controller of Kubernetes, which has not acted for minutes"
	case reason.PodNotFinished:
		return "its grace period has been over for minutes, and its kubelet has not ended it"
	case reason.NamespaceDeletionFails:
		return "the namespace controller cannot discover or delete its content"
	default:
		return "the API server does not get its instances deleted"
	}
}

// names lists the first few objects as kubectl names them, and counts the rest.
func names(refs []object.Ref) string {
	const most = 3
	var b strings.Builder
	for i, r := range refs {
		if i == most {
			fmt.Fprintf(&b, " and %d more", len(refs)-most)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(r.ShortName())
	}
	return b.String()
}
