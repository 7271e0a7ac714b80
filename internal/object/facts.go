package object

import (
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/types"
)

// Facts are the fields of a kind, besides metadata, that the deletion of its objects depends on.
// Their JSON is that of a stored snapshot.
type Facts interface{ store(*StoredFacts) }

// StoredFacts are the facts of an object in a file. At most one field is set.
type StoredFacts struct {
	Pod            *PodFacts            `json:"pod,omitzero"`
	Namespace      *NamespaceFacts      `json:"ns,omitzero"`
	CRD            *CRDFacts            `json:"crd,omitzero"`
	Job            *JobFacts            `json:"job,omitzero"`
	PV             *PVFacts             `json:"pv,omitzero"`
	ResourceClaim  *ResourceClaimFacts  `json:"rc,omitzero"`
	ServiceCIDR    *ServiceCIDRFacts    `json:"cidr,omitzero"`
	IPAddress      *IPAddressFacts      `json:"ip,omitzero"`
	Token          *Token               `json:"token,omitzero"`
	StatefulSet    *StatefulSetFacts    `json:"sts,omitzero"`
	ServiceAccount *ServiceAccountFacts `json:"sa,omitzero"`
	ClusterRole    *ClusterRoleFacts    `json:"role,omitzero"`
	Inventory      *InventoryFacts      `json:"inv,omitzero"`
	HelmRelease    *HelmReleaseFacts    `json:"helm,omitzero"`
	Outside        *OutsideFacts        `json:"out,omitzero"`
}

// StoredFactsOf returns the facts of an object as stored in a file.
func StoredFactsOf(o *Object) StoredFacts {
	var s StoredFacts
	if f := o.Facts(); f != nil {
		f.store(&s)
	}
	return s
}

// Facts returns the stored facts, nil if there are none.
func (s *StoredFacts) Facts() Facts {
	fields := reflect.ValueOf(s).Elem()
	for i := range fields.NumField() {
		if f := fields.Field(i); !f.IsNil() {
			return f.Interface().(Facts)
		}
	}
	return nil
}

// Facts returns the facts of the object; nil for a kind without facts, or if the dump lacks them.
func (o *Object) Facts() Facts { return o.lifecycle().Facts }

// factsAs returns the facts of the object if they are of the type.
func factsAs[T Facts](o *Object) T {
	f, _ := o.lifecycle().Facts.(T)
	return f
}

// NamespaceFacts returns nil unless the object is a Namespace.
func (o *Object) NamespaceFacts() *NamespaceFacts { return factsAs[*NamespaceFacts](o) }

// NamespaceToken is the namespace controller's entry in spec.finalizers, which every namespace has.
const NamespaceToken = "kubernetes"

// NamespaceTokens returns the spec.finalizers of a namespace. Unless they are known, the namespace
// controller is assumed not to have emptied it yet.
func (o *Object) NamespaceTokens() []string {
	if facts := o.NamespaceFacts(); facts != nil {
		return facts.Finalizers
	}
	return []string{NamespaceToken}
}

// OtherTokens returns the spec.finalizers of a namespace that other controllers remove, sorted; nil for other
// kinds.
func (o *Object) OtherTokens() []string {
	facts := o.NamespaceFacts()
	if facts == nil || len(facts.Finalizers) == 0 {
		return nil
	}
	others := slices.DeleteFunc(slices.Clone(facts.Finalizers), func(token string) bool { return token == NamespaceToken })
	slices.Sort(others)
	return slices.Compact(others)
}

// NamespaceFacts are the fields that the deletion of a namespace depends on.
type NamespaceFacts struct {
	Phase string `json:"phase,omitzero"`
	// Finalizers are spec.finalizers, not metadata.finalizers.
	Finalizers []string `json:"finalizers,omitempty"`
	// Outside are annotations that decide about the outside resources of its objects.
	Outside []FieldValue `json:"outside,omitempty"`
}

// OutsideValue returns the value of an annotation of Outside, and whether it is set.
func (n *NamespaceFacts) OutsideValue(key string) (value string, set bool) {
	return valueOf(n.Outside, key)
}

func (n *NamespaceFacts) store(s *StoredFacts) { s.Namespace = n }

// ServiceCIDR returns nil unless the object is a ServiceCIDR and the dump has its spec.
func (o *Object) ServiceCIDR() *ServiceCIDRFacts { return factsAs[*ServiceCIDRFacts](o) }

// ServiceCIDRFacts are the fields that the deletion of a ServiceCIDR depends on (spec §7.1).
type ServiceCIDRFacts struct {
	// CIDRs are spec.cidrs, unparsed.
	CIDRs []string `json:"cidrs,omitempty"`
}

func (c *ServiceCIDRFacts) store(s *StoredFacts) { s.ServiceCIDR = c }

// IPAddress returns nil unless the object is an IPAddress and the dump has its spec.
func (o *Object) IPAddress() *IPAddressFacts { return factsAs[*IPAddressFacts](o) }

// IPAddressFacts are spec.parentRef of an IPAddress: the object that it is deleted with.
type IPAddressFacts struct {
	Group     string `json:"g,omitzero"`
	Resource  string `json:"r,omitzero"`
	Namespace string `json:"s,omitzero"`
	Name      string `json:"n,omitzero"`
}

func (a *IPAddressFacts) store(s *StoredFacts) { s.IPAddress = a }

// ResourceClaim returns nil unless the object is a ResourceClaim and the dump has its status.
func (o *Object) ResourceClaim() *ResourceClaimFacts { return factsAs[*ResourceClaimFacts](o) }

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
