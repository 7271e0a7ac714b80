package object

import "slices"

// IsEvent reports whether an object is an Event, in either of its groups.
func (r Ref) IsEvent() bool {
	group := r.Group()
	return r.Kind == "Event" && (group == "" || group == "events.k8s.io")
}

// generated are the kinds that Kubernetes creates for other objects, and creates again when
// deleted.
var generated = []Kind{Endpoints, EndpointSlice, IPAddress, Lease, ControllerRevision}

// Generated reports whether Kubernetes creates the object for other objects, by its kind or its
// fixed name. It is deleted with them, without a loss.
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
