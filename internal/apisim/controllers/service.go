package controllers

import (
	"context"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// serviceName names the controller that deletes load balancers.
const serviceName = "service-lb-controller"

// serviceAssumption must hold for the deletion of a Service with a load balancer.
const serviceAssumption = "the cloud controller manager runs and can take the load balancer down"

const serviceCleanup = "service.kubernetes.io/load-balancer-cleanup"

// newServiceCleanup returns the part of the cloud controller manager that deletes the load balancer
// of a Service that is being deleted, and then removes the finalizer.
//
// A Service that was being deleted before the simulation keeps its finalizer: its load balancer
// takes long to delete, or cannot be deleted.
//
// Upstream: cloud-provider/controllers/service/controller.go syncLoadBalancerIfNeeded,
// removeFinalizer.
// Rule: spec §7.1, §7.3, S237.
func newServiceCleanup() Releaser { return &services{} }

type services struct {
	// late are the Services that were being deleted in the first pass; nil before it.
	late  map[types.UID]bool
	waits []Wait
}

func (*services) Name() string       { return serviceName }
func (*services) Finalizer() string  { return serviceCleanup }
func (*services) Assumption() string { return serviceAssumption }
func (s *services) Waiting() []Wait  { return s.waits }

// Step releases the Services after the deletion of their load balancers.
func (s *services) Step(ctx context.Context, w World) (bool, error) {
	p := beginHolding(ctx, w, s)
	first := s.late == nil
	if first {
		s.late = map[types.UID]bool{}
	}
	for _, o := range objectsThat(w, object.Service.GroupResource(), held(serviceCleanup)) {
		switch {
		case ctx.Err() != nil:
			return p.end(&s.waits)
		case first:
			s.late[o.UID] = true
		case !s.late[o.UID]:
			p.release(o)
		}
	}
	return p.end(&s.waits)
}
