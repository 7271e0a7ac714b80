package object

import (
	"slices"
)

// ServiceCIDR is nil unless the object is a ServiceCIDR whose dump showed the spec.
func (o *Object) ServiceCIDR() *ServiceCIDRFacts {
	f, _ := o.lifecycle().Facts.(*ServiceCIDRFacts)
	return f
}

// ServiceCIDRFacts are what the deletion of a ServiceCIDR depends on (spec §7.1).
type ServiceCIDRFacts struct {
	// CIDRs are spec.cidrs as they are written.
	CIDRs []string `json:"cidrs,omitempty"`
}

func (c *ServiceCIDRFacts) store(s *StoredFacts) { s.ServiceCIDR = c }

// Share has nothing to share.
func (c *ServiceCIDRFacts) Share(func(string) string) {}

func (c *ServiceCIDRFacts) equal(x Facts) bool {
	y, ok := x.(*ServiceCIDRFacts)
	return ok && slices.Equal(c.CIDRs, y.CIDRs)
}

// IPAddress is nil unless the object is an IPAddress whose dump showed the spec.
func (o *Object) IPAddress() *IPAddressFacts {
	f, _ := o.lifecycle().Facts.(*IPAddressFacts)
	return f
}

// IPAddressFacts are with what an IPAddress goes: spec.parentRef.
type IPAddressFacts struct {
	Group     string `json:"g,omitzero"`
	Resource  string `json:"r,omitzero"`
	Namespace string `json:"s,omitzero"`
	Name      string `json:"n,omitzero"`
}

func (a *IPAddressFacts) store(s *StoredFacts) { s.IPAddress = a }

// Share replaces strings that repeat over many objects by what text returns for them.
func (a *IPAddressFacts) Share(text func(string) string) {
	a.Group, a.Resource, a.Namespace = text(a.Group), text(a.Resource), text(a.Namespace)
}

func (a *IPAddressFacts) equal(x Facts) bool {
	y, ok := x.(*IPAddressFacts)
	return ok && *a == *y
}
