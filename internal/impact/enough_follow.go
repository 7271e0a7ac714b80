package impact

import (
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// follows is why the end of an object that has no namespace hangs on others than those
// that own it, which may be anywhere; empty if it does not.
func follows(o *object.Object) string {
	switch {
	case o.Volume() != nil && o.Volume().ClaimName != "":
		return fmt.Sprintf("%s belongs to a claim in namespace %s", o.Ref, o.Volume().ClaimNamespace)
	case is(o, "networking.k8s.io", "IPAddress"):
		return fmt.Sprintf("%s goes with a Service, which may be in any namespace", o.Ref)
	case is(o, "networking.k8s.io", "ServiceCIDR"):
		return fmt.Sprintf("%s waits for the addresses of Services in all namespaces", o.Ref)
	case is(o, "apiregistration.k8s.io", "APIService"):
		return fmt.Sprintf("%s goes with definitions, at their end", o.Ref)
	}
	return ""
}

// beside are the objects of the namespace with which an object goes though it does not
// refer to them, or that go with it, or for which it waits: Endpoints go with the
// Service of their name, a token with its ServiceAccount, and a claim that is being
// deleted waits for pods.
func (p *OneNamespace) beside(o *object.Object) []*object.Object {
	var found []*object.Object
	add := func(kind string) {
		if x := p.snap.Find("v1", kind, o.Namespace, o.Name); x != nil {
			found = append(found, x)
		}
	}
	switch {
	case is(o, "", "Endpoints"):
		add("Service")
		for _, x := range p.snap.Objects {
			if x.Namespace == o.Namespace && mirrors(x) == o.Name {
				found = append(found, x)
			}
		}
	case mirrors(o) != "":
		if x := p.snap.Find("v1", "Endpoints", o.Namespace, mirrors(o)); x != nil {
			found = append(found, x)
		}
	case is(o, "", "Service"):
		add("Endpoints")
	case o.Token() != nil:
		if x := p.snap.Find("v1", "ServiceAccount", o.Namespace, o.Token().Account); x != nil {
			found = append(found, x)
		}
	case is(o, "", "ServiceAccount"):
		for _, x := range p.snap.Objects {
			if t := x.Token(); t != nil && x.Namespace == o.Namespace && t.Account == o.Name {
				found = append(found, x)
			}
		}
	case o.BeingDeleted() && (is(o, "", "PersistentVolumeClaim") || is(o, "resource.k8s.io", "ResourceClaim")):
		for _, x := range p.snap.Objects {
			if is(x, "", "Pod") && x.Namespace == o.Namespace {
				found = append(found, x)
			}
		}
	}
	return found
}
