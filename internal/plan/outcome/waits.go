package outcome

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/release"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// wait is what a namespace, definition, pod, claim or volume waits for.
type wait struct {
	remaining []report.Ref
	detail    string
	// holds is the finalizer that stays because of it, if it is one of Kubernetes.
	holds string
	// conditions are those of a namespace. broken: discovery fails.
	conditions []string
	broken     bool
	// used: remaining has the users of the object. alone: the controller does not remove this
	// finalizer.
	used, alone bool
	// pod is why nothing ends a pod; empty for other waits.
	pod reason.Code
	// unknown: the obstacle may not exist. It is false if there is another one that does.
	unknown bool
}

// waits combines what the controllers wait for with an object. It returns false if they wait for
// nothing.
func (j *Judge) waits(ref object.Ref) (wait, bool) {
	var found wait
	var details, gaps []string
	waits := j.WaitsOf(ref)
	for _, x := range waits {
		found.broken = found.broken || x.Reason == controllers.DiscoveryFails
		found.unknown = found.unknown || x.Unknown()
		for _, r := range x.Remaining {
			found.remaining = append(found.remaining, report.RefOf(r))
		}
		found.holds = cmp.Or(found.holds, x.Holds)
		found.used = found.used || x.Reason == controllers.ClaimInUse || x.Reason == controllers.VolumeBound
		switch x.Reason {
		case controllers.NodeNotReady:
			found.pod = reason.NodeNotReady
		case controllers.NodeGone:
			found.pod = reason.NodeGone
		default:
		}
		found.alone = found.alone || x.Reason == controllers.ManagedElsewhere
		switch {
		case x.Unknown():
			gaps = append(gaps, waitText(x))
		case x.Reason == controllers.PodsRemain && !j.Snap.Version().Doubts(release.OrderedNamespaces):
			details = append(details, "pods go first, and while there are any its conditions say that all has been removed")
		case x.Reason == controllers.Refused || len(x.Remaining) == 0:
			details = append(details, waitText(x))
		}
	}
	if len(found.remaining) == 0 && !found.broken {
		details = append(details, gaps...)
	}
	const most = 4
	if len(details) > most {
		details = append(details[:most], fmt.Sprintf("and %d more", len(details)-most))
	}
	found.conditions = controllers.ConditionsOf(waits)
	found.unknown = found.unknown && len(found.remaining) == 0 && !found.broken
	found.detail = strings.Join(details, "; ")
	return found, len(waits) > 0
}

func waitText(w controllers.Wait) string {
	what := w.Resource.Name
	if w.Resource.Group != "" {
		what += "." + w.Resource.Group
	}
	switch {
	case w.Reason == controllers.TokensRemain:
		names := make([]string, len(w.Finalizers))
		for i, f := range w.Finalizers {
			names[i] = f.Name
		}
		return "spec.finalizers has " + strings.Join(names, ", ")
	case w.Reason == controllers.NotCovered && what != "":
		return strings.TrimSpace(what + ": " + PlainWhy(w.Why))
	case w.Why != "":
		return strings.TrimSpace(what + " " + w.Why)
	default:
		return strings.TrimSpace(what + " " + string(w.Reason))
	}
}

// assumption returns the assumption behind the steps of an actor. It returns false if no controller
// has that name.
func (j *Judge) assumption(actor string) (string, bool) {
	for _, c := range j.Controllers {
		if c.Name() == actor {
			return c.Assumption(), true
		}
	}
	return "", false
}
