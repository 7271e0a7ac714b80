package health

import (
	"slices"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// Service is a Service of the cluster.
type Service struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// External is true for the type ExternalName, which has no endpoints.
	External bool `json:"external,omitzero"`
}

// Backend is an EndpointSlice or an Endpoints object of a service.
type Backend struct {
	Namespace string `json:"namespace"`
	Service   string `json:"service,omitzero"`
	// Ready counts the ready endpoints.
	Ready int `json:"ready,omitzero"`
	// Legacy is true for an Endpoints object.
	Legacy bool `json:"legacy,omitzero"`
}

// ServiceRef is the service that an API server calls.
type ServiceRef struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// APIService says which server serves a group and version.
type APIService struct {
	Name    string `json:"name"`
	Group   string `json:"group,omitzero"`
	Version string `json:"version,omitzero"`
	// Service is nil if the API server serves the group itself.
	Service   *ServiceRef `json:"service,omitzero"`
	Available Condition   `json:"available,omitzero"`
}

// serviceBody has the fields that are read from a Service.
type serviceBody struct {
	Spec struct {
		Type string `json:"type"`
	} `json:"spec"`
}

func (s *Shown) takeService(b *body, d *serviceBody) {
	s.Services = append(s.Services, Service{b.Metadata.Namespace, b.Metadata.Name, d.Spec.Type == "ExternalName"})
}

// endpointsBody has the fields that are read from an Endpoints.
type endpointsBody struct {
	Subsets []struct {
		Addresses []struct{} `json:"addresses"`
	} `json:"subsets"`
}

func (s *Shown) takeEndpoints(b *body, d *endpointsBody) {
	e := Backend{Namespace: b.Metadata.Namespace, Service: b.Metadata.Name, Legacy: true}
	for _, s := range d.Subsets {
		e.Ready += len(s.Addresses)
	}
	s.Backends = append(s.Backends, e)
}

// sliceBody has the fields that are read from an EndpointSlice.
type sliceBody struct {
	Endpoints []struct {
		Addresses  []string `json:"addresses"`
		Conditions struct {
			Ready *bool `json:"ready"`
		} `json:"conditions"`
	} `json:"endpoints"`
}

// takeSlice counts the ready endpoints. An endpoint without the condition counts as ready.
//
// Upstream: api/discovery/v1/types.go EndpointConditions.
func (s *Shown) takeSlice(b *body, d *sliceBody) {
	e := Backend{Namespace: b.Metadata.Namespace, Service: b.Metadata.Labels["kubernetes.io/service-name"]}
	for _, point := range d.Endpoints {
		if point.Conditions.Ready == nil || *point.Conditions.Ready {
			e.Ready++
		}
	}
	s.Backends = append(s.Backends, e)
}

// apiServiceBody has the fields that are read from an APIService.
type apiServiceBody struct {
	Spec struct {
		Group   string      `json:"group"`
		Version string      `json:"version"`
		Service *ServiceRef `json:"service"`
	} `json:"spec"`
	Status struct {
		Conditions []condition `json:"conditions"`
	} `json:"status"`
}

func (s *Shown) takeAPIService(b *body, d *apiServiceBody) {
	available, _ := Find(conditions(d.Status.Conditions), "Available")
	s.APIServices = append(s.APIServices, APIService{b.Metadata.Name, d.Spec.Group, d.Spec.Version, d.Spec.Service, available})
}

// Definition is what a CustomResourceDefinition shows in addition to its snapshot.
type Definition struct {
	Ref object.Ref `json:"-"`
	// Group and Plural name its resource.
	Group  string `json:"group"`
	Plural string `json:"plural"`
	// Conversion is the webhook that converts its versions. nil without one.
	Conversion *Client `json:"conversion,omitzero"`
	// Versions counts its versions. With a single version, nothing is ever converted.
	Versions int `json:"versions,omitzero"`
	// Storage is the storage version. It is empty if unknown.
	Storage string `json:"storage,omitzero"`
	// Stored are the versions that stored instances may have, from the status. It is empty if the
	// status does not say.
	Stored     []string    `json:"stored,omitempty"`
	Conditions []Condition `json:"conditions,omitempty"`
	// Packages are what it was installed with, sorted.
	Packages []string `json:"packages,omitempty"`
}

// definitionBody has the fields that are read from a CustomResourceDefinition.
type definitionBody struct {
	Metadata installMetadata `json:"metadata"`
	Spec     struct {
		Group string `json:"group"`
		Names struct {
			Plural string `json:"plural"`
		} `json:"names"`
		Versions []struct {
			Name    string `json:"name"`
			Storage bool   `json:"storage"`
		} `json:"versions"`
		Conversion struct {
			Strategy string `json:"strategy"`
			Webhook  struct {
				Client *Client `json:"clientConfig"`
			} `json:"webhook"`
			// Client is the field of v1beta1.
			Client *Client `json:"webhookClientConfig"`
		} `json:"conversion"`
	} `json:"spec"`
	Status struct {
		Conditions []condition `json:"conditions"`
		Stored     []string    `json:"storedVersions"`
	} `json:"status"`
}

func (s *Shown) takeDefinition(b *body, d *definitionBody) {
	one := Definition{Ref: b.ref(), Stored: d.Status.Stored, Group: d.Spec.Group, Plural: d.Spec.Names.Plural, Versions: len(d.Spec.Versions), Conditions: conditions(d.Status.Conditions), Packages: d.Metadata.packages(b)}
	for _, v := range d.Spec.Versions {
		if v.Storage {
			one.Storage = v.Name
		}
	}
	if c := &d.Spec.Conversion; c.Strategy == "Webhook" {
		if one.Conversion = c.Webhook.Client; one.Conversion == nil {
			one.Conversion = c.Client
		}
	}
	s.Definitions = append(s.Definitions, one)
}

// serviceReach answers whether an API server can reach a service.
type serviceReach struct {
	seen     *Evidence
	services map[ServiceRef]*Service
	ready    map[ServiceRef]int
	// since has, by service, when the oldest object of snap that names it was created. The service
	// is assumed to have existed by then.
	snap  *snapshot.Snapshot
	since map[ServiceRef]int64
}

func newReach(snap *snapshot.Snapshot, seen *Evidence) *serviceReach {
	r := &serviceReach{snap: snap, seen: seen, services: map[ServiceRef]*Service{}, ready: map[ServiceRef]int{}, since: map[ServiceRef]int64{}}
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
	r.fillSince()
	return r
}

// fillSince fills since.
func (r *serviceReach) fillSince() {
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
	Service object.Ref
}

// Text says which service is unreachable and why.
func (u Unreachable) Text() string {
	where := u.Service.Name + " in namespace " + u.Service.Namespace
	if u.Reason == reason.ServiceAbsent {
		return "there is no service " + where
	}
	return "no endpoint of service " + where + " is ready"
}

// Down reports whether a service is known to be absent or without a ready endpoint. An incomplete
// list proves nothing.
func (r *serviceReach) Down(s *ServiceRef) (Unreachable, bool) {
	if s == nil {
		return Unreachable{}, false
	}
	u := Unreachable{Service: object.Service.Ref(s.Namespace, s.Name)}
	known := r.services[*s]
	if known == nil {
		u.Reason = reason.ServiceAbsent
		return u, r.namespaceAbsent(s) || r.seen.CompletenessOf(Services, s.Namespace).Whole &&
			r.snap.Unseen(object.Service, object.Service.Ref(s.Namespace, s.Name), r.since[*s]) == ""
	}
	u.Reason = reason.NoEndpoints
	slices, legacy := r.seen.CompletenessOf(Slices, s.Namespace), r.seen.CompletenessOf(Endpoints, s.Namespace)
	return u, !known.External && r.ready[*s] == 0 && (slices.Whole || legacy.Whole)
}

// namespaceAbsent reports whether the namespace of a service is known to be absent, and the service with it.
func (r *serviceReach) namespaceAbsent(s *ServiceRef) bool {
	return r.snap.Covers(object.Namespace.Resource(), "") && r.snap.FindKind(object.Namespace, "", s.Namespace) == nil &&
		r.snap.Unseen(object.Namespace, object.Namespace.Ref("", s.Namespace), r.since[*s]) == ""
}

// Broken is like Down, for a webhook. A webhook with a URL is never known to be down.
func (r *serviceReach) Broken(c *Client) (Unreachable, bool) {
	if c == nil {
		return Unreachable{}, false
	}
	return r.Down(c.Service)
}

// Discovered reports whether the availability of every aggregated API is known.
func (s *Assessment) Discovered() bool {
	if ok, _, _ := s.evidence.Whole(APIServices); !ok {
		return false
	}
	return !slices.ContainsFunc(s.evidence.APIServices, func(a APIService) bool { return a.Service != nil && a.Available.Status == "" })
}

// APIServices returns the aggregated APIs that are known to be unavailable.
func (s *Assessment) APIServices() []*APIService {
	if s.evidence == nil {
		return nil
	}
	var list []*APIService
	for n := range s.evidence.APIServices {
		a := &s.evidence.APIServices[n]
		if a.Service != nil && a.Available.Status != "" && !a.Available.True() {
			list = append(list, a)
		}
	}
	return list
}

// Callee is what the API server calls: a Service, and the pods behind it. Exactly one of Webhook and
// API is set.
type Callee struct {
	// Webhook is an admission webhook with the failure policy Fail.
	Webhook *Webhook
	// API is an aggregated API.
	API *APIService
	// Caller is the configuration of the webhook, or the APIService.
	Caller, Service object.Ref
	// Pods are the pods that the Service selects and that run. Empty if it has no selector.
	Pods []*object.Object
	// Whole is true if no other pod can be behind the Service.
	Whole bool
}

// Callees returns the backends of the webhooks that must be called and of the aggregated APIs, without those that
// do not work. The result is computed on first use.
func (s *Assessment) Callees() []Callee {
	if s.evidence == nil || s.calleesKnown {
		return s.callees
	}
	s.calleesKnown = true
	add := func(b Callee, client *ServiceRef) {
		if client == nil {
			return
		}
		o := s.snap.FindKind(object.Service, client.Namespace, client.Name)
		if _, down := s.Down(client); o == nil || down {
			return
		}
		b.Service = o.Ref
		s.callees = append(s.callees, b)
	}
	for n := range s.evidence.Webhooks {
		if h := &s.evidence.Webhooks[n]; !h.Ignored {
			add(Callee{Webhook: h, Caller: object.Ref{APIVersion: h.APIVersion, Kind: h.Kind, Name: h.Configuration}}, h.Client.Service)
		}
	}
	for n := range s.evidence.APIServices {
		if a := &s.evidence.APIServices[n]; a.Available.True() {
			add(Callee{API: a, Caller: object.APIService.Ref("", a.Name)}, a.Service)
		}
	}
	if len(s.callees) > 0 {
		s.findCalleePods()
	}
	return s.callees
}

// findCalleePods fills the pods of the callees.
func (s *Assessment) findCalleePods() {
	selectors := map[object.Coordinates]labels.Selector{}
	for service, selector := range s.Selecting(object.Service) {
		selectors[service.Coordinates()] = selector
	}
	for n := range s.callees {
		b := &s.callees[n]
		selector := selectors[b.Service.Coordinates()]
		if selector == nil {
			continue
		}
		b.Whole = s.snap.Covers(object.Pod.Resource(), b.Service.Namespace)
		for _, o := range s.snap.In(object.Pod.GroupResource(), b.Service.Namespace) {
			if selector.Matches(o.Labels) && !o.BeingDeleted() && (o.Pod() == nil || !o.Pod().Finished()) {
				b.Pods = append(b.Pods, o)
			}
		}
	}
}
