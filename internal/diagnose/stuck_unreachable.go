package diagnose

import (
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// brokenAPIs returns the aggregated APIs that do not answer. The discovery condition shows whether
// they stop the namespace controller, if it was seen.
//
// Upstream: pkg/controller/namespace/deletion/namespaced_resources_deleter.go deleteAllContent:
// gives up finalizing after any discovery failure.
// Rule: spec §5.3, S212.
func (i *inquiry) brokenAPIs(o *object.Object, discovery health.Condition) []end {
	var ends []end
	for _, a := range i.health.APIServices() {
		e := endAt(o, reason.APIServiceUnavailable)
		e.at = object.Ref{APIVersion: "apiregistration.k8s.io/v1", Kind: "APIService", Name: a.Name}
		e.chain[0].Waits = string(reason.NamespaceDeletionFails)
		e.chain = append(e.chain, report.WaitLink{Ref: e.at, Waits: string(reason.APIServiceUnavailable)})
		e.detail = health.Clip(a.Available.Message)
		e.prove(reason.ConditionSays, &e.at, "Available is "+a.Available.Status+": "+a.Available.Reason+": "+a.Available.Message)
		if discovery.True() {
			e.prove(reason.ConditionSays, nil, discovery.Type+": "+discovery.Message)
		}
		i.repairService(&e, a.Service)
		e.remedy(report.Act{Action: report.Unregister, Target: e.at}, "takes the API out of discovery", "what it serves cannot be reached until it is registered again")
		ends = merge(ends, e)
	}
	return ends
}

// repairService adds a command that shows the backends of a service.
func (i *inquiry) repairService(e *end, s *health.ServiceRef) {
	if s == nil {
		return
	}
	if u, down := i.health.Down(s); down {
		e.prove(u.Reason, &u.Service, u.Text())
		if u.Reason == reason.ServiceAbsent {
			return
		}
	}
	e.remedy(report.Act{Action: report.ShowBackends, Target: object.Ref{Namespace: s.Namespace}}, "shows what is behind service "+s.Name+": bring it up, and the waiting ends by itself", "")
}

// brokenWebhooks returns the webhooks without endpoints that a message of the namespace controller
// is about.
func (i *inquiry) brokenWebhooks(o *object.Object, message string) []end {
	if i.seen == nil {
		return nil
	}
	var ends []end
	for n := range i.seen.Definitions {
		d := &i.seen.Definitions[n]
		if why, broken := i.health.Broken(d.Conversion); broken && strings.Contains(message, d.Group) && strings.Contains(message, "conversion webhook") {
			e := i.conversionEnd(o, d, why)
			e.prove(reason.ConditionSays, nil, message)
			ends = append(ends, e)
		}
	}
	for n := range i.seen.Webhooks {
		h := &i.seen.Webhooks[n]
		// The content of the namespace may have any labels.
		if takes, _ := h.Selects(&object.Object{Ref: object.Ref{Namespace: o.Name}}, o); !takes && len(h.Objects.MatchLabels)+len(h.Objects.MatchExpressions) == 0 {
			continue
		}
		if why, broken := i.health.Broken(&h.Client); broken && !h.Ignored && strings.Contains(message, h.Name) {
			e := i.admissionEnd(o, h, why)
			e.prove(reason.ConditionSays, nil, message)
			ends = append(ends, e)
		}
	}
	return ends
}

// refusedWrites handles an object that stays because a policy or an unreachable webhook refuses a
// write to it, or to an object that it waits for.
func (i *inquiry) refusedWrites(o *object.Object, e *report.Effect, names []string, others []object.Ref) []end {
	var ends []end
	for _, ref := range others {
		if d := i.at(ref); d != nil && !d.BeingDeleted() {
			if x, ok := i.refusal(d, health.Remove); ok {
				ends = merge(ends, x.behind(o, waitingFor(o, e)))
			}
		}
	}
	for _, operation := range []string{health.Update, health.Remove} {
		if x, ok := i.refusal(o, operation); ok && len(ends) == 0 {
			ends = append(ends, x)
		}
	}
	if o.IsContainer() {
		for _, x := range i.contained(o, e, names, others) {
			if x.code != reason.EndNotSeen || len(ends) == 0 {
				ends = merge(ends, x)
			}
		}
	}
	return append(ends, i.foreign(o, names)...)
}

// refusal returns the end of an object if an unreachable webhook certainly refuses a write to it, or
// a policy does or may.
func (i *inquiry) refusal(o *object.Object, operation string) (end, bool) {
	// The namespace controller deletes with collection requests, which have no name.
	ns := i.snap.FindKind(object.Namespace, "", o.Namespace)
	r, refused := i.health.Refuses(health.Write{Operation: operation, Object: o, Unnamed: ns != nil && ns.BeingDeleted(), First: true})
	switch {
	case refused && r.Denial != nil:
		return i.policyEnd(o, r.Denial), true
	case !refused || !r.Sure:
		return end{}, false
	case r.Webhook == nil:
		return i.conversionEnd(o, r.Definition, r.Why), true
	}
	e := i.admissionEnd(o, r.Webhook, r.Why)
	e.chain[0].Waits = string(reason.WebhookUnreachable)
	return e, true
}

// policyEnd returns the end for an admission policy that denies a request, or may.
func (i *inquiry) policyEnd(o *object.Object, d *health.Denial) end {
	e := endAt(o, reason.PolicyUnknown)
	if d.Open == health.Decided {
		e.code = reason.PolicyDenies
		if denies, mayDeny := i.health.Denies(health.Write{Operation: health.Update, Object: o}); denies == nil && mayDeny == nil {
			e.remedy(act(report.Edit, o), "changes what the policy asks for, so that it admits the request", "")
		}
	}
	e.at = i.health.Known(d.By)
	e.chain[0].Waits = string(e.code)
	if e.at != o.Ref {
		e.chain = append(e.chain, report.WaitLink{Ref: e.at, Waits: string(e.code)})
	}
	e.detail = d.Text()
	if d.Binding.Name == "" {
		e.prove(reason.PolicySays, &e.at, d.Text())
		e.remedy(report.Act{Action: report.Describe, Target: e.at}, "shows what protects the object", "")
		return e
	}
	binding := d.Binding
	e.prove(reason.PolicySays, &binding, d.Text())
	e.remedy(report.Act{Action: report.Describe, Target: e.at}, "shows what the policy asks for", "")
	e.remedy(report.Act{Action: report.Unregister, Target: binding}, "takes the policy out of force", "nothing that it denies is denied until it is bound again")
	return e
}

// conversionEnd returns the end for a webhook that converts custom resources.
func (i *inquiry) conversionEnd(o *object.Object, d *health.Definition, why health.Unreachable) end {
	e := endAt(o, reason.WebhookUnreachable)
	e.at = i.health.Known(d.Ref)
	e.chain[0].Waits = string(reason.WebhookUnreachable)
	if e.at != o.Ref {
		e.chain = append(e.chain, report.WaitLink{Ref: e.at, Waits: string(reason.WebhookUnreachable)})
	}
	e.detail = "the conversion webhook of " + d.Plural + "." + d.Group
	e.prove(why.Reason, &why.Service, why.Text())
	i.repairService(&e, d.Conversion.Service)
	e.remedy(report.Act{Action: report.StopConverting, Target: e.at},
		"stops converting, so that instances can be read and deleted", "fields that only a conversion would carry over from one version to the other")
	return e
}

// admissionEnd returns the end for a webhook that has to admit a request.
func (i *inquiry) admissionEnd(o *object.Object, h *health.Webhook, why health.Unreachable) end {
	e := endAt(o, reason.WebhookUnreachable)
	e.at = object.Ref{APIVersion: h.APIVersion, Kind: h.Kind, Name: h.Configuration}
	e.chain = append(e.chain, report.WaitLink{Ref: e.at, Waits: string(reason.WebhookUnreachable)})
	e.detail = "the webhook " + h.Name
	e.prove(why.Reason, &why.Service, why.Text())
	i.repairService(&e, h.Client.Service)
	e.remedy(report.Act{Action: report.Unregister, Target: e.at}, "takes the webhooks of this configuration away", "nothing that they check or change is checked or changed until they are registered again")
	return e
}
