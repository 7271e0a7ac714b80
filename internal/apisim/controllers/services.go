package controllers

import (
	"context"
	"net/netip"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/release"
)

// newServiceCleanup returns the part of the cloud controller manager that deletes the load balancer
// of a Service that is being deleted, and then removes the finalizer.
//
// A Service that was being deleted before the simulation keeps its finalizer: its load balancer
// takes long to delete, or cannot be deleted.
//
// Upstream: cloud-provider/controllers/service/controller.go syncLoadBalancerIfNeeded,
// removeFinalizer.
// Rule: spec §7.1, §7.3, S237.
func newServiceCleanup() Releaser {
	return &services{releasing: releasing{
		identity:  identity{name: "service-lb-controller", assumption: "the cloud controller manager runs and can take the load balancer down"},
		finalizer: "service.kubernetes.io/load-balancer-cleanup",
	}}
}

type services struct {
	releasing

	// late are the Services that were being deleted in the first pass; nil before it.
	late map[types.UID]bool
}

// Step releases the Services after the deletion of their load balancers.
func (s *services) Step(ctx context.Context, w World, send Send) (bool, error) {
	p := s.begin(ctx, w, send)
	first := s.late == nil
	if first {
		s.late = map[types.UID]bool{}
	}
	for _, o := range objectsThat(w, object.Service.GroupResource(), held(s.finalizer)) {
		switch {
		case ctx.Err() != nil:
			return p.end()
		case first:
			s.late[o.UID] = true
		case !s.late[o.UID]:
			p.release(o)
		}
	}
	return p.end()
}

// The names of the controllers that delete objects of a Service without an owner reference.
const (
	EndpointsName = "endpoints-controller"
	AllocatorName = "ipallocator"
)

// EndpointsOfServices returns the controller that deletes the Endpoints with the name of a deleted
// Service, whatever created them. In older releases the API server does it first.
//
// Upstream: pkg/controller/endpoint/endpoints_controller.go syncService.
func EndpointsOfServices(r release.Rules) Controller {
	name, assumption := EndpointsName, "the Endpoints controller runs"
	if !r.Follow(release.EndpointsByController) {
		name, assumption = serverName, serverRuns
	}
	return &follower{identity: identity{name: name, assumption: assumption}, gr: object.Endpoints.GroupResource(), leader: object.Service.GroupResource()}
}

// AddressesOfServices returns the part of the API server that deletes the IPAddresses of a deleted
// Service. An address of an unknown Service stays.
//
// Upstream: pkg/registry/core/service/storage/storage.go afterDelete.
// Upstream: pkg/registry/core/service/storage/alloc.go releaseAllocatedResources.
// Upstream: pkg/registry/core/service/ipallocator/ipallocator.go Allocator.release.
func AddressesOfServices() Controller {
	return &follower{identity: identity{name: AllocatorName, assumption: "the API server releases the IPs of deleted Services"}, gr: object.IPAddress.GroupResource(), leader: object.Service.GroupResource()}
}

// follower deletes objects of one resource when their leader disappears during the simulation.
type follower struct {
	identity

	gr, leader schema.GroupResource
	// there are the leaders of the last pass, gone those that disappeared.
	there, gone map[coordinates]bool
}

// Step deletes the objects of the leaders that are gone.
func (f *follower) Step(ctx context.Context, w World, send Send) (bool, error) {
	p := f.begin(ctx, w, send)
	if numberOf(w, f.leader) != len(f.there) { // nothing is created, so an equal number means no change
		f.look(w.ObjectsOf(f.leader, ""))
	}
	if len(f.gone) > 0 {
		for _, o := range objectsThat(w, f.gr, func(o *object.Object) bool {
			owner, ok := leaderOf(o)
			return ok && f.gone[coordinates{owner.Namespace, owner.Name}] && !o.BeingDeleted()
		}) {
			if ctx.Err() != nil {
				break
			}
			// A refusal is no wait: the object stays as if it still had its leader.
			_ = p.delete(o, metav1.DeleteOptions{})
		}
	}
	return p.end()
}

// leaderOf returns the object that o is deleted with. An address that no API server has allocated
// has none.
func leaderOf(o *object.Object) (object.ImplicitOwner, bool) {
	if o.Is(object.IPAddress) && !o.IsServiceAddress() {
		return object.ImplicitOwner{}, false
	}
	return o.ImplicitOwner()
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

// MirroringName names the controller that mirrors Endpoints.
const MirroringName = "endpointslice-mirroring-controller"

// MirroredSlices returns the controller that deletes the EndpointSlices that mirror deleted
// Endpoints, with or without an owner reference. Endpoints are deleted along with their Service.
//
// Upstream: pkg/controller/endpointslicemirroring/endpointslicemirroring_controller.go syncEndpoints,
// deleteMirroredSlices.
// Rule: S249.
func MirroredSlices() Controller {
	return &follower{
		identity: identity{name: MirroringName, assumption: "the controller that mirrors Endpoints in EndpointSlices runs"}, gr: object.EndpointSlice.GroupResource(), leader: object.Endpoints.GroupResource(),
	}
}

// ServiceCIDRs returns the controller that removes its finalizer from a ServiceCIDR that is being
// deleted. It does so once the other ServiceCIDRs contain all ranges, or all used addresses of
// them. The ten seconds that the real controller waits then are left out.
//
// The finalizer stays while the ranges, the other ServiceCIDRs or the addresses are unknown. The
// use of an address without a known Service becomes unknown once a Service is deleted.
//
// Upstream: pkg/controller/servicecidrs/servicecidrs_controller.go canDeleteCIDR.
// Upstream: pkg/api/servicecidr/servicecidr.go PrefixContainsIP.
// Rule: spec §7.1, S241.
func ServiceCIDRs(c Coverage) Releaser {
	return &cidrs{coverage: c, services: -1, releasing: releasing{
		identity:  identity{name: "service-cidr-controller", assumption: "the ServiceCIDR controller runs, and no Service takes an address of the range in the ten seconds that it waits"},
		finalizer: "networking.k8s.io/service-cidr-finalizer",
	}}
}

type cidrs struct {
	releasing

	coverage Coverage
	// services is the number of Services in the first pass that needs it; -1 before.
	services int
}

// Step releases the ServiceCIDRs with addresses that are not needed.
func (c *cidrs) Step(ctx context.Context, w World, send Send) (bool, error) {
	p := c.begin(ctx, w, send)
	list := objectsThat(w, object.ServiceCIDR.GroupResource(), func(o *object.Object) bool { return o.HasFinalizer(c.finalizer) })
	if len(list) == 0 {
		return p.end()
	}
	if c.services < 0 {
		c.services = numberOf(w, object.Service.GroupResource())
	}
	for _, o := range list {
		if ctx.Err() != nil {
			break
		}
		if o.BeingDeleted() && c.free(p, o) {
			p.release(o)
		}
	}
	return p.end()
}

// free reports whether no address needs the ServiceCIDR. Otherwise it records a wait.
func (c *cidrs) free(p *pass, o *object.Object) bool {
	own, known := prefixesOf(o)
	if !known {
		p.wait(Wait{Object: o.Ref, Reason: NotShown, Why: "its ranges are not in the snapshot"})
		return false
	}
	if p.uncovered(c.coverage, o.Ref, object.ServiceCIDR.Resource(), "") {
		return false
	}
	var others []netip.Prefix
	for _, x := range p.w.ObjectsOf(object.ServiceCIDR.GroupResource(), "") {
		ranges, shown := prefixesOf(x)
		if known = known && shown; x.UID != o.UID {
			others = append(others, ranges...)
		}
	}
	if !known {
		p.wait(Wait{Object: o.Ref, Reason: NotShown, Why: "the ranges of the others are not all in the snapshot"})
		return false
	}
	if !slices.ContainsFunc(own, func(r netip.Prefix) bool { return !within(r, others) }) {
		return true
	}
	if p.uncovered(c.coverage, o.Ref, object.IPAddress.Resource(), "") {
		return false
	}
	users := c.addresses(p.w, own, others)
	switch {
	case len(users) == 0:
		return true
	case slices.ContainsFunc(users, unclaimed) && numberOf(p.w, object.Service.GroupResource()) < c.services:
		p.wait(Wait{Object: o.Ref, Reason: NotShown, Why: "which addresses Services have given back is not in the snapshot"})
	default:
		p.wait(remaining(o.Ref, ClaimInUse, object.IPAddress.Resource(), users))
	}
	return false
}

// unclaimed reports whether the Service of an address is unknown.
func unclaimed(address *object.Object) bool { return address.IPAddress() == nil }

// within reports whether one of the ranges contains the range.
func within(r netip.Prefix, ranges []netip.Prefix) bool {
	return slices.ContainsFunc(ranges, func(x netip.Prefix) bool { return x.Overlaps(r) && x.Bits() <= r.Bits() })
}

// addresses returns the IPAddresses of Services that are in a range of own and in none of others.
func (c *cidrs) addresses(w World, own, others []netip.Prefix) []*object.Object {
	return objectsThat(w, object.IPAddress.GroupResource(), func(o *object.Object) bool {
		if !o.IsServiceAddress() {
			return false
		}
		at, err := netip.ParseAddr(o.Name)
		contains := func(r netip.Prefix) bool { return holds(r, at) }
		return err == nil && slices.ContainsFunc(own, contains) && !slices.ContainsFunc(others, contains)
	})
}

// holds reports whether a Service can have the address in the range. The first address is reserved,
// and so is the last one of IPv4.
func holds(r netip.Prefix, at netip.Addr) bool {
	if !r.Contains(at) || r.Masked().Addr() == at {
		return false
	}
	next := at.Next()
	return !at.Is4() || next.IsValid() && r.Contains(next)
}

// prefixesOf returns the ranges of a ServiceCIDR; false if they are unknown.
func prefixesOf(o *object.Object) ([]netip.Prefix, bool) {
	facts := o.ServiceCIDR()
	if facts == nil || len(facts.CIDRs) == 0 {
		return nil, false
	}
	var list []netip.Prefix
	for _, text := range facts.CIDRs {
		r, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, false
		}
		list = append(list, r)
	}
	return list, true
}
