package plan

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/uses"
)

// podGuard is an object that selects the pods to which it applies.
type podGuard struct {
	ref      object.Ref
	selector labels.Selector
}

// guards adds the workloads that stay and lose what guards their pods:
//
//	netpol/deny   goes, and no other NetworkPolicy selects the pods of deploy/web: they are not isolated any more
//	pdb/web       goes: a drain evicts all of them
//
// Source: kubernetes.io/docs/concepts/services-networking/network-policies: a pod is isolated if a policy
// selects it; the policies that do add up.
// Source: kubernetes, pkg/registry/core/pod/storage/eviction.go EvictionREST.Create.
func (b *breakages) guards() {
	if b.anyGoes(uses.NetworkPolicy.GroupKind) {
		b.unguarded(b.networkPolicies(), report.Breakage{Field: "spec.podSelector", Label: "podSelector", When: report.BreaksNow, Message: "no NetworkPolicy selects its pods any more: all traffic is allowed"},
			"only the other NetworkPolicies filter the traffic of its pods")
	}
	if b.anyGoes(object.PodDisruptionBudget.GroupKind) {
		b.unguarded(b.budgets(), report.Breakage{Field: "spec.selector", Label: "selector", When: report.BreaksNextReconcile, Message: "evictions of its pods are not limited any more"}, "")
	}
}

// unguarded adds the workloads that stay and whose pods lose a guard. others is the message if another one is
// left for the pod; empty if that is no breakage. Which traffic a policy is about is not known, so that a pod
// with another policy may lose the one that limited a direction.
func (b *breakages) unguarded(guards []podGuard, one report.Breakage, others string) {
	left := map[string][]podGuard{} // by namespace
	for _, g := range guards {
		if b.goes.at(g.ref.Coordinates()) == nil {
			left[g.ref.Namespace] = append(left[g.ref.Namespace], g)
		}
	}
	for _, g := range guards {
		target, certainty, goes := b.lost(g.ref.Coordinates())
		if !goes {
			continue
		}
		for _, pod := range b.snap.In(object.Pod.GroupResource(), g.ref.Namespace) {
			if b.leaves(pod) || !g.selector.Matches(pod.Labels) {
				continue
			}
			each := one
			each.Object, each.Reference, each.Certainty = pod.Ref, target, certainty
			if slices.ContainsFunc(left[pod.Namespace], func(g podGuard) bool { return g.selector.Matches(pod.Labels) }) {
				each.Message = others
			}
			if each.Message != "" {
				b.add(each)
			}
		}
	}
}

func (b *breakages) networkPolicies() (list []podGuard) {
	for user, selector := range b.health.Selecting(uses.NetworkPolicy) {
		list = append(list, podGuard{user, selector})
	}
	return list
}

func (b *breakages) budgets() (list []podGuard) {
	for _, x := range b.health.Evidence().Budgets {
		if selector, err := metav1.LabelSelectorAsSelector(x.Selector); err == nil {
			list = append(list, podGuard{b.health.Known(x.Ref), selector})
		}
	}
	return list
}

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
