package object

import "k8s.io/apimachinery/pkg/types"

// ImplicitOwner names an object that another one is deleted with although it has no owner reference
// to it. UID is empty if the dependent does not show it.
type ImplicitOwner struct {
	Kind            Kind
	Namespace, Name string
	UID             types.UID
}

// Ref returns the reference to the owner.
func (i ImplicitOwner) Ref() Ref {
	ref := i.Kind.Ref(i.Namespace, i.Name)
	ref.UID = i.UID
	return ref
}

// The labels that say who maintains an object.
const (
	sliceManager   = "endpointslice.kubernetes.io/managed-by"
	addressManager = "ipaddress.kubernetes.io/managed-by"
	autoManaged    = "kube-aggregator.kubernetes.io/automanaged"
)

// ImplicitOwner returns the claim of a volume, the ServiceAccount of a Secret that is or may be its
// token, the Endpoints of a slice that mirrors them, and the Service of Endpoints or of an address.
// An address is deleted with it only while IsServiceAddress holds. APIServices can have several
// owners: see RegisteredForCRDs.
//
// Upstream: pkg/controller/volume/persistentvolume/pv_controller.go syncVolume.
// Upstream: pkg/controller/serviceaccount/tokens_controller.go syncSecret.
// Upstream: pkg/controller/endpointslicemirroring/endpointslicemirroring_controller.go syncEndpoints.
// Upstream: pkg/controller/endpoint/endpoints_controller.go syncService.
// Upstream: pkg/registry/core/service/ipallocator/ipallocator.go Allocator.release.
func (o *Object) ImplicitOwner() (owner ImplicitOwner, ok bool) {
	switch {
	case o.Volume() != nil:
		v := o.Volume()
		return ImplicitOwner{PVC, v.ClaimNamespace, v.ClaimName, v.ClaimUID}, v.ClaimName != ""
	case o.Token() != nil:
		return ImplicitOwner{ServiceAccount, o.Namespace, o.Token().Account, o.Token().AccountUID}, true
	case o.Is(EndpointSlice) && o.Labels.Get(sliceManager) == "endpointslicemirroring-controller.k8s.io":
		name := o.Labels.Get("kubernetes.io/service-name")
		return ImplicitOwner{Kind: Endpoints, Namespace: o.Namespace, Name: name}, name != ""
	case o.Is(Endpoints):
		return ImplicitOwner{Kind: Service, Namespace: o.Namespace, Name: o.Name}, true
	case o.IPAddress() != nil:
		a := o.IPAddress()
		return ImplicitOwner{Kind: Service, Namespace: a.Namespace, Name: a.Name}, a.Group == "" && a.Resource == Service.Plural
	}
	return owner, false
}

// IsServiceAddress reports whether an object is an address that an API server allocated to a
// Service.
func (o *Object) IsServiceAddress() bool {
	return o.Is(IPAddress) && o.Labels.Get(addressManager) == "ipallocator.k8s.io"
}

// Aggregated reports whether another server than the API server may serve the API of an APIService.
func (o *Object) Aggregated() bool { return o.Is(APIService) && !o.Labels.Has(autoManaged) }

// RegisteredForCRDs reports whether an object is an APIService that is created and deleted along
// with the CRDs that serve its version.
func (o *Object) RegisteredForCRDs() bool {
	return o.Is(APIService) && o.Labels.Get(autoManaged) == "true"
}
