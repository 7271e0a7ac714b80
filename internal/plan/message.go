package plan

import (
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// message is one sentence about an effect.
func message(e *report.Effect, detail string) string {
	text := sentence(e)
	if detail != "" {
		text += ": " + detail
	}
	if e.Contested {
		text += " (depends on timing)"
	}
	return text
}

func sentence(e *report.Effect) string {
	switch e.Outcome {
	case report.Deleted:
		return deletedSentence(e)
	case report.Orphaned:
		return "stays; its reference to " + names(e.Because) + " is removed"
	case report.Pruned:
		return fmt.Sprintf("stays because of %s; its reference to %s is removed", names(e.Because), names(e.RemovedReferences))
	case report.Blocked:
		return blockedSentence(e)
	case report.Unknown:
		return unknownSentence(e)
	default:
		return keptSentence(e)
	}
}

func deletedSentence(e *report.Effect) string {
	switch {
	case e.Reason == string(Requested):
		return "deleted as requested"
	case e.Reason == string(AlreadyGone):
		return "was garbage already: gone before the request"
	case e.Reason == string(DeletedByRest):
		return "deleted with the namespace or definition it belongs to"
	case len(e.Because) == 1:
		return "goes with its owner " + names(e.Because)
	case len(e.Because) > 1:
		return "goes with its owners " + names(e.Because)
	default:
		return "was being deleted already, and nothing holds it any more"
	}
}

func keptSentence(e *report.Effect) string {
	switch {
	case e.Reason == string(RequestRefused):
		return "the API server refuses to delete it"
	case len(e.Because) > 0:
		return "stays because of " + names(e.Because)
	case e.Reason == "OwnerRefInvalidNamespace":
		return "stays: a cluster-scoped object cannot have a namespaced owner, the collector gives up on it"
	default:
		return "stays"
	}
}

func blockedSentence(e *report.Effect) string {
	b := e.BlockedBy
	switch Reason(e.Reason) {
	case WaitsForItself:
		return "waits for itself: its own owner reference blocks it"
	case CycleOfWaiting:
		return "waits in a circle with " + names(b.Dependents)
	case BlockingDependents:
		return "waits for " + names(b.Dependents)
	case OrphaningFails:
		return "cannot be orphaned: a dependent cannot be patched"
	case GracePeriodRuns:
		return fmt.Sprintf("waits for the kubelet of node %q", b.Node)
	case ContentRemains:
		return "waits for its content to go"
	case DeletionMissed:
		return "held by " + strings.Join(b.Finalizers, ", ") + ", which the collector will not look at again until it restarts"
	default:
		text := "held by finalizer " + strings.Join(b.Finalizers, ", ")
		if len(b.Dependents) > 0 {
			text += "; waits for " + names(b.Dependents)
		}
		return text
	}
}

func unknownSentence(e *report.Effect) string {
	switch {
	case e.Reason == "UnknownOwnerKind":
		return "the kind of its owner " + names(e.Because) + " is not served: nothing can be said"
	case e.Reason == string(DependentUnknown):
		return "waits for " + names(e.BlockedBy.Dependents) + ", whose fate is unknown"
	case e.Reason == string(SharedUID):
		return "several objects claim the same uid: nothing can be said"
	case e.Reason == string(ContentNotCovered):
		return "not all of its content is in the snapshot"
	case len(e.Because) > 0:
		return "whether " + names(e.Because) + " exists is not in the snapshot"
	default:
		return "nothing can be said"
	}
}

// names lists objects as kubectl writes them, the first few by name.
func names(refs []report.Ref) string {
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
		b.WriteString(r.Kind)
		b.WriteByte('/')
		b.WriteString(r.Name)
	}
	return b.String()
}
