package controllers

import "github.com/kubectl-gc/kubectl-gc/internal/object"

// MirroringName names the controller that mirrors Endpoints.
const MirroringName = "endpointslice-mirroring-controller"

// mirroringAssumption must hold for the deletion of a mirror.
const mirroringAssumption = "the controller that mirrors Endpoints in EndpointSlices runs"

// The label of an EndpointSlice that names its Service, and the manager of the slices that mirror
// Endpoints.
const (
	sliceService  = "kubernetes.io/service-name"
	sliceMirrored = "endpointslicemirroring-controller.k8s.io"
)

// MirroredSlices returns the controller that deletes the EndpointSlices that mirror deleted
// Endpoints, with or without an owner reference. Endpoints are deleted along with their Service.
//
// Upstream: pkg/controller/endpointslicemirroring/endpointslicemirroring_controller.go syncEndpoints,
// deleteMirroredSlices.
// Rule: S249.
func MirroredSlices() Controller {
	return &follower{
		name: MirroringName, assumption: mirroringAssumption, gr: object.EndpointSlice.GroupResource(), leader: object.Endpoints.GroupResource(),
		of: func(o *object.Object) coordinates {
			name, ok := Mirrors(o)
			if !ok {
				return coordinates{}
			}
			return coordinates{o.Namespace, name}
		},
	}
}

// Mirrors returns the name of the Endpoints that an EndpointSlice mirrors; false for every other
// object.
func Mirrors(o *object.Object) (name string, ok bool) {
	if !o.Is(object.EndpointSlice) || o.Labels.Get(sliceManager) != sliceMirrored {
		return "", false
	}
	name = o.Labels.Get(sliceService)
	return name, name != ""
}
