package impact

import (
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// follows returns why the end of a cluster-scoped object depends on objects other than its owners,
// which may be anywhere; empty if it does not.
func follows(o *object.Object) string {
	switch {
	case o.Volume() != nil && o.Volume().ClaimName != "":
		return fmt.Sprintf("%s belongs to a PVC in namespace %s", o.Ref, o.Volume().ClaimNamespace)
	case o.Is(object.IPAddress):
		return fmt.Sprintf("%s goes with a Service, which may be in any namespace", o.Ref)
	case o.Is(object.ServiceCIDR):
		return fmt.Sprintf("%s waits for the addresses of Services in all namespaces", o.Ref)
	case o.Is(object.APIService):
		return fmt.Sprintf("%s goes with CRDs, at their end", o.Ref)
	}
	return ""
}

// beside returns the objects of the namespace that are connected with o without a reference: either
// is deleted with the other, or o waits for them. Endpoints are deleted with the Service of the same
// name, a token with its ServiceAccount. A claim that is being deleted waits for pods.
func (p *OneNamespace) beside(o *object.Object) []*object.Object {
	var found []*object.Object
	add := func(kind object.Kind) {
		if x := p.snap.FindKind(kind, o.Namespace, o.Name); x != nil {
			found = append(found, x)
		}
	}
	switch {
	case o.Is(object.Endpoints):
		add(object.Service)
		for _, x := range p.snap.Objects {
			if x.Namespace == o.Namespace && mirrors(x) == o.Name {
				found = append(found, x)
			}
		}
	case mirrors(o) != "":
		if x := p.snap.FindKind(object.Endpoints, o.Namespace, mirrors(o)); x != nil {
			found = append(found, x)
		}
	case o.Is(object.Service):
		add(object.Endpoints)
	case o.Token() != nil:
		if x := p.snap.FindKind(object.ServiceAccount, o.Namespace, o.Token().Account); x != nil {
			found = append(found, x)
		}
	case o.Is(object.ServiceAccount):
		for _, x := range p.snap.Objects {
			if t := x.Token(); t != nil && x.Namespace == o.Namespace && t.Account == o.Name {
				found = append(found, x)
			}
		}
	case o.BeingDeleted() && (o.Is(object.PVC) || o.Is(object.ResourceClaim)):
		for _, x := range p.snap.Objects {
			if x.Is(object.Pod) && x.Namespace == o.Namespace {
				found = append(found, x)
			}
		}
	}
	return found
}
