package controllers

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/release"
)

// The names of who deletes what belongs to a Service without referring to it.
const (
	EndpointsName = "endpoints-controller"
	AllocatorName = "ipallocator"
)

// What the ends of these objects rest on.
const (
	endpointsAssumption = "the Endpoints controller runs"
	allocatorAssumption = "the API server releases the IPs of deleted Services"
)

// The label of addresses that API servers give to Services.
const (
	addressManager   = "ipaddress.kubernetes.io/managed-by"
	addressAllocator = "ipallocator.k8s.io"
)

// EndpointsOfServices returns who deletes the Endpoints of the name of a Service which goes,
// whoever made them: their controller, and by the rules of an older release the API server
// before it.
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

// AddressesOfServices returns the part of the API server that deletes the IPAddresses of
// a Service which goes. One of which it is not known who has it stays.
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

// follower deletes objects of one resource when their leader has gone before its eyes.
type follower struct {
	name, assumption string
	gr, leader       schema.GroupResource
	// of is the leader of an object; empty for none.
	of func(*object.Object) coordinates
	// there are the leaders of the last pass, gone those that were there before.
	there, gone map[coordinates]bool
}

func (f *follower) Name() string       { return f.name }
func (f *follower) Assumption() string { return f.assumption }
func (*follower) Waiting() []Wait      { return nil }

// Step deletes what belongs to the leaders that have gone.
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
			// A refusal ends nothing: the object stays, as its leader would have it.
			_ = w.Delete(ctx, o.Ref, metav1.DeleteOptions{})
		}
	}
	var waits []Wait
	return p.end(&waits)
}

// look notes which leaders have gone since the last pass. One that is there again
// keeps what belongs to it.
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
