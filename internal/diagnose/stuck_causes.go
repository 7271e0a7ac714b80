package diagnose

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/finalizer"
	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// deadlock handles objects that the collector never releases.
func (i *inquiry) deadlock(o *object.Object, code reason.Code, others []object.Ref) end {
	e := endAt(o, code)
	e.others = others
	i.proveSimulation(o, &e)
	i.redelete(o, &e, "frees it: the garbage collector no longer waits, and takes what it owns afterwards")
	return e
}

// liveDependent handles a dependent that blocks a foreground deletion and stays.
func (i *inquiry) liveDependent(o *object.Object, d object.Ref) end {
	if x := i.effects[d]; x != nil && reason.Code(x.Reason).Overdue() {
		return i.overdue(o, x, nil)[0]
	}
	if x := i.effects[d]; x != nil && x.Outcome == report.Unknown && !i.neverJudged(d) {
		if dependent := i.at(d); dependent != nil {
			return i.notSeen(dependent, x)
		}
	}
	if dependent := i.at(d); dependent != nil && !dependent.BeingDeleted() && slices.Contains(refusals, i.reasonFor(d)) {
		if refused, ok := i.refusal(dependent, health.Remove); ok {
			return refused
		}
	}
	e := endAt(o, reason.LiveDependentBlocks)
	e.at, e.others = d, []object.Ref{d}
	e.chain = []report.WaitLink{{Ref: d, Waits: string(reason.LiveDependentBlocks)}}
	if x := i.effects[d]; x != nil {
		e.prove(reason.SimulationSays, &d, x.Message)
	}
	if s, ok := i.stuck[d]; ok {
		e.prove(reason.SimulationSays, &d, s.Message)
	}
	i.redelete(o, &e, "frees it; the dependent stays as it is")
	return e
}

// refusals are the reasons of the API server for refusing writes that would release an object.
var refusals = []reason.Code{reason.WebhookUnreachable, reason.ConversionFails, reason.PolicyDenies, reason.PolicyUnknown}

// reasonFor returns the reason of the simulated outcome of an object; empty if the simulation does not
// change the object.
func (i *inquiry) reasonFor(ref object.Ref) reason.Code {
	if e := i.effects[ref]; e != nil {
		return reason.Code(e.Reason)
	}
	return ""
}

func (i *inquiry) orphaning(o *object.Object, dependents []object.Ref) end {
	for _, ref := range dependents {
		if d := i.at(ref); d != nil {
			if refused, ok := i.refusal(d, health.Update); ok {
				return refused.behind(o, string(reason.OrphaningFails))
			}
		}
	}
	e := endAt(o, reason.OrphaningStuck)
	e.others = dependents
	if s, ok := i.stuck[o.Ref]; ok {
		e.prove(reason.SimulationSays, nil, s.Message)
	}
	i.proveSimulation(o, &e)
	if len(dependents) > 0 {
		e.chain = append(e.chain, report.WaitLink{Ref: dependents[0], Waits: string(reason.OrphaningStuck)})
		e.chain[0].Waits = string(reason.OrphaningFails)
		e.more = len(dependents) - 1
		e.remedy(report.Act{Action: report.Edit, Target: dependents[0]}, "repairs the metadata that makes the API server refuse changes to the dependent", "")
	}
	i.redelete(o, &e, "frees it, but its dependents are deleted and not orphaned")
	e.remedies[len(e.remedies)-1].Cost = "the dependents that were to be kept"
	return e
}

// forgotten handles a deletion that the collector has missed, or may have missed. If the simulation
// can't tell, only the elapsed time suggests it.
func (i *inquiry) forgotten(o *object.Object) end {
	e := endAt(o, reason.DeletionForgotten)
	if x := i.effects[o.Ref]; x != nil && x.Outcome == report.Unknown {
		e.detail = "has not acted for minutes: it may have missed this deletion, and examines it again only after a restart"
	}
	i.proveSimulation(o, &e)
	e.verdict = i.manager(o, &e)
	i.restart(&e, "restarts the garbage collector, which then looks at everything anew")
	i.redelete(o, &e, "ends the waiting; what it owns is collected afterwards")
	return e
}

func (i *inquiry) proveSimulation(o *object.Object, e *end) {
	if x := i.effects[o.Ref]; x != nil {
		e.prove(reason.SimulationSays, nil, x.Message)
	}
	i.proveEvents(o.Ref, e)
}

// redelete proposes a second delete. sureRemedies simulates it before it is shown.
func (i *inquiry) redelete(o *object.Object, e *end, effect string) {
	again := act(report.DeleteAgain, o)
	again.Policy, again.NoWait = secondPolicy.String(), true
	e.remedy(again, effect, "")
}

// secondPolicy is the policy of the second delete that redelete proposes.
const secondPolicy = engine.Background

// notServed handles an object that no request can reach.
func (i *inquiry) notServed(o *object.Object) end {
	e := endAt(o, reason.KindNotServed)
	if len(o.Finalizers()) > 0 {
		e.finalizer = o.Finalizers()[0]
	}
	e.prove(reason.SimulationSays, nil, fmt.Sprintf("nothing serves %s %s", o.APIVersion, o.Kind))
	e.remedy(report.Act{Action: report.ShowDefinitions}, "shows whether its CRD is there; a CRD that serves the version again makes the object reachable", "")
	return e
}

// tokens returns the ends for the entries of a namespace's spec.finalizers, except that of
// Kubernetes.
func (i *inquiry) tokens(o *object.Object) []end {
	var ends []end
	if facts := o.NamespaceFacts(); facts != nil && o.Is(object.Namespace) {
		for _, name := range facts.Finalizers {
			if name != finalizer.NamespaceToken {
				ends = append(ends, i.held(o, name))
			}
		}
	}
	return ends
}

// namespace returns the ends that the namespace's conditions and broken APIs show.
//
// Upstream: pkg/controller/namespace/deletion/status_condition_utils.go ProcessGroupVersionErr,
// ProcessDiscoverResourcesErr, ProcessContentTotals, makeDeleteContentCondition.
// Rule: spec §5.4.
func (i *inquiry) namespace(o *object.Object) []end {
	list := i.health.ConditionsOfNamespace(o.Name)
	var ends []end
	discovery, _ := health.Find(list, "NamespaceDeletionDiscoveryFailure")
	// The condition is of the last try. What the next try meets matters more.
	ends = append(ends, i.brokenAPIs(o, discovery)...)
	if discovery.True() && len(ends) == 0 {
		ends = append(ends, i.discoveryFailed(o, discovery))
	}
	if c, _ := health.Find(list, "NamespaceDeletionGroupVersionParsingFailure"); c.True() {
		ends = append(ends, i.failing(o, reason.NamespaceDeletionFails, c))
	}
	if c, _ := health.Find(list, "NamespaceDeletionContentFailure"); c.True() && !health.OnlyRemains(c.Message) {
		if broken := i.brokenWebhooks(o, c.Message); len(broken) > 0 {
			ends = append(ends, broken...)
		} else {
			ends = append(ends, i.failing(o, reason.NamespaceDeletionFails, c))
		}
	}
	return ends
}

// remaining adds the conditions of a namespace about its remaining content.
func (i *inquiry) remaining(o *object.Object, e *end) {
	list := i.health.ConditionsOfNamespace(o.Name)
	for _, typ := range []string{"NamespaceFinalizersRemaining", "NamespaceContentRemaining", "NamespaceDeletionContentFailure"} {
		if c, _ := health.Find(list, typ); c.True() {
			e.prove(reason.ConditionSays, nil, c.Type+": "+c.Message)
		}
	}
}

// failing returns an end that is known only from a condition.
func (i *inquiry) failing(o *object.Object, code reason.Code, c health.Condition) end {
	e := endAt(o, code)
	e.detail = health.Clip(c.Message)
	e.prove(reason.ConditionSays, nil, c.Type+": "+c.Message)
	for _, name := range health.UnansweredAPIs(c.Message) {
		api := report.Act{Action: report.Describe, Target: object.APIService.Ref("", name)}
		e.remedy(api, "shows why the API does not answer: repair or remove it, the deletion is tried again by itself", "")
	}
	if name := health.CalledWebhook(c.Message); name != "" {
		show := report.Act{Action: report.ShowKinds, Kinds: "validatingwebhookconfigurations,mutatingwebhookconfigurations"}
		e.remedy(show, "shows which of them has the webhook "+name+": repair what it calls or remove it, the deletion is tried again by itself", "")
	}
	if len(e.remedies) == 0 {
		e.remedy(act(report.ShowConditions, o), "shows what fails: repair that, the deletion is tried again by itself", "")
	}
	return e
}

// definition returns the ends that the conditions of a definition show.
//
// Upstream: apiextensions-apiserver/pkg/controller/finalizer/crd_finalizer.go CRDFinalizer.sync.
// Rule: spec §6.2.
func (i *inquiry) definition(o *object.Object) []end {
	if i.seen == nil {
		return nil
	}
	for n := range i.seen.Definitions {
		d := &i.seen.Definitions[n]
		if d.Ref.Name != o.Name {
			continue
		}
		c, _ := health.Find(d.Conditions, "Terminating")
		fails := c.True() && c.Reason == "InstanceDeletionFailed"
		if why, broken := i.health.Broken(d.Conversion); broken && (fails || i.health.Overdue(o)) {
			return []end{i.conversionEnd(o, d, why)}
		}
		if fails {
			return []end{i.failing(o, reason.CRDCleanupFails, c)}
		}
	}
	return nil
}

// underWay handles an object that only waits for controllers that are not blocked.
func (i *inquiry) underWay(o *object.Object) []end {
	if !o.BeingDeleted() {
		return nil // objects that wait for it report the missing delete
	}
	x := i.effects[o.Ref]
	if x != nil && x.Outcome == report.Blocked && x.Reason == string(reason.FinalizerRemains) && x.BlockedBy != nil {
		var ends []end // what used it goes, and leaves only its finalizers
		for _, name := range x.BlockedBy.Finalizers {
			ends = append(ends, i.held(o, name))
		}
		return ends
	}
	e := endAt(o, reason.UnderWay)
	if x != nil {
		e.detail = x.Message
		e.prove(reason.SimulationSays, nil, x.Message)
	}
	if o.Is(object.Namespace) {
		i.remaining(o, &e)
	}
	// Only a controller in kube-controller-manager can release such an object, which waits for nothing else.
	needsManager := o.Is(object.Namespace) || o.HandlesDependents() || o.Pod() != nil && i.health.OutOfService(o.Pod().NodeName) || slices.ContainsFunc(o.Finalizers(), health.OfManager)
	if needsManager && i.health.ManagerState() == report.FinalizerControllerUnknown {
		e.code = reason.ManagerNotSeen
		e.verdict = i.manager(o, &e)
		e.chain[0].Waits = string(e.code)
	}
	i.await(o, &e, "waits for it")
	return []end{e}
}

// retryText is the maximum time until the namespace controller retries after a failure.
//
// Upstream: pkg/controller/namespace/namespace_controller.go nsControllerRateLimiter, worker:
// retries whatever fails, discovery included.
const retryText = "60s"

// discoveryFailed handles a namespace with a discovery failure in its conditions, while no API is
// known to be down. A condition is of the last try. If discovery works now, the next try succeeds
// without help.
func (i *inquiry) discoveryFailed(o *object.Object, c health.Condition) end {
	if !i.health.DiscoveryWorks() {
		return i.failing(o, reason.NamespaceDeletionFails, c)
	}
	const retries = "at the next retry of the namespace controller"
	e := endAt(o, reason.UnderWay)
	manager := i.health.Manager(o)
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
