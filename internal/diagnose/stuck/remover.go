package stuck

import (
	"github.com/kubectl-gc/kubectl-gc/internal/evidence"
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
	judge := i.around.Controller
	if elsewhere {
		judge = i.around.OtherController
	}
	found := judge(o, name)
	e.verdict, e.proof = found.State, found.Proof
	surely, perhaps := i.around.Webhooks(evidence.Update, o)
	if len(surely) > 0 {
		return i.refusedBy(o, e, surely[0])
	}
	if d, why := i.around.Conversion(o); d != nil {
		return i.unconverted(o, e, d, why)
	}
	denies, mayDeny := i.around.Denies(evidence.Write{Operation: evidence.Update, Object: o})
	if denies != nil {
		return i.behindFinalizer(i.policyEnd(o, denies), e)
	}
	if mayDeny != nil {
		binding := report.RefOf(mayDeny.Binding)
		e.prove(reason.PolicySays, &binding, mayDeny.Text())
		if e.verdict == report.FinalizerControllerAlive {
			e.verdict = report.FinalizerControllerUnknown
		}
	}
	for _, h := range perhaps {
		if u, broken := i.around.Broken(&h.Client); broken {
			e.prove(u.Reason, &u.Service, unansweredText(h, u))
		}
	}
	e.code = codeOf(e.verdict)
	e.chain[0].Waits = string(e.code)
	i.proveConditions(o, &e)
	i.proveEvents(o.Ref, &e)
	i.wake(o, found, &e)
	return e
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

// refusedBy handles a finalizer that cannot be removed before a webhook answers.
func (i *inquiry) refusedBy(o *object.Object, held end, h *evidence.Webhook) end {
	u, _ := i.around.Broken(&h.Client)
	return i.behindFinalizer(i.admissionEnd(o, h, u), held)
}

// behindFinalizer returns an end that blocks the removal of a finalizer, whatever its controller
// does.
func (i *inquiry) behindFinalizer(e, held end) end {
	e.finalizer, e.verdict = held.finalizer, held.verdict
	e.chain[0].Waits = string(codeOf(held.verdict))
	e.proof = append(e.proof, held.proof...)
	return e
}

func (i *inquiry) unconverted(o *object.Object, held end, d *evidence.Definition, why evidence.Unreachable) end {
	return i.behindFinalizer(i.conversionEnd(o, d, why), held)
}
