package object

import (
	"slices"
)

// ServiceCIDR returns nil unless the object is a ServiceCIDR and the dump has its spec.
func (o *Object) ServiceCIDR() *ServiceCIDRFacts {
	f, _ := o.lifecycle().Facts.(*ServiceCIDRFacts)
	return f
}

// ServiceCIDRFacts are the fields that the deletion of a ServiceCIDR depends on (spec §7.1).
type ServiceCIDRFacts struct {
	// CIDRs are spec.cidrs, unparsed.
	CIDRs []string `json:"cidrs,omitempty"`
}

func (c *ServiceCIDRFacts) store(s *StoredFacts) { s.ServiceCIDR = c }

// Share does nothing: there is nothing to share.
func (c *ServiceCIDRFacts) Share(func(string) string) {}

func (c *ServiceCIDRFacts) equal(x Facts) bool {
	y, ok := x.(*ServiceCIDRFacts)
	return ok && slices.Equal(c.CIDRs, y.CIDRs)
}

// IPAddress returns nil unless the object is an IPAddress and the dump has its spec.
func (o *Object) IPAddress() *IPAddressFacts {
	f, _ := o.lifecycle().Facts.(*IPAddressFacts)
	return f
}

// IPAddressFacts are spec.parentRef of an IPAddress: the object that it is deleted with.
type IPAddressFacts struct {
	Group     string `json:"g,omitzero"`
	Resource  string `json:"r,omitzero"`
	Namespace string `json:"s,omitzero"`
	Name      string `json:"n,omitzero"`
}

func (a *IPAddressFacts) store(s *StoredFacts) { s.IPAddress = a }

// Share replaces strings that repeat over many objects by text(s), for interning.
func (a *IPAddressFacts) Share(text func(string) string) {
	a.Group, a.Resource, a.Namespace = text(a.Group), text(a.Resource), text(a.Namespace)
}

func (a *IPAddressFacts) equal(x Facts) bool {
	y, ok := x.(*IPAddressFacts)
	return ok && *a == *y
}
