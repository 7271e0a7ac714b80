package stuck

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/evidence"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// retryText is the maximum time until the namespace controller retries after a failure.
//
// Upstream: pkg/controller/namespace/namespace_controller.go nsControllerRateLimiter, worker:
// retries whatever fails, discovery included.
const retryText = "60s"

// discoveryFailed handles a namespace with a discovery failure in its conditions, while no API is
// known to be down. A condition is of the last try. If discovery works now, the next try succeeds
// without help.
func (i *inquiry) discoveryFailed(o *object.Object, c evidence.Condition) end {
	if !i.around.DiscoveryWorks() {
		return i.failing(o, reason.NamespaceDeletionFails, c)
	}
	const retries = "at the next retry of the namespace controller"
	e := endAt(o, reason.UnderWay)
	manager := i.around.Manager(o)
	e.verdict, e.proof = manager.State, append(e.proof, manager.Proof...)
	e.prove(reason.ConditionSays, nil, c.Type+sinceText(c.Since)+": "+c.Message)
	e.prove(reason.DiscoveryWorks, nil, "every group is discovered now, and no aggregated API is known to be down")
	switch e.verdict {
	case report.FinalizerControllerAlive, report.FinalizerControllerSlow:
		e.detail = "it ends by itself, " + retries + ", within " + retryText + ": discovery, which failed before, works again"
		i.await(o, &e, "waits for it")
	case report.FinalizerControllerGone:
		e.code, e.detail = reason.ControllerNotWorking, "the namespace controller"
		i.restart(&e, "restarts the controllers of Kubernetes, which then look at everything anew")
	case report.FinalizerControllerUnknown:
		e.code = reason.EndNotSeen
		e.detail = "discovery works again, and the namespace controller tries again within " + retryText + " if it runs"
		i.await(o, &e, "waits for it: no controller retries")
	}
	e.chain[0].Waits = string(e.code)
	return e
}

// sinceText returns " since …" for a known time.
func sinceText(seconds int64) string {
	if seconds == 0 {
		return ""
	}
	return " since " + metav1.Unix(seconds, 0).UTC().Format("2006-01-02T15:04:05Z")
}
