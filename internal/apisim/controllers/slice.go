package controllers

import "github.com/kubectl-gc/kubectl-gc/internal/object"

// MirroringName is the name of the controller that mirrors Endpoints.
const MirroringName = "endpointslice-mirroring-controller"

// mirroringAssumption is what the end of a mirror rests on.
const mirroringAssumption = "the controller that mirrors Endpoints in EndpointSlices runs"

// The label by which an EndpointSlice says of which Service it is, and who keeps those
// that mirror Endpoints.
const (
	sliceService  = "kubernetes.io/service-name"
	sliceMirrored = "endpointslicemirroring-controller.k8s.io"
)

// MirroredSlices returns the controller that deletes the EndpointSlices that mirror
// Endpoints when these go, whether or not they refer to them. A Service takes its
// Endpoints along.
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

// Mirrors is the name of the Endpoints that an object mirrors; false for anything but an
// EndpointSlice that does.
func Mirrors(o *object.Object) (name string, ok bool) {
	if !o.Is(object.EndpointSlice) || o.Labels.Get(sliceManager) != sliceMirrored {
		return "", false
	}
	name = o.Labels.Get(sliceService)
	return name, name != ""
}
