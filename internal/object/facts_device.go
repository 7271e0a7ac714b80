package object

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"
)

// ResourceClaim returns nil unless the object is a ResourceClaim and the dump has its status.
func (o *Object) ResourceClaim() *ResourceClaimFacts {
	f, _ := o.lifecycle().Facts.(*ResourceClaimFacts)
	return f
}

// ResourceClaimFacts are the fields that the deletion of a ResourceClaim depends on (spec §7.1).
type ResourceClaimFacts struct {
	// Reserved are status.reservedFor: the users of the claim.
	Reserved []Reservation `json:"for,omitempty"`
}

// Reservation is one user of a ResourceClaim, in its namespace.
type Reservation struct {
	Group    string    `json:"g,omitzero"`
	Resource string    `json:"r"`
	Name     string    `json:"n"`
	UID      types.UID `json:"u,omitzero"`
}

func (c *ResourceClaimFacts) store(s *StoredFacts) { s.ResourceClaim = c }

// Share replaces strings that repeat over many objects by text(s), for interning.
func (c *ResourceClaimFacts) Share(text func(string) string) {
	for i := range c.Reserved {
		r := &c.Reserved[i]
		r.Group, r.Resource = text(r.Group), text(r.Resource)
	}
}

func (c *ResourceClaimFacts) equal(x Facts) bool {
	y, ok := x.(*ResourceClaimFacts)
	return ok && slices.Equal(c.Reserved, y.Reserved)
}
