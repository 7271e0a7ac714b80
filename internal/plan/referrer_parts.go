package plan

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/internal/uses"
)

// ReferrerParts are the parts of the evidence that show what breaks, with their namespaces. An empty one
// stands for all.
type ReferrerParts map[health.Part][]string

// add adds a part in a namespace. It returns false if that is there already.
func (r ReferrerParts) add(part health.Part, namespace string) bool {
	if slices.Contains(r[part], namespace) || slices.Contains(r[part], "") {
		return false
	}
	if namespace == "" {
		r[part] = nil
	}
	r[part] = append(r[part], namespace)
	return true
}

// Include adds other parts, and reports whether some of them were not there.
func (r ReferrerParts) Include(others ReferrerParts) (added bool) {
	for part, namespaces := range others {
		for _, namespace := range namespaces {
			added = r.add(part, namespace) || added
		}
	}
	return added
}

// ReferrerPartsOf returns what must be read to know what the deletes of a plan break: only kinds that can
// refer to what goes, where the snapshot has objects of them.
func ReferrerPartsOf(snap *snapshot.Snapshot, p *report.Plan) ReferrerParts {
	parts := ReferrerParts{}
	for _, goes := range []departures{leaving(p, false), recreatedAccounts(p)} {
		for kind := range goes {
			for namespace := range goes.namespaces(kind) {
				parts.refer(snap, kind, namespace, false)
			}
		}
	}
	for i := range p.Effects { // a webhook may refuse pods that come back: see delayRecreation
		e := &p.Effects[i]
		if e.Object.Is(object.Pod) && e.Consequence != nil && e.Recreator != "" && anyWebhook(snap) && len(snap.In(object.Service.GroupResource(), e.Object.Namespace)) > 0 {
			parts.add(health.Services, e.Object.Namespace)
			parts.add(health.Slices, e.Object.Namespace)
		}
	}
	return parts
}

// anyWebhook reports whether a snapshot has admission webhooks.
func anyWebhook(snap *snapshot.Snapshot) bool {
	return len(snap.In(object.ValidatingWebhookConfiguration.GroupResource(), ""))+len(snap.In(object.MutatingWebhookConfiguration.GroupResource(), "")) > 0
}

// ReferrerPartsFor returns what must be read to know what refers to an object.
func ReferrerPartsFor(snap *snapshot.Snapshot, o *object.Object) ReferrerParts {
	parts := ReferrerParts{}
	parts.refer(snap, o.GroupKind(), o.Namespace, true)
	return parts
}

// refer adds the parts with references to a kind in a namespace. harmless is true if references that break
// nothing count, too.
func (r ReferrerParts) refer(snap *snapshot.Snapshot, to schema.GroupKind, namespace string, harmless bool) {
	for _, rule := range slices.Concat(uses.Users(to), uses.SeldomUsers(to)) {
		user, ok := snap.Resources.Preferred(rule.User.GroupResource())
		in := namespace
		if !user.Namespaced || rule.Anywhere() {
			in = ""
		}
		if ok && (harmless && !rule.Selects || rule.When != report.BreaksNever) && health.ReferrersIn(snap, user, in) {
			r.add(health.PartOfKind(rule.User), in)
		}
	}
	switch to {
	case object.Service.GroupKind:
		r.callers(snap, namespace)
	case object.Pod.GroupKind:
		if len(snap.In(object.Service.GroupResource(), namespace)) > 0 {
			r.add(health.Slices, namespace)
			r.callers(snap, namespace)
			for _, k := range backendUsers() {
				if user, ok := snap.Resources.Preferred(k.GroupResource()); ok && health.ReferrersIn(snap, user, namespace) {
					r.add(health.PartOfKind(k), namespace)
				}
			}
		}
	case object.APIService.GroupKind:
		r.aggregated(snap)
	case object.RoleBinding.GroupKind:
		r.add(health.RoleBindings, namespace)
	case object.ClusterRoleBinding.GroupKind:
		r.add(health.ClusterBindings, "")
	case uses.NetworkPolicy.GroupKind:
		r.add(health.PartOfKind(uses.NetworkPolicy), namespace)
	case uses.ReferenceGrant.GroupKind:
		r.add(health.PartOfKind(uses.ReferenceGrant), namespace)
	case object.PodDisruptionBudget.GroupKind:
		r.add(health.Budgets, namespace)
	case object.VolumeAttachment.GroupKind:
		r.add(health.Attachments, "")
	}
}

// backendUsers returns the kinds that need a Service with pods.
func backendUsers() []object.Kind {
	var kinds []object.Kind
	for _, rule := range uses.Users(object.Service.GroupKind) {
		if rule.Backend && !slices.ContainsFunc(kinds, func(k object.Kind) bool { return k.GroupKind == rule.User.GroupKind }) {
			kinds = append(kinds, rule.User)
		}
	}
	return kinds
}

// callers adds the parts with the Services of a namespace and those through which the API server calls
// them. Webhooks are always read.
func (r ReferrerParts) callers(snap *snapshot.Snapshot, namespace string) {
	r.add(health.Services, namespace)
	r.add(health.Slices, namespace)
	if len(snap.In(object.CRD.GroupResource(), "")) > 0 {
		r.add(health.Definitions, "")
	}
	r.aggregated(snap)
}

// aggregated adds the APIServices, if some are of aggregated APIs.
func (r ReferrerParts) aggregated(snap *snapshot.Snapshot) {
	if slices.ContainsFunc(snap.In(object.APIService.GroupResource(), ""), (*object.Object).Aggregated) {
		r.add(health.APIServices, "")
	}
}

// unreadCallers returns the lists that may hold webhooks, APIs or CRDs whose Service goes or loses its pods.
func (b *breakages) unreadCallers() []report.Gap {
	if len(b.idle) == 0 && !b.anyGoes(object.Service.GroupKind) {
		return nil
	}
	var gaps []report.Gap
	for _, k := range []object.Kind{object.ValidatingWebhookConfiguration, object.MutatingWebhookConfiguration, object.APIService, object.CRD} {
		some := !b.snap.Covers(k.Resource(), "") || slices.ContainsFunc(b.snap.In(k.GroupResource(), ""), func(o *object.Object) bool {
			return !o.Is(object.APIService) || o.Aggregated()
		})
		if c := b.health.Evidence().CompletenessOf(health.PartOfKind(k), ""); some && !c.Whole {
			gaps = append(gaps, b.health.GapOf(k.Resource(), "", c.Why))
		}
	}
	for at := range b.idle {
		for _, g := range b.health.UnreadReferrers(object.Service.GroupKind, at.Namespace, false) {
			if slices.ContainsFunc(backendUsers(), func(k object.Kind) bool { return k.Plural == g.Resource && k.Group == object.GroupOf(g.APIVersion) }) {
				gaps = append(gaps, g)
			}
		}
	}
	return gaps
}
