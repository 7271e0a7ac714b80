package evidence

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Sorted returns the same evidence with every list sorted, so that results do not depend on the
// order of input. The lists are copies, their elements share memory with the original. It returns
// nil for nil.
func (w *World) Sorted() *World {
	if w == nil {
		return nil
	}
	s := *w
	s.Namespaces = byRef(w.Namespaces, func(x *Conditioned) object.Ref { return x.Ref })
	s.Definitions = byRef(w.Definitions, func(x *Definition) object.Ref { return x.Ref })
	s.Pods = byRef(w.Pods, func(x *Pod) object.Ref { return x.Ref })
	s.Workloads = byRef(w.Workloads, func(x *Workload) object.Ref { return x.Ref })
	s.Roles = byRef(w.Roles, func(x *Role) object.Ref { return x.Ref })
	s.Bindings = byRef(w.Bindings, func(x *Binding) object.Ref { return x.Ref })
	s.Policies = byRef(w.Policies, func(x *Policy) object.Ref { return x.Ref })
	s.PolicyBindings = byRef(w.PolicyBindings, func(x *PolicyBinding) object.Ref { return x.Ref })
	s.Attachments = byRef(w.Attachments, func(x *Attachment) object.Ref { return x.Ref })
	s.Usages = byRef(w.Usages, func(x *InUse) object.Ref { return x.Ref })
	s.Consumers = byRef(w.Consumers, func(x *Consumer) object.Ref { return x.Ref })
	s.Budgets = byRef(w.Budgets, func(x *Budget) object.Ref { return x.Ref })
	s.Terminating = byRef(w.Terminating, func(x *Terminating) object.Ref { return x.Ref })
	s.Nodes = byNames(w.Nodes, func(x *Node) []string { return []string{x.Name} })
	s.Services = byNames(w.Services, func(x *Service) []string { return []string{x.Namespace, x.Name} })
	s.Leases = byNames(w.Leases, func(x *Lease) []string { return []string{x.Namespace, x.Name} })
	s.APIServices = byNames(w.APIServices, func(x *APIService) []string { return []string{x.Name} })
	s.Webhooks = byNames(w.Webhooks, func(x *Webhook) []string { return []string{x.Kind, x.Configuration, x.Name} })
	s.Events = slices.Clone(w.Events)
	slices.SortStableFunc(s.Events, func(a, b Event) int {
		return cmp.Or(object.Compare(a.About, b.About), cmp.Compare(b.Last, a.Last), strings.Compare(a.Reason, b.Reason), strings.Compare(a.Note, b.Note))
	})
	return &s
}

func byRef[T any](list []T, ref func(*T) object.Ref) []T {
	c := slices.Clone(list)
	slices.SortStableFunc(c, func(a, b T) int { return object.Compare(ref(&a), ref(&b)) })
	return c
}

func byNames[T any](list []T, names func(*T) []string) []T {
	c := slices.Clone(list)
	slices.SortStableFunc(c, func(a, b T) int { return slices.Compare(names(&a), names(&b)) })
	return c
}
