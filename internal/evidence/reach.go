package evidence

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// reach answers whether an API server can reach a service.
type reach struct {
	seen     *World
	services map[ServiceRef]*Service
	ready    map[ServiceRef]int
	// since is when the oldest object that names a service was created. The service existed then.
	snap  *snapshot.Snapshot
	since map[ServiceRef]int64
}

func newReach(snap *snapshot.Snapshot, seen *World) *reach {
	r := &reach{snap: snap, seen: seen, services: map[ServiceRef]*Service{}, ready: map[ServiceRef]int{}, since: map[ServiceRef]int64{}}
	if seen == nil {
		return r
	}
	for n := range seen.Services {
		s := &seen.Services[n]
		r.services[ServiceRef{Namespace: s.Namespace, Name: s.Name}] = s
	}
	for _, b := range seen.Backends {
		r.ready[ServiceRef{Namespace: b.Namespace, Name: b.Service}] += b.Ready
	}
	r.date()
	return r
}

// date fills since.
func (r *reach) date() {
	named := func(s *ServiceRef, by *object.Object) {
		if s == nil || by == nil || by.Created == 0 {
			return
		}
		if at := r.since[*s]; at == 0 || by.Created < at {
			r.since[*s] = by.Created
		}
	}
	for n := range r.seen.Webhooks {
		h := &r.seen.Webhooks[n]
		named(h.Client.Service, r.snap.FindKind(configurations[h.Kind], "", h.Configuration))
	}
	for n := range r.seen.Definitions {
		if d := &r.seen.Definitions[n]; d.Conversion != nil {
			named(d.Conversion.Service, r.snap.FindKind(object.CRD, "", d.Ref.Name))
		}
	}
	for n := range r.seen.APIServices {
		named(r.seen.APIServices[n].Service, r.snap.FindKind(object.APIService, "", r.seen.APIServices[n].Name))
	}
}

// configurations has the webhook configurations by kind.
var configurations = map[string]object.Kind{
	object.ValidatingWebhookConfiguration.Kind: object.ValidatingWebhookConfiguration,
	object.MutatingWebhookConfiguration.Kind:   object.MutatingWebhookConfiguration,
}

// Unreachable says why a service has no working backend.
type Unreachable struct {
	// Reason is NoEndpoints or ServiceAbsent.
	Reason  reason.Code
	Service report.Ref
}

// Text says which service is unreachable and why.
func (u Unreachable) Text() string {
	where := u.Service.Name + " in namespace " + u.Service.Namespace
	if u.Reason == reason.ServiceAbsent {
		return "there is no service " + where
	}
	return "no endpoint of service " + where + " is ready"
}

// down reports whether a service is known to have no ready endpoint. An incomplete list proves
// nothing.
func (r *reach) down(s *ServiceRef) (Unreachable, bool) {
	if s == nil {
		return Unreachable{}, false
	}
	u := Unreachable{Service: report.RefOf(object.Service.Ref(s.Namespace, s.Name))}
	known := r.services[*s]
	if known == nil {
		u.Reason = reason.ServiceAbsent
		return u, r.seen.Sight(Services, s.Namespace).Whole &&
			r.snap.Unseen(object.Service, object.Service.Ref(s.Namespace, s.Name), r.since[*s]) == ""
	}
	u.Reason = reason.NoEndpoints
	slices, legacy := r.seen.Sight(Slices, s.Namespace), r.seen.Sight(Endpoints, s.Namespace)
	return u, !known.External && r.ready[*s] == 0 && (slices.Whole || legacy.Whole)
}

// broken is like down, for a webhook. A webhook outside the cluster is never known to be down.
func (r *reach) broken(c *Client) (Unreachable, bool) {
	if c == nil {
		return Unreachable{}, false
	}
	return r.down(c.Service)
}

// Down reports whether a service is known to have no ready endpoint. An incomplete list proves
// nothing.
func (s *Surroundings) Down(service *ServiceRef) (Unreachable, bool) {
	return s.reach.down(service)
}

// Broken is like Down, for a webhook. A webhook outside the cluster is never known to be down.
func (s *Surroundings) Broken(c *Client) (Unreachable, bool) { return s.reach.broken(c) }

// Discovered reports whether the availability of every aggregated API is known.
func (s *Surroundings) Discovered() bool {
	if ok, _, _ := s.seen.Whole(APIServices); !ok {
		return false
	}
	return !slices.ContainsFunc(s.seen.APIServices, func(a APIService) bool { return a.Service != nil && a.Available.Status == "" })
}

// APIServices returns the aggregated APIs that are known to be unavailable.
func (s *Surroundings) APIServices() []*APIService {
	if s.seen == nil {
		return nil
	}
	var list []*APIService
	for n := range s.seen.APIServices {
		a := &s.seen.APIServices[n]
		if a.Service != nil && a.Available.Status != "" && !a.Available.True() {
			list = append(list, a)
		}
	}
	return list
}
