package plan

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

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
		b.unguarded(b.networkPolicies(), report.Breakage{Field: "spec.podSelector", Label: "podSelector", When: report.BreaksNow, Message: "all traffic to and from its pods is allowed"},
			"traffic that only this policy allowed is refused")
	}
	if b.anyGoes(object.PodDisruptionBudget.GroupKind) {
		b.unguarded(b.budgets(), report.Breakage{Field: "spec.selector", Label: "selector", When: report.BreaksNextReconcile, Message: "evictions of its pods are not limited any more"}, "")
	}
}

// unguarded adds the workloads whose pods lose a guard. others is the message if another one is left for the
// pod; empty if that is no breakage.
func (b *breakages) unguarded(guards []podGuard, one report.Breakage, others string) {
	for _, g := range guards {
		target, certainty, goes := b.lost(g.ref.Coordinates())
		if !goes {
			continue
		}
		for _, pod := range b.snap.In(object.Pod.GroupResource(), g.ref.Namespace) {
			if !g.selector.Matches(pod.Labels) {
				continue
			}
			each := one
			each.Object, each.Reference, each.Certainty = pod.Ref, target, certainty
			if b.guarded(pod, guards) {
				each.Message = others
			}
			if each.Message != "" {
				b.add(each)
			}
		}
	}
}

// guarded reports whether a guard that stays selects a pod.
func (b *breakages) guarded(pod *object.Object, guards []podGuard) bool {
	for _, g := range guards {
		if b.goes[g.ref.Coordinates()] == nil && g.ref.Namespace == pod.Namespace && g.selector.Matches(pod.Labels) {
			return true
		}
	}
	return false
}

func (b *breakages) networkPolicies() (list []podGuard) {
	for _, user := range b.health.Referrers() {
		if !user.Ref.Is(uses.NetworkPolicy) {
			continue
		}
		for _, r := range user.References {
			if r.Selector == nil {
				continue
			}
			if selector, err := labels.Parse(*r.Selector); err == nil {
				list = append(list, podGuard{user.Ref, selector})
			}
		}
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
