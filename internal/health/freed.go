package health

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Without returns the assessment once an object is gone that may obstruct deletions: an APIService, a
// configuration of webhooks, an admission policy or its binding, a Usage of Crossplane, a PodDisruptionBudget, or a
// CRD with a conversion webhook. It returns s itself if the object obstructs nothing. The two share their caches,
// also that of the drains: Evictions leaves out the budgets that are gone.
func (s *Assessment) Without(o object.Ref) *Assessment {
	gone := s.takeOut(o)
	if gone == nil {
		return s
	}
	e := *s.evidence
	e.APIServices = lacking(e.APIServices, gone.APIServices, func(a *APIService) string { return a.Name })
	e.Webhooks = lacking(e.Webhooks, gone.Webhooks, func(h *Webhook) string { return h.Kind + "/" + h.Configuration })
	e.Policies = lacking(e.Policies, gone.Policies, func(p *Policy) string { return p.Ref.Name })
	e.PolicyBindings = lacking(e.PolicyBindings, gone.PolicyBindings, func(b *PolicyBinding) string { return b.Ref.Name })
	e.Usages = lacking(e.Usages, gone.Usages, func(u *InUse) string { return u.Ref.Kind + "/" + u.Ref.Namespace + "/" + u.Ref.Name })
	e.Budgets = lacking(e.Budgets, gone.Budgets, func(b *Budget) string { return b.Ref.Namespace + "/" + b.Ref.Name })
	e.Definitions = lacking(e.Definitions, gone.Definitions, func(d *Definition) string { return d.Ref.Name })
	next := *s
	next.evidence, next.gone = &e, append(slices.Clip(s.gone), gone)
	if next.goneBudgets = maps.Clone(s.goneBudgets); len(gone.Budgets) > 0 {
		if next.goneBudgets == nil {
			next.goneBudgets = map[object.Ref]bool{}
		}
		next.goneBudgets[gone.Budgets[0].Ref] = true
		return &next // a budget refuses no write
	}
	next.findRefusals()
	return &next
}

// lacking returns the elements of list whose key is not one of gone.
func lacking[T any](list, gone []T, key func(*T) string) []T {
	if len(gone) == 0 {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), func(x T) bool {
		return slices.ContainsFunc(gone, func(g T) bool { return key(&g) == key(&x) })
	})
}

// takeOut returns the evidence of an object that may obstruct deletions; nil if it obstructs nothing.
func (s *Assessment) takeOut(o object.Ref) *Shown {
	if s.evidence == nil || !s.mayObstructHere(o) {
		return nil
	}
	e := s.evidence
	switch gone := (&Shown{}); {
	case o.Is(object.APIService):
		if gone.APIServices = having(e.APIServices, func(a *APIService) bool { return a.Name == o.Name }); len(gone.APIServices) == 0 {
			gone.APIServices = []APIService{{Name: o.Name}}
		}
		return gone
	case o.Is(object.ValidatingWebhookConfiguration), o.Is(object.MutatingWebhookConfiguration):
		gone.Webhooks = having(e.Webhooks, func(h *Webhook) bool { return h.Kind == o.Kind && h.Configuration == o.Name })
		return gone
	case o.Is(object.ValidatingAdmissionPolicy):
		gone.Policies = having(e.Policies, func(p *Policy) bool { return p.Ref.Name == o.Name })
		return gone
	case o.Is(object.ValidatingAdmissionPolicyBinding):
		gone.PolicyBindings = having(e.PolicyBindings, func(b *PolicyBinding) bool { return b.Ref.Name == o.Name })
		return gone
	case o.Is(object.PodDisruptionBudget):
		gone.Budgets = having(e.Budgets, func(b *Budget) bool { return b.Ref.Namespace == o.Namespace && b.Ref.Name == o.Name })
		return gone
	case o.Is(object.CRD):
		for _, d := range s.unreachableConversions {
			if d.Ref.Name == o.Name {
				gone.Definitions = []Definition{*d}
				return gone
			}
		}
	default:
		gone.Usages = having(e.Usages, func(u *InUse) bool { return s.Known(u.Ref).WithoutUID() == o.WithoutUID() })
		if len(gone.Usages) > 0 {
			return gone
		}
	}
	return nil
}

// MayObstruct reports whether objects of the kind of an object can obstruct deletions.
func MayObstruct(o object.Ref) bool {
	switch o.Kind {
	case object.APIService.Kind, object.ValidatingWebhookConfiguration.Kind, object.MutatingWebhookConfiguration.Kind,
		object.ValidatingAdmissionPolicy.Kind, object.ValidatingAdmissionPolicyBinding.Kind,
		object.CRD.Kind, object.PodDisruptionBudget.Kind, usage.Kind, clusterUsage.Kind:
		return true
	default:
		return false
	}
}

// mayObstructHere is MayObstruct for this snapshot: it reports less, and never too little.
func (s *Assessment) mayObstructHere(o object.Ref) bool {
	switch o.Kind {
	case object.CRD.Kind:
		return len(s.unreachableConversions) > 0
	case object.PodDisruptionBudget.Kind:
		return s.stopsDrains()[o.WithoutUID()]
	case usage.Kind, clusterUsage.Kind:
		return len(s.evidence.Usages) > 0
	default:
		return MayObstruct(o)
	}
}

// stopsDrains returns the budgets that stop the drain of a node for an object that is being deleted. A namespace
// may have thousands of budgets, and few of these do.
func (s *Assessment) stopsDrains() map[object.Ref]bool {
	if s.drainStoppers == nil {
		s.drainStoppers = map[object.Ref]bool{}
		for _, o := range s.snap.Objects {
			if !o.BeingDeleted() {
				continue
			}
			for _, x := range s.Evictions(s.DrainedNode(o)) {
				s.drainStoppers[s.Known(x.Budget.Ref).WithoutUID()] = true
			}
		}
	}
	return s.drainStoppers
}

func having[T any](list []T, is func(*T) bool) (found []T) {
	for i := range list {
		if is(&list[i]) {
			found = append(found, list[i])
		}
	}
	return found
}

// Unregistered reports whether the APIService of an API version is gone since the snapshot.
func (s *Assessment) Unregistered(apiVersion string) bool {
	group, version := object.SplitAPIVersion(apiVersion)
	return s.isGone(version + "." + group)
}

// fails reports whether discovery of an API may still fail: its APIService exists, or may.
func (s *Assessment) fails(api string) bool {
	absent := s.snap.Covers(object.APIService.Resource(), "") && s.snap.FindKind(object.APIService, "", api) == nil
	return !absent && !s.isGone(api)
}

func (s *Assessment) isGone(api string) bool {
	return slices.ContainsFunc(s.gone, func(gone *Shown) bool {
		return slices.ContainsFunc(gone.APIServices, func(a APIService) bool { return a.Name == api })
	})
}

// FreedBy returns the objects of a list that cannot be deleted because of another object. They may have other
// obstacles, too. The result is nil, and the list is not asked for, if the object obstructs no deletion.
func (s *Assessment) FreedBy(by object.Ref, list func() []*object.Object) (freed []*object.Object) {
	next := s.Without(by)
	if next == s {
		return nil
	}
	gone := next.gone[len(next.gone)-1]
	only := *s // without the other obstructions
	e := *s.evidence
	e.Shown = *gone
	if len(gone.Policies) > 0 {
		e.PolicyBindings = s.evidence.PolicyBindings
	}
	if len(gone.PolicyBindings) > 0 {
		e.Policies = s.evidence.Policies
	}
	only.evidence = &e
	only.anyProtected = false
	only.findRefusals()
	byLabel := s.protectionBy(gone)
	mayRefuse := len(only.unreachableWebhooks)+len(only.boundPolicies)+len(only.unreachableConversions) > 0 || byLabel != nil
	isRefused := func(w Write) bool {
		_, refused := only.Refuses(w)
		return refused || byLabel != nil && byLabel(w)
	}
	freed = []*object.Object{}
	objects, found, inNamespace := list(), map[*object.Object]bool{}, map[string]bool{}
	for _, o := range objects {
		if s.obstructs(gone, o) || mayRefuse && slices.ContainsFunc(s.pendingWrites(o), isRefused) {
			freed = append(freed, o)
			found[o], inNamespace[o.Namespace] = true, true
		}
	}
	for _, o := range objects {
		if o.Is(object.Namespace) && o.BeingDeleted() && inNamespace[o.Name] && !found[o] {
			freed = append(freed, o) // it waits for its content
		}
	}
	return freed
}

// pendingWrites returns the writes by which the deletion of an object may go on.
func (s *Assessment) pendingWrites(o *object.Object) []Write {
	switch {
	case o.Is(object.Namespace) && o.BeingDeleted():
		return []Write{{Operation: Update, Object: o}, {Operation: Update, Object: o, Subresource: "status"}, {Operation: Update, Object: o, Subresource: "finalize"}}
	case o.BeingDeleted() && len(o.Finalizers()) > 0:
		return []Write{{Operation: Update, Object: o}}
	case o.BeingDeleted():
		return nil
	}
	ns := s.snap.FindKind(object.Namespace, "", o.Namespace)
	return []Write{{Operation: Remove, Object: o, Unnamed: ns != nil && ns.BeingDeleted()}, {Operation: Update, Object: o}}
}

// protectionBy returns a function that reports whether objects that are gone make a difference for the webhooks
// that protect labelled objects; nil if they don't for any object. Such a webhook and a Usage obstruct a deletion
// only together. So each is judged with all of the other kind, and without the rest of its own.
func (s *Assessment) protectionBy(gone *Shown) func(Write) bool {
	if !s.anyProtected || len(gone.Webhooks)+len(gone.Usages) == 0 {
		return nil
	}
	with, without := *s.evidence, *s.evidence
	if len(gone.Usages) > 0 {
		with.Usages, without.Usages = gone.Usages, nil
	} else {
		with.Webhooks, without.Webhooks = gone.Webhooks, nil
	}
	before, after := *s, *s
	before.evidence, after.evidence = &with, &without
	return func(w Write) bool {
		r, err := s.snap.Resources.For(w.Object.APIVersion, w.Object.Kind)
		if err != nil {
			return false
		}
		denied, still := before.denialByWebhook(w, r), after.denialByWebhook(w, r)
		return denied != nil && (still == nil || denied.Open != still.Open)
	}
}

// obstructs reports whether objects that are gone keep a namespace, whose content could not be discovered or
// deleted because of them, or something whose node cannot be drained.
func (s *Assessment) obstructs(gone *Shown, o *object.Object) bool {
	if node := s.DrainedNode(o); node != "" && o.BeingDeleted() {
		return slices.ContainsFunc(s.Evictions(node), func(x Eviction) bool {
			return slices.ContainsFunc(gone.Budgets, func(b Budget) bool { return b.Ref == x.Budget.Ref })
		})
	}
	if !o.Is(object.Namespace) || !o.BeingDeleted() {
		return false
	}
	discovery, _ := Find(s.ConditionsOfNamespace(o.Name), discoveryFailure)
	for _, a := range gone.APIServices {
		if a.Service != nil && a.Available.Status != "" && !a.Available.True() || discovery.True() && slices.Contains(UnansweredAPIs(discovery.Message), a.Name) {
			return true
		}
	}
	if r, hidden := s.Unreadable(o.Name); hidden && slices.ContainsFunc(gone.Definitions, func(d Definition) bool { return d.Ref.Name == r.Definition.Ref.Name }) {
		return true
	}
	content, _ := Find(s.ConditionsOfNamespace(o.Name), "NamespaceDeletionContentFailure")
	return content.True() && failuresNaming(content.Message, gone) > 0
}

// passed reports whether a condition of a namespace names only failures of objects that are gone.
func (s *Assessment) passed(c Condition) bool {
	if len(s.gone) == 0 {
		return false
	}
	if c.Type == discoveryFailure {
		names := UnansweredAPIs(c.Message)
		return len(names) > 0 && !slices.ContainsFunc(names, s.fails)
	}
	counted, errors, _ := strings.Cut(c.Message, " remaining: ")
	failures, err := strconv.Atoi(counted[strings.LastIndex(counted, " ")+1:])
	named := strings.Count(errors, "unexpected items still remain in namespace: ")
	for _, gone := range s.gone {
		named += failuresNaming(errors, gone)
	}
	return err == nil && named >= failures
}

// failuresNaming counts the failures in a message of the namespace controller that name objects.
//
// Upstream: apiserver/pkg/admission/plugin/webhook/errors/statuserror.go ToStatusErr.
// Upstream: apiserver/pkg/util/webhook/error.go ErrCallingWebhook.Error.
func failuresNaming(message string, gone *Shown) (count int) {
	for _, h := range gone.Webhooks {
		count += strings.Count(message, `webhook "`+h.Name+`"`)
	}
	for _, p := range gone.Policies {
		count += strings.Count(message, "ValidatingAdmissionPolicy '"+p.Ref.Name+"' with binding ")
	}
	for _, b := range gone.PolicyBindings {
		count += strings.Count(message, " with binding '"+b.Ref.Name+"' denied request")
	}
	for _, d := range gone.Definitions {
		count += strings.Count(message, "conversion webhook for "+d.Group+"/")
	}
	return count
}
