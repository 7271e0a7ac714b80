package diagnose

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/finalizer"
	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// overdue handles an overdue deletion: its controller could have continued long ago, or has tried and
// failed. It also returns what else the object waits for.
func (i *inquiry) overdue(o *object.Object, x *report.Effect, dependents []object.Ref) []end {
	e := endAt(o, reason.Code(x.Reason))
	e.prove(reason.SimulationSays, nil, x.Message)
	switch reason.Code(x.Reason) {
	case reason.PodNotFinished:
		return i.pod(o)
	case reason.CollectorNotWorking:
		i.proveEvents(o.Ref, &e)
		return []end{i.collectorBehind(o, e)}
	case reason.DeletionMissed:
		return []end{i.forgotten(o)}
	default: // a controller, or the API server, has not done its part
	}
	var ends []end
	switch {
	case o.Is(object.CRD):
		ends = i.definition(o)
	case o.Is(object.Namespace):
		i.remaining(o, &e)
		ends = i.namespace(o)
	}
	if len(ends) == 0 {
		i.proveEvents(o.Ref, &e)
		ends = []end{i.controllerBehind(o, e)}
	}
	ends = append(ends, i.tokens(o)...)
	return i.moving(ends, o, string(reason.ContentRemains), dependents)
}

// controllerBehind handles an object that only waits for a controller or the API server.
func (i *inquiry) controllerBehind(o *object.Object, e end) end {
	if o.Is(object.CRD) {
		e.code = reason.CRDCleanupFails
		if c, _ := health.Find(i.health.ConditionsOfDefinition(o.Name), "Terminating"); c.True() {
			e.prove(reason.ConditionSays, nil, c.Type+": "+c.Reason+": "+c.Message)
		}
		e.remedy(act(report.ShowConditions, o), "shows what the API server says of its instances", "")
	} else {
		e.code = reason.ControllerNotWorking
		e.verdict = i.manager(o, &e)
		e.detail = controllerOf(o)
		i.restart(&e, "restarts the controllers of Kubernetes, which then look at everything anew")
	}
	e.chain[0].Waits = string(e.code)
	return e
}

// controllerOf returns the controller of Kubernetes that an object waits for.
func controllerOf(o *object.Object) string {
	if o.Is(object.Namespace) {
		return "the namespace controller"
	}
	for _, name := range o.Finalizers() {
		if k, ok := finalizer.Of(name); ok {
			return k.RemovedBy
		}
	}
	return ""
}

// collectorBehind handles an object that only waits for the collector.
func (i *inquiry) collectorBehind(o *object.Object, e end) end {
	e.code = reason.CollectorNotWorking
	e.verdict = i.manager(o, &e)
	if e.verdict == report.FinalizerControllerAlive || e.verdict == report.FinalizerControllerSlow {
		e.code = reason.DeletionForgotten
	}
	i.restart(&e, "restarts the garbage collector, which then looks at everything anew")
	if o.HasFinalizer(object.Foreground) {
		i.redelete(o, &e, "ends the waiting without the garbage collector; what it owns stays until one works")
	}
	e.chain[0].Waits = string(e.code)
	return e
}

// restart adds the command that restarts kube-controller-manager, unless all pods of its namespace
// were read and none is one: a provider runs it, or it does not run in a pod.
func (i *inquiry) restart(e *end, effect string) {
	is := func(p health.Pod) bool {
		return p.Ref.Namespace == metav1.NamespaceSystem && (slices.Contains(p.Programs, manager) || slices.Contains(p.Names, manager))
	}
	if i.seen != nil && i.seen.CompletenessOf(health.Pods, metav1.NamespaceSystem).Whole && !slices.ContainsFunc(i.seen.Pods, is) {
		return
	}
	e.remedy(report.Act{Action: report.RestartControllers}, effect, "a pause of all controllers of Kubernetes for some seconds")
}

// manager is the name of the program and of its pods.
const manager = "kube-controller-manager"

// manager returns whether kube-controller-manager works, and adds the proofs.
func (i *inquiry) manager(o *object.Object, e *end) report.ControllerVerdict {
	found := i.health.Manager(o)
	for _, p := range found.Proof {
		e.prove(reason.Code(p.Reason), p.Object, p.Message)
	}
	return found.State
}
