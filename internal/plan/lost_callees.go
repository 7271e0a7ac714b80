package plan

import (
	"cmp"
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reach"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// lostCallees follows what answers the API server during a simulation, because a delete may take it before
// the rest:
//
//	delete ns/hooks: pod/hook goes first
//	delete cm/cfg:   the API server asks svc/hook, which has no pod any more, and refuses
//
// Upstream: pkg/controller/namespace/deletion/namespaced_resources_deleter.go deleteAllContent: pods go first,
// and content goes only while discovery succeeds.
type lostCallees struct {
	health  *health.Assessment
	callees []followedCallee
	// stopped are the pods whose containers have stopped when a kubelet deletes one of them: that pod, and under a
	// schedule in which pods stop together all that are being deleted.
	stopped  []types.UID
	together bool
	lost     bool // any
}

type followedCallee struct {
	health.Callee
	// left are the pods that still answer.
	left []types.UID
	// gone is empty while the callee answers.
	gone reason.Code
	// unneeded is true once the API server no longer calls it.
	unneeded bool
}

func newLostCallees(assessment *health.Assessment) lostCallees {
	l := lostCallees{health: assessment}
	if assessment == nil {
		return l
	}
	for _, b := range assessment.Callees() {
		left := object.Mapped(b.Pods, func(pod *object.Object) types.UID { return pod.UID })
		l.callees = append(l.callees, followedCallee{Callee: b, left: left})
	}
	return l
}

// any reports whether a write may be refused because of a lost callee.
func (l *lostCallees) any() bool { return l.lost || len(l.stopped) > 0 }

// refuses returns why a write fails; false if all webhooks that it needs still answer.
func (l *lostCallees) refuses(w health.Write) (health.Refusal, bool) {
	var perhaps *health.Refusal
	for i := range l.callees {
		b := &l.callees[i]
		why := b.gone
		if why == "" && len(b.left) > 0 && !slices.ContainsFunc(b.left, func(pod types.UID) bool { return !slices.Contains(l.stopped, pod) }) {
			why = reason.NoEndpoints
		}
		if why == "" || b.Webhook == nil || b.unneeded {
			continue
		}
		takes, sure := l.health.MustAdmit(b.Webhook, w)
		if !takes {
			continue
		}
		one := health.Refusal{Webhook: b.Webhook, Why: health.Unreachable{Reason: why, Service: b.Service}, Sure: sure && (b.Whole || why == reason.ServiceAbsent)}
		if one.Sure {
			return one, true
		}
		perhaps = &one
	}
	if perhaps == nil {
		return health.Refusal{}, false
	}
	return *perhaps, true
}

// stoppedPods returns the pods that nothing replaces and that have stopped when a kubelet is about to delete one
// of them. nil for any other delete.
func (r *recorder) stoppedPods(ref object.Ref) (stopped []types.UID) {
	if r.actor != controllers.KubeletName || len(r.lostCallees.callees) == 0 || !ref.Is(object.Pod) {
		return nil
	}
	add := func(ref object.Ref, only bool) {
		if pod, err := r.server.Get(context.Background(), ref); err == nil && (!only || pod.BeingDeleted()) && !r.isReplaced(pod) {
			stopped = append(stopped, pod.UID)
		}
	}
	add(ref, false)
	for i := range r.lostCallees.callees {
		for _, pod := range r.lostCallees.callees[i].Pods {
			if r.lostCallees.together {
				add(pod.Ref, true)
			}
		}
	}
	return stopped
}

// followCallees takes an event of the simulated server.
func (r *recorder) followCallees(e object.Event) {
	l := &r.lostCallees
	if e.Type != object.Deleted || len(l.callees) == 0 {
		return
	}
	for i := range l.callees {
		b := &l.callees[i]
		switch at := slices.Index(b.left, e.Object.UID); {
		case e.Object.Coordinates() == b.Caller.Coordinates():
			b.unneeded = true
		case e.Object.UID == b.Service.UID:
			b.gone = reason.ServiceAbsent
		case at >= 0 && !r.isReplaced(e.Object):
			if b.left = slices.Delete(b.left, at, at+1); len(b.left) == 0 {
				b.gone = cmp.Or(b.gone, reason.NoEndpoints)
			}
		}
		l.lost = l.lost || b.gone != ""
	}
	if r.simHealth.Assessment != nil {
		r.simHealth.LostAPIs = l.apis()
	}
}

// apis returns the versions of the aggregated APIs that are lost.
func (l *lostCallees) apis() (list []object.Undiscovered) {
	for i := range l.callees {
		if b := &l.callees[i]; b.API != nil && b.gone != "" && !b.unneeded {
			list = append(list, object.Undiscovered{
				APIVersion: object.Resource{Group: b.API.Group, Version: b.API.Version}.APIVersion(),
				Why:        "APIService " + b.API.Name + " does not answer: " + health.Unreachable{Reason: b.gone, Service: b.Service}.Text(),
			})
		}
	}
	return list
}

// isReplaced reports whether a controller creates a pod again.
func (r *recorder) isReplaced(pod *object.Object) bool {
	ctx := context.Background()
	if ns, err := r.server.Get(ctx, object.Namespace.Ref("", pod.Namespace)); err == nil && ns.BeingDeleted() {
		return false
	}
	ref, ok := pod.Controller()
	if !ok {
		return false
	}
	owner, err := r.server.Get(ctx, ref.In(pod.Namespace))
	return err == nil && owner.UID == ref.UID && !owner.BeingDeleted()
}

// mayLoseCallee reports whether a region has a Service or a pod that the API server calls. Which writes come before
// its end depends on timing.
func (s *simulation) mayLoseCallee(in *reach.Region) bool {
	return slices.ContainsFunc(s.recorder.lostCallees.callees, func(b followedCallee) bool {
		service := s.snap.ObjectAt(b.Service.Coordinates())
		return service != nil && in.Has(service) || slices.ContainsFunc(b.Pods, in.Has)
	})
}
