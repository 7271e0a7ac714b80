package health

import (
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

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
