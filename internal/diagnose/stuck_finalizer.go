package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/finalizer"
	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

const definitionCleanup = "customresourcecleanup.apiextensions.k8s.io"

// held returns the end for a third-party finalizer, with the state of its controller.
func (i *inquiry) held(o *object.Object, name string) end { return i.heldBy(o, name, false) }

// heldBy is held. elsewhere: the controller of Kubernetes leaves the finalizer to another one.
func (i *inquiry) heldBy(o *object.Object, name string, elsewhere bool) end {
	e := endAt(o, reason.FinalizerControllerUnknown)
	e.finalizer = name
	judge := i.health.Controller
	if elsewhere {
		judge = i.health.OtherController
	}
	found := judge(o, name)
	e.verdict, e.proof = found.State, found.Proof
	surely, perhaps := i.health.Webhooks(health.Write{Operation: health.Update, Object: o})
	if len(surely) > 0 {
		u, _ := i.health.Broken(&surely[0].Client)
		return i.behindFinalizer(i.admissionEnd(o, surely[0], u), e)
	}
	if d, why, _ := i.health.Conversion(o); d != nil {
		return i.behindFinalizer(i.conversionEnd(o, d, why), e)
	}
	denies, mayDeny := i.health.Denies(health.Write{Operation: health.Update, Object: o})
	if denies != nil {
		return i.behindFinalizer(i.policyEnd(o, denies), e)
	}
	if mayDeny != nil {
		binding := mayDeny.Binding
		e.prove(reason.PolicySays, &binding, mayDeny.Text())
		if e.verdict == report.FinalizerControllerAlive {
			e.verdict = report.FinalizerControllerUnknown
		}
	}
	for _, h := range perhaps {
		if u, broken := i.health.Broken(&h.Client); broken {
			e.prove(u.Reason, &u.Service, fmt.Sprintf("webhook %s may have to admit the removal: %s", h.Name, u.Text()))
		}
	}
	e.code = codeOf(e.verdict)
	paused := i.health.PauseOf(o, nil, name)
	if paused.Why != "" && e.verdict != report.FinalizerControllerGone {
		e.code, e.detail = reason.FinalizerControllerPaused, paused.Why
		if paused.MayEnd {
			e.code = reason.FinalizerControllerUnknown
		}
		if paused.By != "" || paused.On.Name == "" { // otherwise On says it
			e.prove(reason.ControllerPaused, &o.Ref, paused.Why)
		}
	}
	e.chain[0].Waits = string(e.code)
	i.proveInventory(o, &e)
	i.proveConditions(o, &e)
	i.proveEvents(o.Ref, &e)
	if e.detail != "" {
		i.resume(o, paused, &e)
	} else {
		i.wake(o, found, &e)
	}
	return e
}

// proveInventory adds what a deployer deletes before it removes a finalizer, and still exists.
func (i *inquiry) proveInventory(o *object.Object, e *end) {
	if finalizer.DeployerOf(o.Ref, e.finalizer) == nil {
		return
	}
	list := finalizer.NewInventories(i.snap).DeletedWith(o)
	if len(list) == 0 {
		return
	}
	const most = 3
	known, _ := finalizer.Of(e.finalizer)
	e.prove(reason.InventorySays, &list[0].Ref, known.RemovedBy+" first deletes "+report.FirstNames(object.Mapped(list, func(o *object.Object) string { return o.FullName() }), most))
}

func codeOf(v report.ControllerVerdict) reason.Code {
	switch v {
	case report.FinalizerControllerAlive:
		return reason.FinalizerControllerAlive
	case report.FinalizerControllerSlow:
		return reason.FinalizerControllerSlow
	case report.FinalizerControllerGone:
		return reason.FinalizerControllerGone
	default:
		return reason.FinalizerControllerUnknown
	}
}

// behindFinalizer returns an end that blocks the removal of a finalizer, whatever its controller
// does.
func (i *inquiry) behindFinalizer(e, held end) end {
	e.finalizer, e.verdict = held.finalizer, held.verdict
	e.chain[0].Waits = string(codeOf(held.verdict))
	e.proof = append(e.proof, held.proof...)
	return e
}

// deletionWords appear in the types of conditions about a deletion, such as DeletionIsBlocked of
// Rook, DeletionError of Argo CD and Deleting of Cluster API. failureWords appear in the types of
// conditions that are bad if true.
var (
	deletionWords = []string{"delet", "terminat", "finaliz", "cleanup", "teardown", "destroy"}
	failureWords  = []string{"block", "error", "fail", "stalled", "degraded", "unhealthy", "conflict", "invalid", "paused", "suspended", "unreachable", "stuck"}
)

// proveConditions adds what the controller of an object reports in its conditions.
func (i *inquiry) proveConditions(o *object.Object, e *end) {
	t := i.health.Shown(o)
	if t == nil || o.Is(object.Namespace) {
		return // the conditions of a namespace name failures: False is good
	}
	const most = 3
	list := slices.DeleteFunc(slices.Clone(t.Conditions), func(c health.Condition) bool { return conditionWeight(c) == 0 })
	slices.SortStableFunc(list, func(a, b health.Condition) int {
		return cmp.Or(cmp.Compare(conditionWeight(b), conditionWeight(a)), cmp.Compare(b.Since, a.Since))
	})
	for _, c := range list[:min(len(list), most)] {
		e.prove(reason.ConditionSays, nil, conditionText(c))
	}
	if len(list) == 0 && t.Says != "" {
		e.prove(reason.ConditionSays, nil, "its status says: "+t.Says)
	}
}

// conditionWeight returns how much a condition explains why an object stays: 4 for a failed deletion, 3 for
// another condition about deletion, 2 for another failure, 1 for a good condition that is not True,
// such as Ready, 0 for nothing.
func conditionWeight(c health.Condition) int {
	typ := strings.ToLower(c.Type)
	has := func(words []string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(typ, w) })
	}
	isBad, holds := has(failureWords), c.Status != "False"
	switch {
	case c.Message == "" && (c.Reason == "" || !holds):
		return 0
	case has(deletionWords) && holds && isBad:
		return 4
	case has(deletionWords) && holds:
		return 3
	case isBad && holds:
		return 2
	case !isBad && !has(deletionWords) && c.Status != "True" && c.Status != "":
		return 1
	}
	return 0
}

// conditionText formats a condition. Those of Argo CD have no status.
func conditionText(c health.Condition) string {
	text := c.Type
	if c.Status != "" {
		text += " is " + c.Status
	}
	for _, more := range []string{c.Reason, c.Message} {
		if more != "" {
			text += ": " + more
		}
	}
	return text
}
