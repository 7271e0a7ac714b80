package surroundings

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/evidence"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// reach answers whether an API server can reach a service.
type reach struct {
	seen     *evidence.World
	services map[evidence.ServiceRef]*evidence.Service
	ready    map[evidence.ServiceRef]int
}

func newReach(seen *evidence.World) *reach {
	r := &reach{seen: seen, services: map[evidence.ServiceRef]*evidence.Service{}, ready: map[evidence.ServiceRef]int{}}
	if seen == nil {
		return r
	}
	for n := range seen.Services {
		s := &seen.Services[n]
		r.services[evidence.ServiceRef{Namespace: s.Namespace, Name: s.Name}] = s
	}
	for _, b := range seen.Backends {
		r.ready[evidence.ServiceRef{Namespace: b.Namespace, Name: b.Service}] += b.Ready
	}
	return r
}

// Unreachable is why nothing answers behind a service.
type Unreachable struct {
	// Reason is NoEndpoints or ServiceAbsent.
	Reason  ProofReason
	Service report.Ref
}

// Text says it.
func (u Unreachable) Text() string {
	where := u.Service.Name + " in namespace " + u.Service.Namespace
	if u.Reason == ServiceAbsent {
		return "there is no service " + where
	}
	return "no endpoint of service " + where + " is ready"
}

// down tells whether a service is known to have nobody behind it. What was not read
// whole proves nothing.
func (r *reach) down(s *evidence.ServiceRef) (Unreachable, bool) {
	if s == nil {
		return Unreachable{}, false
	}
	u := Unreachable{Service: report.Ref{APIVersion: "v1", Kind: "Service", Namespace: s.Namespace, Name: s.Name}}
	known := r.services[*s]
	if known == nil {
		u.Reason = ServiceAbsent
		return u, r.seen.Sight(evidence.Services, s.Namespace).Whole
	}
	u.Reason = NoEndpoints
	slices, legacy := r.seen.Sight(evidence.Slices, s.Namespace), r.seen.Sight(evidence.Endpoints, s.Namespace)
	return u, !known.External && r.ready[*s] == 0 && (slices.Whole || legacy.Whole)
}

// broken is down for a webhook; one outside of the cluster is never known to be.
func (r *reach) broken(c *evidence.Client) (Unreachable, bool) {
	if c == nil {
		return Unreachable{}, false
	}
	return r.down(c.Service)
}

// Down tells whether a service is known to have nobody behind it. What was not read
// whole proves nothing.
func (s *Surroundings) Down(service *evidence.ServiceRef) (Unreachable, bool) {
	return s.reach.down(service)
}

// Broken is Down for a webhook; one outside of the cluster is never known to be.
func (s *Surroundings) Broken(c *evidence.Client) (Unreachable, bool) { return s.reach.broken(c) }

// Discovered tells whether of every aggregated API it was seen whether it answers.
func (s *Surroundings) Discovered() bool {
	if ok, _, _ := s.seen.Whole(evidence.APIServices); !ok {
		return false
	}
	return !slices.ContainsFunc(s.seen.APIServices, func(a evidence.APIService) bool { return a.Service != nil && a.Available.Status == "" })
}

// APIServices are the aggregated APIs that are known not to answer.
func (s *Surroundings) APIServices() []*evidence.APIService {
	if s.seen == nil {
		return nil
	}
	var list []*evidence.APIService
	for n := range s.seen.APIServices {
		a := &s.seen.APIServices[n]
		if a.Service != nil && a.Available.Status != "" && !a.Available.True() {
			list = append(list, a)
		}
	}
	return list
}
