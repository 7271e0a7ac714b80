package evidence

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/cel"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// applies reports whether constraints match a write, and whether that is certain.
//
// Upstream: apiserver/pkg/admission/plugin/policy/matching/matching.go Matcher.Matches, matchesResourceRules.
func (s *Surroundings) applies(c *Constraints, w Write, r object.Resource) (yes, sure bool) {
	namespace := s.namespaceOf(w.Object)
	if namespace == nil && w.Object.Namespace != "" && byName(&c.Namespaces) {
		namespace = labelledByName(&object.Object{Ref: object.Namespace.Ref("", w.Object.Namespace)})
	}
	takes, known := selects(&c.Namespaces, &c.Objects, labelledByName(w.Object), namespace)
	if !takes && known {
		return false, true
	}
	excluded, certain := s.covered(c.Excluded, c.MatchPolicy == "Exact", w, r)
	if excluded && certain {
		return false, true
	}
	sure = known && (!excluded || certain)
	if len(c.Rules) == 0 {
		return true, sure
	}
	covered, certain := s.covered(c.Rules, c.MatchPolicy == "Exact", w, r)
	return covered, !covered || sure && certain
}

// byName reports whether a selector uses only the name label of namespaces.
func byName(s *metav1.LabelSelector) bool {
	for key := range s.MatchLabels {
		if key != nameLabel {
			return false
		}
	}
	return !slices.ContainsFunc(s.MatchExpressions, func(e metav1.LabelSelectorRequirement) bool { return e.Key != nameLabel })
}

// covered reports whether one of the rules covers a write. It is not sure if the rule names single
// objects and the request may not name its object.
func (s *Surroundings) covered(rules []WebhookRule, exact bool, w Write, r object.Resource) (yes, sure bool) {
	for _, rule := range rules {
		if !s.asks(&Webhook{Rules: []WebhookRule{rule}, Exact: exact}, w, r) {
			continue
		}
		switch {
		case len(rule.Names) == 0:
			return true, true
		case w.Unnamed:
			yes = true
		case slices.Contains(rule.Names, w.Object.Name):
			return true, true
		}
	}
	return yes, false
}

// namespaceOf returns the namespace of an object, with the name label that every namespace has. It
// returns nil if the namespace was not read.
func (s *Surroundings) namespaceOf(o *object.Object) *object.Object {
	if o.Namespace == "" {
		return nil
	}
	if ns := s.snap.FindKind(object.Namespace, "", o.Namespace); ns != nil {
		return labelledByName(ns)
	}
	return nil
}

// nameLabel is the label that holds the name of a namespace.
const nameLabel = "kubernetes.io/metadata.name"

// labelledByName returns a namespace with the name label that the API server sets, even if a dump
// lacks it. It returns any other object unchanged.
//
// Upstream: pkg/apis/core/v1/defaults.go SetDefaults_Namespace.
func labelledByName(o *object.Object) *object.Object {
	if !o.Is(object.Namespace) || o.Labels.Has(nameLabel) {
		return o
	}
	labels := map[string]string{nameLabel: o.Name}
	for key, value := range o.Labels.All {
		labels[key] = value
	}
	c := o.Clone()
	c.Labels = object.LabelsOf(labels)
	return c
}

// params are the objects that the expressions of a policy are evaluated with, one at a time.
type params struct {
	values []cel.Value
	// unseen is true if some of them may be missing. wrong is why the binding cannot be used.
	unseen bool
	wrong  string
}

// paramsOf returns the params of a binding for a write.
//
// Upstream: apiserver/pkg/admission/plugin/policy/generic/policy_dispatcher.go CollectParams.
func (s *Surroundings) paramsOf(p *Policy, b *PolicyBinding, o *object.Object) params {
	null := params{values: []cel.Value{{Kind: cel.Null}}}
	if p.ParamKind.Kind == "" || b.Param == nil {
		return null
	}
	r, err := s.snap.Resources.For(p.ParamKind.APIVersion, p.ParamKind.Kind)
	if err != nil || !r.Served() {
		return params{unseen: true}
	}
	namespace := ""
	switch {
	case !r.Namespaced:
	case b.Param.Namespace != "":
		namespace = b.Param.Namespace
	case o.Namespace != "":
		namespace = o.Namespace
	case o.Is(object.Namespace):
		namespace = o.Name
	default:
		return params{wrong: "it reads objects of the namespace, and the object has none"}
	}
	is, err := paramSelector(b.Param)
	if err != nil {
		return params{unseen: true}
	}
	found := params{unseen: !s.snap.Covers(r, namespace)}
	for _, x := range s.objectsOf(schema.GroupKind{Group: r.Group, Kind: r.Kind}) {
		if x.Namespace == namespace && is(x) {
			found.values = append(found.values, celObject(x))
		}
	}
	if b.Param.Name != "" && len(found.values) > 0 {
		found.unseen = false
	}
	if len(found.values) == 0 && !found.unseen && b.Param.NotFound == "Deny" {
		return params{wrong: "no params found for policy binding with `Deny` parameterNotFoundAction"}
	}
	return found
}

func paramSelector(ref *ParamRef) (func(*object.Object) bool, error) {
	if ref.Name != "" || ref.Selector == nil {
		return func(o *object.Object) bool { return o.Name == ref.Name }, nil
	}
	match, err := metav1.LabelSelectorAsSelector(ref.Selector)
	return func(o *object.Object) bool { return match.Matches(o.Labels) }, err
}
