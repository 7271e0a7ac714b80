package diagnose

import (
	"fmt"
	"slices"
	"strings"

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

// unreachable is why nothing answers behind a service: a reason of a proof, and the
// object that it is about.
type unreachable struct {
	reason  ProofReason
	service report.Ref
}

func (u unreachable) text() string {
	where := u.service.Name + " in namespace " + u.service.Namespace
	if u.reason == ServiceAbsent {
		return "there is no service " + where
	}
	return "no endpoint of service " + where + " is ready"
}

// down tells whether a service is known to have nobody behind it. What was not read
// whole proves nothing.
func (r *reach) down(s *evidence.ServiceRef) (unreachable, bool) {
	if s == nil {
		return unreachable{}, false
	}
	u := unreachable{service: report.Ref{APIVersion: "v1", Kind: "Service", Namespace: s.Namespace, Name: s.Name}}
	known := r.services[*s]
	if known == nil {
		u.reason = ServiceAbsent
		return u, r.seen.Sight(evidence.Services, s.Namespace).Whole
	}
	u.reason = NoEndpoints
	slices, legacy := r.seen.Sight(evidence.Slices, s.Namespace), r.seen.Sight(evidence.Endpoints, s.Namespace)
	return u, !known.External && r.ready[*s] == 0 && (slices.Whole || legacy.Whole)
}

// broken is down for a webhook; one outside of the cluster is never known to be.
func (r *reach) broken(c *evidence.Client) (unreachable, bool) {
	if c == nil {
		return unreachable{}, false
	}
	return r.down(c.Service)
}

// brokenAPIs are the aggregated APIs that do not answer. Whether that stops the
// namespace controller its condition says, as far as it was seen.
//
// Upstream: namespaced_resources_deleter.go deleteAllContent gives up finalizing
// after any discovery failure; semantics.md §5.3, S212.
func (i *inquiry) brokenAPIs(o *object.Object, discovery evidence.Condition) []end {
	if i.seen == nil {
		return nil
	}
	var ends []end
	for _, a := range i.seen.APIServices {
		if a.Service == nil || a.Available.Status == "" || a.Available.True() {
			continue
		}
		e := endAt(o, APIServiceUnavailable)
		e.at = report.Ref{APIVersion: "apiregistration.k8s.io/v1", Kind: "APIService", Name: a.Name}
		e.chain[0].Waits = string(NamespaceDeletionFails)
		e.chain = append(e.chain, report.WaitLink{Ref: e.at, Waits: string(APIServiceUnavailable)})
		e.detail = clip(a.Available.Message)
		e.prove(ConditionSays, &e.at, "Available is "+a.Available.Status+": "+a.Available.Reason+": "+a.Available.Message)
		if discovery.True() {
			e.prove(ConditionSays, nil, discovery.Type+": "+discovery.Message)
		}
		i.repairService(&e, a.Service)
		e.remedy("kubectl delete apiservice "+quote(a.Name), "takes the API out of discovery", "what it serves cannot be reached until it is registered again")
		ends = merge(ends, e)
	}
	return ends
}

// repairService leads to what is behind a service.
func (i *inquiry) repairService(e *end, s *evidence.ServiceRef) {
	if s == nil {
		return
	}
	if u, down := i.reach.down(s); down {
		e.prove(u.reason, &u.service, u.text())
		if u.reason == ServiceAbsent {
			return
		}
	}
	e.remedy("kubectl get service,endpointslices,pods -n "+quote(s.Namespace), "shows what is behind service "+s.Name+": bring it up, and the waiting ends by itself", "")
}

// brokenWebhooks are the webhooks without endpoints that a message of the namespace
// controller is about.
func (i *inquiry) brokenWebhooks(o *object.Object, message string) []end {
	if i.seen == nil {
		return nil
	}
	var ends []end
	for n := range i.seen.Definitions {
		d := &i.seen.Definitions[n]
		if why, broken := i.reach.broken(d.Conversion); broken && strings.Contains(message, d.Group) && strings.Contains(message, "conversion webhook") {
			e := i.conversionEnd(o, d, why)
			e.prove(ConditionSays, nil, message)
			ends = append(ends, e)
		}
	}
	for n := range i.seen.Webhooks {
		h := &i.seen.Webhooks[n]
		// What is in the namespace may have any labels.
		if takes, _ := h.Selects(&object.Object{Ref: object.Ref{Namespace: o.Name}}, o); !takes && len(h.Objects.MatchLabels)+len(h.Objects.MatchExpressions) == 0 {
			continue
		}
		if why, broken := i.reach.broken(&h.Client); broken && !h.Ignored && strings.Contains(message, h.Name) {
			e := i.admissionEnd(o, h, why)
			e.prove(ConditionSays, nil, message)
			ends = append(ends, e)
		}
	}
	return ends
}

// conversionEnd is about a webhook that converts custom resources.
func (i *inquiry) conversionEnd(o *object.Object, d *evidence.Definition, why unreachable) end {
	e := endAt(o, WebhookUnreachable)
	e.at = report.RefOf(i.known(d.Ref))
	e.chain[0].Waits = string(WebhookUnreachable)
	if e.at != report.RefOf(o.Ref) {
		e.chain = append(e.chain, report.WaitLink{Ref: e.at, Waits: string(WebhookUnreachable)})
	}
	e.detail = "the conversion webhook of " + d.Plural + "." + d.Group
	e.prove(why.reason, &why.service, why.text())
	i.repairService(&e, d.Conversion.Service)
	e.remedy("kubectl patch crd "+quote(d.Ref.Name)+` --type=merge -p '{"spec":{"conversion":{"strategy":"None","webhook":null}}}'`,
		"stops converting, so that instances can be read and deleted", "fields that only a conversion would carry over from one version to the other")
	return e
}

// admissionEnd is about a webhook that has to admit a request.
func (i *inquiry) admissionEnd(o *object.Object, h *evidence.Webhook, why unreachable) end {
	e := endAt(o, WebhookUnreachable)
	e.at = report.Ref{APIVersion: "admissionregistration.k8s.io/v1", Kind: h.Kind, Name: h.Configuration}
	e.chain = append(e.chain, report.WaitLink{Ref: e.at, Waits: string(WebhookUnreachable)})
	e.detail = "the webhook " + h.Name
	e.prove(why.reason, &why.service, why.text())
	i.repairService(&e, h.Client.Service)
	e.remedy("kubectl delete "+quote(strings.ToLower(h.Kind))+" "+quote(h.Configuration), "takes the webhooks of this configuration away", "nothing that they check or change is checked or changed until they are registered again")
	return e
}

// The requests that a webhook may have to admit.
const (
	update = "UPDATE"
	remove = "DELETE"
)

// stops lists the webhooks without endpoints that have to admit a request for the
// object, as the update without which no finalizer comes off: those that surely do,
// and those that may.
func (i *inquiry) stops(operation string, o *object.Object) (surely, perhaps []*evidence.Webhook) {
	if i.seen == nil {
		return nil, nil
	}
	r, err := i.snap.Resources.For(o.APIVersion, o.Kind)
	if err != nil {
		return nil, nil
	}
	for n := range i.seen.Webhooks {
		h := &i.seen.Webhooks[n]
		if _, broken := i.reach.broken(&h.Client); !broken || h.Ignored || !asks(h, operation, r) {
			continue
		}
		takes, sure := h.Selects(o, i.snap.Find("v1", "Namespace", "", o.Namespace))
		switch {
		case takes && sure:
			surely = append(surely, h)
		case takes:
			perhaps = append(perhaps, h)
		}
	}
	return surely, perhaps
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

// unansweredText names the webhooks that may stand in the way.
func unansweredText(h *evidence.Webhook, u unreachable) string {
	return fmt.Sprintf("webhook %s may have to admit the removal: %s", h.Name, u.text())
}
