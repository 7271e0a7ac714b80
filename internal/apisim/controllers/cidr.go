package controllers

import (
	"context"
	"net/netip"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// cidrName names the controller that protects ServiceCIDRs.
const cidrName = "service-cidr-controller"

// cidrAssumption must hold for the deletion of a ServiceCIDR.
const cidrAssumption = "the ServiceCIDR controller runs, and no Service takes an address of the range in the ten seconds that it waits"

const cidrProtection = "networking.k8s.io/service-cidr-finalizer"

// ServiceCIDRs returns the controller that removes its finalizer from a ServiceCIDR that is being
// deleted. It does so once the other ServiceCIDRs contain all ranges, or all used addresses of
// them. The ten seconds that the real controller waits then are left out.
//
// The finalizer stays while the ranges, the other ServiceCIDRs or the addresses are unknown. The
// use of an address without a known Service becomes unknown once a Service is deleted. A nil
// coverage means that the snapshot is complete.
//
// Upstream: pkg/controller/servicecidrs/servicecidrs_controller.go canDeleteCIDR.
// Upstream: pkg/api/servicecidr/servicecidr.go PrefixContainsIP.
// Rule: spec §7.1, S241.
func ServiceCIDRs(c Coverage) Releaser { return &cidrs{coverage: orComplete(c), services: -1} }

type cidrs struct {
	coverage Coverage
	// services is the number of Services in the first pass that needs it; -1 before.
	services int
	waits    []Wait
}

func (*cidrs) Name() string       { return cidrName }
func (*cidrs) Finalizer() string  { return cidrProtection }
func (*cidrs) Assumption() string { return cidrAssumption }
func (c *cidrs) Waiting() []Wait  { return c.waits }

// Step releases the ServiceCIDRs with addresses that are not needed.
func (c *cidrs) Step(ctx context.Context, w World) (bool, error) {
	p := beginHolding(ctx, w, c)
	list := objectsThat(w, object.ServiceCIDR.GroupResource(), func(o *object.Object) bool { return o.HasFinalizer(cidrProtection) })
	if len(list) == 0 {
		return p.end(&c.waits)
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
	return p.end(&c.waits)
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
		if o.Labels.Get(addressManager) != addressAllocator {
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
