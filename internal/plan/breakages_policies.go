package plan

import (
	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// policyParams adds the bindings of admission policies that lose the last object that their expressions read:
//
//	parameterNotFoundAction: Deny     the binding refuses every request that it matches
//	parameterNotFoundAction: Allow    it checks nothing any more
//
// The first is like the second if the policy has the failure policy Ignore.
//
// Source: kubernetes, apiserver/pkg/admission/plugin/policy/generic/policy_dispatcher.go CollectParams;
// apiserver/pkg/admission/plugin/policy/validating/dispatcher.go Dispatch.
func (b *breakages) policyParams() {
	seen := b.health.Evidence()
	for n := range seen.PolicyBindings {
		binding := &seen.PolicyBindings[n]
		for m := range seen.Policies {
			if policy := &seen.Policies[m]; policy.Ref.Name == binding.Policy && b.goes.at(policy.Ref.Coordinates()) == nil {
				b.paramsOf(policy, binding)
			}
		}
	}
}

// paramsOf adds a binding of a policy: once, or for each namespace of which it reads an object for the requests
// in that namespace.
func (b *breakages) paramsOf(policy *health.Policy, binding *health.PolicyBinding) {
	lost, left := map[string]report.Breakage{}, map[string]bool{}
	var namespaces []string
	objects, whole := b.health.ParamObjects(policy, binding)
	for _, o := range objects {
		target, certainty, goes := b.lost(o.Coordinates())
		one, again := lost[o.Namespace]
		switch {
		case !goes:
			left[o.Namespace] = true
			continue
		case !again:
			one.Reference, one.Certainty = target, report.Sure
			namespaces = append(namespaces, o.Namespace)
		}
		if certainty != report.Sure || !whole {
			one.Certainty = report.Possible
		}
		lost[o.Namespace] = one
	}
	for _, namespace := range namespaces {
		one, perNamespace := lost[namespace], namespace != "" && binding.Param.Namespace == ""
		if left[namespace] || perNamespace && b.goes.at(object.Namespace.Ref("", namespace).Coordinates()) != nil {
			continue
		}
		one.Object = b.health.Known(binding.Ref)
		one.Field, one.Label, one.When, one.Message = "spec.paramRef", "paramRef", report.BreaksNow, "nothing is checked any more"
		if binding.Param.NotFound == "Deny" && !policy.Ignored {
			one.Message, one.ClusterWide = refusedByPolicy(policy, binding)+" are refused", !perNamespace
			if perNamespace {
				one.Message = "in its namespace, " + one.Message
			}
		}
		b.add(one)
	}
}

// refusedByPolicy returns the requests that a binding of a policy must admit.
func refusedByPolicy(policy *health.Policy, binding *health.PolicyBinding) string {
	narrow := binding.Constraints
	selects := func(c *health.Constraints) bool {
		return len(c.Namespaces.MatchLabels)+len(c.Namespaces.MatchExpressions)+len(c.Objects.MatchLabels)+len(c.Objects.MatchExpressions)+len(c.Excluded) > 0
	}
	h := health.Webhook{Rules: policy.Constraints.Rules, Conditional: len(policy.Conditions) > 0 || selects(&policy.Constraints) || selects(&narrow)}
	if len(narrow.Rules) > 0 {
		h.Rules = narrow.Rules
	}
	return refusedWrites(&h)
}
