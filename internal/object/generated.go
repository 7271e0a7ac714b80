package object

import "slices"

// IsEvent reports whether an object is an Event, of either group that serves them.
func (r Ref) IsEvent() bool {
	group := r.Group()
	return r.Kind == "Event" && (group == "" || group == "events.k8s.io")
}

// generated are the kinds that Kubernetes makes for other objects, and makes anew.
var generated = []Kind{Endpoints, EndpointSlice, IPAddress, Lease, ControllerRevision}

// Generated reports whether an object is made by Kubernetes for others, by its kind or
// by a name that it always has. It goes with them, and nobody misses it.
func (r Ref) Generated() bool {
	switch {
	case r.Is(ConfigMap):
		return r.Name == "kube-root-ca.crt" || r.Name == "openshift-service-ca.crt"
	case r.Is(ServiceAccount):
		return r.Name == "default"
	default:
		return slices.ContainsFunc(generated, r.Is)
	}
}
