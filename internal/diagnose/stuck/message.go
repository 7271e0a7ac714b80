package stuck

import (
	"cmp"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// message returns the sentence about an end.
func (e *end) message() string {
	text := e.sentence()
	if len(e.chain) > 1 && e.chain[0].Ref != e.at && e.code != reason.StillInUse {
		text = "waits for " + e.at.FullName() + ": " + text
	}
	return text
}

func (e *end) sentence() string { return sentences[e.code](e) }

// sentences has the sentence for each code, as a function of the end.
var sentences = map[reason.Code]func(*end) string{
	reason.FinalizerControllerGone: func(e *end) string {
		return "finalizer " + e.finalizer + " holds it, and its controller is not running"
	},
	reason.FinalizerControllerSlow: func(e *end) string {
		return "finalizer " + e.finalizer + " holds it; its controller is running but does not remove it"
	},
	reason.FinalizerControllerUnknown: func(e *end) string {
		return "finalizer " + e.finalizer + " holds it; it is not known whether anything removes it"
	},
	reason.FinalizerControllerAlive: func(e *end) string { return "finalizer " + e.finalizer + " holds it; its controller is running" },
	reason.StillInUse: func(e *end) string {
		text := "in use by " + places(e.others)
		if len(e.others) == 0 {
			text = "in use: " + e.detail
		}
		if e.chain[0].Ref != e.at {
			text = "waits for " + e.at.FullName() + ", which is " + text
		}
		return text
	},
	reason.SelfBlock: func(*end) string { return "its own owner reference blocks it: this never ends by itself" },
	reason.WaitingCycle: func(e *end) string {
		return "waits in a cycle with " + places(e.others) + ": this never ends by itself"
	},
	reason.LiveDependentBlocks: func(*end) string { return "it blocks the owner, and the garbage collector does not delete it" },
	reason.OrphaningStuck: func(e *end) string {
		return "it cannot be orphaned: a dependent cannot be changed (" + places(e.others) + ")"
	},
	reason.DeletionForgotten: func(e *end) string {
		return "the garbage collector " + cmp.Or(e.detail, "has missed this deletion, and looks again only after a restart")
	},
	reason.CollectorNotWorking: func(e *end) string { return "only the garbage collector holds it, and " + standsStill(e) },
	reason.ControllerNotWorking: func(e *end) string {
		return "only " + cmp.Or(e.detail, "a controller of Kubernetes") + " holds it, and " + standsStill(e)
	},
	reason.ManagerNotSeen: func(*end) string {
		return "under way if kube-controller-manager runs, which is not known: it has no lease"
	},
	reason.APIServiceUnavailable:  func(*end) string { return "the aggregated API does not answer, and discovery fails without it" },
	reason.WebhookUnreachable:     func(e *end) string { return e.detail + " must be called, and does not answer" },
	reason.PolicyDenies:           func(e *end) string { return e.detail },
	reason.PolicyUnknown:          func(e *end) string { return e.detail },
	reason.NamespaceDeletionFails: func(e *end) string { return "its content cannot be discovered or deleted: " + e.detail },
	reason.CRDCleanupFails:        func(e *end) string { return "its instances cannot be deleted" + behind(e.detail) },
	reason.KindNotServed:          func(*end) string { return "its kind is not served: no request reaches it" },
	reason.NodeGone:               func(e *end) string { return "its node " + e.detail + " does not exist" },
	reason.NodeNotReady:           func(e *end) string { return "the kubelet of its node " + e.detail + " does not report" },
	reason.PodNotFinished:         func(e *end) string { return "the kubelet of node " + e.detail + " has not ended it" },
	reason.GracePeriod:            func(e *end) string { return "its grace period runs on node " + e.detail },
	reason.EndNotSeen:             func(e *end) string { return "what it waits for was not seen" + behind(e.detail) },
	reason.UnderWay:               func(e *end) string { return "under way" + behind(e.detail) },
}

// standsStill returns why a controller of Kubernetes does not continue a deletion.
func standsStill(e *end) string {
	if e.verdict == report.FinalizerControllerGone {
		return "kube-controller-manager does not run"
	}
	return "has not done its part for minutes"
}

func behind(detail string) string {
	if detail == "" {
		return ""
	}
	return ": " + detail
}

// places returns the names of the first few objects.
func places(refs []report.Ref) string {
	const most = 3
	names := make([]string, 0, most+1)
	for n, r := range refs {
		if n == most {
			names = append(names, "…")
			break
		}
		names = append(names, r.FullName())
	}
	return strings.Join(names, ", ")
}
