package evidence

import (
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Service is a Service of the cluster.
type Service struct {
	Namespace, Name string
	// External tells that its type is ExternalName: it has no endpoints here.
	External bool
}

// Backend is an EndpointSlice or an Endpoints object of a service.
type Backend struct {
	Namespace, Service string
	// Ready counts the endpoints that take requests.
	Ready int
	// Legacy tells that it is an Endpoints object.
	Legacy bool
}

// ServiceRef is the service that an API server calls.
type ServiceRef struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// APIService says who serves a group and version.
type APIService struct {
	Name, Group, Version string
	// Service is nil when the API server serves it itself.
	Service   *ServiceRef
	Available Condition
}

// serviceBody is what is read of a Service.
type serviceBody struct {
	Spec struct {
		Type string `json:"type"`
	} `json:"spec"`
}

func (w *World) takeService(b *body, raw []byte) error {
	var d serviceBody
	if err := decode(raw, &d); err != nil {
		return err
	}
	w.Services = append(w.Services, Service{b.Metadata.Namespace, b.Metadata.Name, d.Spec.Type == "ExternalName"})
	return nil
}

// endpointsBody is what is read of an Endpoints.
type endpointsBody struct {
	Subsets []struct {
		Addresses []struct{} `json:"addresses"`
	} `json:"subsets"`
}

func (w *World) takeEndpoints(b *body, raw []byte) error {
	var d endpointsBody
	if err := decode(raw, &d); err != nil {
		return err
	}
	e := Backend{Namespace: b.Metadata.Namespace, Service: b.Metadata.Name, Legacy: true}
	for _, s := range d.Subsets {
		e.Ready += len(s.Addresses)
	}
	w.Backends = append(w.Backends, e)
	return nil
}

// sliceBody is what is read of an EndpointSlice.
type sliceBody struct {
	Endpoints []struct {
		Addresses  []string `json:"addresses"`
		Conditions struct {
			Ready *bool `json:"ready"`
		} `json:"conditions"`
	} `json:"endpoints"`
}

// takeSlice counts endpoints. One that does not say whether it is ready counts as
// ready.
//
// Upstream: api/discovery/v1/types.go EndpointConditions.
func (w *World) takeSlice(b *body, raw []byte) error {
	var d sliceBody
	if err := decode(raw, &d); err != nil {
		return err
	}
	e := Backend{Namespace: b.Metadata.Namespace, Service: b.Metadata.Labels["kubernetes.io/service-name"]}
	for _, point := range d.Endpoints {
		if point.Conditions.Ready == nil || *point.Conditions.Ready {
			e.Ready++
		}
	}
	w.Backends = append(w.Backends, e)
	return nil
}

// apiServiceBody is what is read of an APIService.
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

func (w *World) takeAPIService(b *body, raw []byte) error {
	var d apiServiceBody
	if err := decode(raw, &d); err != nil {
		return err
	}
	available, _ := Find(conditions(d.Status.Conditions), "Available")
	w.APIServices = append(w.APIServices, APIService{b.Metadata.Name, d.Spec.Group, d.Spec.Version, d.Spec.Service, available})
	return nil
}

// Definition is what a CustomResourceDefinition shows beside what a snapshot keeps.
type Definition struct {
	Ref object.Ref
	// Group and Plural name its resource.
	Group, Plural string
	// Conversion is the webhook that converts its versions; nil without one.
	Conversion *Client
	// Versions counts its versions: with one, nothing is ever converted.
	Versions int
	// Storage is the version in which instances are stored when they are written; empty
	// where that is not shown.
	Storage string
	// Stored are the versions in which instances may be stored, from the status; empty
	// where it does not say.
	Stored     []string
	Conditions []Condition
	// Packages are what it was installed with, sorted.
	Packages []string
}

// definitionBody is what is read of a CustomResourceDefinition.
type definitionBody struct {
	Metadata packaged `json:"metadata"`
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
			// Of v1beta1.
			Client *Client `json:"webhookClientConfig"`
		} `json:"conversion"`
	} `json:"spec"`
	Status struct {
		Conditions []condition `json:"conditions"`
		Stored     []string    `json:"storedVersions"`
	} `json:"status"`
}

func (w *World) takeDefinition(b *body, raw []byte) error {
	var d definitionBody
	if err := decode(raw, &d); err != nil {
		return err
	}
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
	w.Definitions = append(w.Definitions, one)
	return nil
}
