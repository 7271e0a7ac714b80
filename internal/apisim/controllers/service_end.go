package controllers

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/release"
)

// The names of the controllers that delete objects of a Service without an owner reference.
const (
	EndpointsName = "endpoints-controller"
	AllocatorName = "ipallocator"
)

// The assumptions that must hold for the deletion of these objects.
const (
	endpointsAssumption = "the Endpoints controller runs"
	allocatorAssumption = "the API server releases the IPs of deleted Services"
)

// The label of addresses that API servers allocate to Services.
const (
	addressManager   = "ipaddress.kubernetes.io/managed-by"
	addressAllocator = "ipallocator.k8s.io"
)

// EndpointsOfServices returns the controller that deletes the Endpoints with the name of a deleted
// Service, whatever created them. In older releases the API server does it first.
//
// Upstream: pkg/controller/endpoint/endpoints_controller.go syncService.
func EndpointsOfServices(r release.Rules) Controller {
	name, assumption := EndpointsName, endpointsAssumption
	if !r.Follow(release.EndpointsByController) {
		name, assumption = serverName, serverRuns
	}
	return &follower{name: name, assumption: assumption, gr: object.Endpoints.GroupResource(), leader: object.Service.GroupResource(), of: func(o *object.Object) coordinates {
		return coordinates{o.Namespace, o.Name}
	}}
}

// AddressesOfServices returns the part of the API server that deletes the IPAddresses of a deleted
// Service. An address of an unknown Service stays.
//
// Upstream: pkg/registry/core/service/storage/storage.go afterDelete.
// Upstream: pkg/registry/core/service/storage/alloc.go releaseAllocatedResources.
// Upstream: pkg/registry/core/service/ipallocator/ipallocator.go Allocator.release.
func AddressesOfServices() Controller {
	return &follower{name: AllocatorName, assumption: allocatorAssumption, gr: object.IPAddress.GroupResource(), leader: object.Service.GroupResource(), of: func(o *object.Object) coordinates {
		a := o.IPAddress()
		if a == nil || a.Group != "" || a.Resource != object.Service.Plural || o.Labels.Get(addressManager) != addressAllocator {
			return coordinates{}
		}
		return coordinates{a.Namespace, a.Name}
	}}
}

// follower deletes objects of one resource when their leader disappears during the simulation.
type follower struct {
	name, assumption string
	gr, leader       schema.GroupResource
	// of returns the leader of an object, zero if it has none.
	of func(*object.Object) coordinates
	// there are the leaders of the last pass, gone those that disappeared.
	there, gone map[coordinates]bool
}

func (f *follower) Name() string       { return f.name }
func (f *follower) Assumption() string { return f.assumption }
func (*follower) Waiting() []Wait      { return nil }

// Step deletes the objects of the leaders that are gone.
func (f *follower) Step(ctx context.Context, w World) (bool, error) {
	p := begin(ctx, w, f.name)
	if numberOf(w, f.leader) != len(f.there) {
		f.look(w.ObjectsOf(f.leader, ""))
	}
	if len(f.gone) > 0 {
		for _, o := range objectsThat(w, f.gr, func(o *object.Object) bool { return f.gone[f.of(o)] && !o.BeingDeleted() }) {
			if ctx.Err() != nil {
				break
			}
			// A refusal is no wait: the object stays as if it still had its leader.
			_ = w.Delete(ctx, o.Ref, metav1.DeleteOptions{})
		}
	}
	var waits []Wait
	return p.end(&waits)
}

// look records the leaders that disappeared since the last pass. A leader that exists again keeps
// its objects.
func (f *follower) look(leaders []*object.Object) {
	there := make(map[coordinates]bool, len(leaders))
	for _, o := range leaders {
		at := coordinates{o.Namespace, o.Name}
		there[at] = true
		delete(f.gone, at)
	}
	for at := range f.there {
		if !there[at] {
			if f.gone == nil {
				f.gone = map[coordinates]bool{}
			}
			f.gone[at] = true
		}
	}
	f.there = there
}
