package surroundings

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/evidence"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
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

// The requests that a webhook may have to admit.
const (
	Update = "UPDATE"
	Remove = "DELETE"
)

// Down tells whether a service is known to have nobody behind it. What was not read
// whole proves nothing.
func (s *Surroundings) Down(service *evidence.ServiceRef) (Unreachable, bool) {
	return s.reach.down(service)
}

// Broken is Down for a webhook; one outside of the cluster is never known to be.
func (s *Surroundings) Broken(c *evidence.Client) (Unreachable, bool) { return s.reach.broken(c) }

// Webhooks lists the webhooks without endpoints that have to admit a request for the
// object, as the update without which no finalizer comes off: those that surely do,
// and those that may.
func (s *Surroundings) Webhooks(operation string, o *object.Object) (surely, perhaps []*evidence.Webhook) {
	if s.seen == nil {
		return nil, nil
	}
	r, err := s.snap.Resources.For(o.APIVersion, o.Kind)
	if err != nil {
		return nil, nil
	}
	for n := range s.seen.Webhooks {
		h := &s.seen.Webhooks[n]
		if _, broken := s.reach.broken(&h.Client); !broken || h.Ignored || !asks(h, operation, r) {
			continue
		}
		takes, sure := h.Selects(o, s.snap.Find("v1", "Namespace", "", o.Namespace))
		switch {
		case takes && sure:
			surely = append(surely, h)
		case takes:
			perhaps = append(perhaps, h)
		}
	}
	return surely, perhaps
}

// Conversion is the definition of a custom resource whose conversion webhook does not
// answer; nil when there is none. With a single version nothing is ever converted.
func (s *Surroundings) Conversion(o *object.Object) (*evidence.Definition, Unreachable) {
	r, err := s.snap.Resources.For(o.APIVersion, o.Kind)
	if err != nil || s.seen == nil {
		return nil, Unreachable{}
	}
	for n := range s.seen.Definitions {
		d := &s.seen.Definitions[n]
		if d.Group != r.Group || d.Plural != r.Name || d.Versions < 2 {
			continue
		}
		if why, broken := s.reach.broken(d.Conversion); broken {
			return d, why
		}
	}
	return nil, Unreachable{}
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

// asks tells whether the rules of a webhook cover a request.
//
// Upstream: apiserver webhook/predicates/rules.
func asks(h *evidence.Webhook, operation string, r object.Resource) bool {
	has := func(list []string, want string) bool {
		return slices.Contains(list, "*") || slices.Contains(list, want)
	}
	return slices.ContainsFunc(h.Rules, func(rule evidence.WebhookRule) bool {
		scope := rule.Scope == "" || rule.Scope == "*" || (rule.Scope == "Namespaced") == r.Namespaced
		return scope && has(rule.Operations, operation) && has(rule.Groups, r.Group) && has(rule.Versions, r.Version) &&
			(has(rule.Resources, r.Name) || slices.Contains(rule.Resources, "*/*"))
	})
}
