package health

import (
	"encoding/json"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/cel"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Policy is a ValidatingAdmissionPolicy. Without a binding it does nothing.
//
// A MutatingAdmissionPolicy is not read: it never sees a DELETE.
//
// Upstream: apiserver/pkg/admission/plugin/policy/mutating/plugin.go NewPlugin.
type Policy struct {
	Ref object.Ref `json:"-"`
	// Ignored is true if the failure policy is Ignore: an expression that fails, or a binding that
	// is misconfigured, admits the request.
	Ignored     bool        `json:"ignored,omitzero"`
	Constraints Constraints `json:"constraints,omitzero"`
	// ParamKind is the kind of the objects that its expressions may read. It is empty for none.
	ParamKind object.Ref `json:"paramKind,omitzero"`
	// Conditions all have to be true for the policy to apply.
	Conditions []Expression `json:"conditions,omitempty"`
	Variables  []Expression `json:"variables,omitempty"`
	// A request is admitted if all Validations are true and no expression of Annotations fails.
	Validations []Validation `json:"validations,omitempty"`
	Annotations []Expression `json:"annotations,omitempty"`
}

// AsksForUser reports whether an expression of the policy depends on the user that sends a request.
func (p *Policy) AsksForUser() bool {
	asks := func(e Expression) bool { return strings.Contains(e.Text, "userInfo") }
	return slices.ContainsFunc(p.Conditions, asks) || slices.ContainsFunc(p.Variables, asks) || slices.ContainsFunc(p.Annotations, asks) ||
		slices.ContainsFunc(p.Validations, func(v Validation) bool { return asks(v.Expression) || v.Words != nil && asks(*v.Words) })
}

// Expression is a named CEL expression of a policy.
type Expression struct {
	Name, Text string
	cel.Expression
}

// MarshalJSON writes the expression as text.
func (e Expression) MarshalJSON() ([]byte, error) {
	return json.Marshal(expressionBody{e.Name, e.Text})
}

// UnmarshalJSON parses the expression again.
func (e *Expression) UnmarshalJSON(text []byte) error {
	var b expressionBody
	err := json.Unmarshal(text, &b)
	*e = expressionOf(b.Name, b.Expression)
	return err
}

// Validation is an expression, and the message of the API server if it is false.
type Validation struct {
	Expression Expression `json:"expression"`
	Message    string     `json:"message,omitzero"`
	// Words is the messageExpression, which is preferred to Message. nil for none.
	Words *Expression `json:"words,omitzero"`
	// Reason is the reason of the answer. It is empty for Invalid, the default.
	Reason metav1.StatusReason `json:"reason,omitzero"`
}

// PolicyBinding applies a policy.
type PolicyBinding struct {
	Ref object.Ref `json:"-"`
	// Policy is the name of the policy.
	Policy string `json:"policy"`
	// Denies is true if a validation that is false refuses the request instead of only warning or
	// writing into the audit log.
	Denies bool `json:"denies,omitzero"`
	// Constraints narrow those of the policy.
	Constraints Constraints `json:"constraints,omitzero"`
	// Param selects the objects that the expressions read. nil for none.
	Param *ParamRef `json:"param,omitzero"`
}

// ParamRef names an object, or selects several.
type ParamRef struct {
	Name      string                `json:"name"`
	Namespace string                `json:"namespace"`
	Selector  *metav1.LabelSelector `json:"selector"`
	// NotFound is Allow or Deny.
	NotFound string `json:"parameterNotFoundAction"`
}

// Constraints say which requests a policy or a binding applies to.
type Constraints struct {
	// Rules are in the form of webhook rules. Without rules all requests match.
	Rules    []WebhookRule `json:"resourceRules"`
	Excluded []WebhookRule `json:"excludeResourceRules"`
	// MatchPolicy is Exact or Equivalent. Empty means Equivalent.
	MatchPolicy string               `json:"matchPolicy"`
	Namespaces  metav1.LabelSelector `json:"namespaceSelector"`
	Objects     metav1.LabelSelector `json:"objectSelector"`
}

// expressionBody is a match condition or a variable.
type expressionBody struct {
	Name       string `json:"name,omitzero"`
	Expression string `json:"expression"`
}

// policyBody has the fields that are read from a ValidatingAdmissionPolicy.
type policyBody struct {
	Spec struct {
		FailurePolicy string `json:"failurePolicy"`
		ParamKind     struct {
			APIVersion string `json:"apiVersion"`
			Kind       string `json:"kind"`
		} `json:"paramKind"`
		Constraints Constraints      `json:"matchConstraints"`
		Conditions  []expressionBody `json:"matchConditions"`
		Variables   []expressionBody `json:"variables"`
		Validations []struct {
			Expression        string `json:"expression"`
			Message           string `json:"message"`
			MessageExpression string `json:"messageExpression"`

			Reason metav1.StatusReason `json:"reason"`
		} `json:"validations"`
		Annotations []struct {
			Key        string `json:"key"`
			Expression string `json:"valueExpression"`
		} `json:"auditAnnotations"`
	} `json:"spec"`
}

// policyBindingBody has the fields that are read from a ValidatingAdmissionPolicyBinding.
type policyBindingBody struct {
	Spec struct {
		Policy      string      `json:"policyName"`
		Actions     []string    `json:"validationActions"`
		Constraints Constraints `json:"matchResources"`
		Param       *ParamRef   `json:"paramRef"`
	} `json:"spec"`
}

func (s *Shown) takePolicy(b *body, d *policyBody) {
	p := Policy{Ref: b.ref(), Ignored: d.Spec.FailurePolicy == "Ignore", Constraints: d.Spec.Constraints,
		ParamKind:  object.Ref{APIVersion: d.Spec.ParamKind.APIVersion, Kind: d.Spec.ParamKind.Kind},
		Conditions: expressionsOf(d.Spec.Conditions), Variables: expressionsOf(d.Spec.Variables),
	}
	for _, v := range d.Spec.Validations {
		one := Validation{Expression: expressionOf("", v.Expression), Message: strings.TrimSpace(v.Message), Reason: v.Reason}
		if v.MessageExpression != "" {
			words := expressionOf("", v.MessageExpression)
			one.Words = &words
		}
		p.Validations = append(p.Validations, one)
	}
	for _, a := range d.Spec.Annotations {
		p.Annotations = append(p.Annotations, expressionOf(a.Key, a.Expression))
	}
	s.Policies = append(s.Policies, p)
}

func expressionsOf(list []expressionBody) []Expression {
	return object.Mapped(list, func(e expressionBody) Expression { return expressionOf(e.Name, e.Expression) })
}

func expressionOf(name, text string) Expression {
	return Expression{Name: name, Text: strings.TrimSpace(text), Expression: cel.Parse(text)}
}

func (s *Shown) takePolicyBinding(b *body, d *policyBindingBody) {
	// In v1.26 a binding had no actions, and denied.
	p := PolicyBinding{Ref: b.ref(), Policy: d.Spec.Policy, Constraints: d.Spec.Constraints, Param: d.Spec.Param, Denies: len(d.Spec.Actions) == 0}
	for _, action := range d.Spec.Actions {
		p.Denies = p.Denies || action == "Deny"
	}
	s.PolicyBindings = append(s.PolicyBindings, p)
}

// constraintsMatch reports whether constraints match a write, and whether that is certain.
//
// Upstream: apiserver/pkg/admission/plugin/policy/matching/matching.go Matcher.Matches, matchesResourceRules.
func (s *Assessment) constraintsMatch(c *Constraints, w Write, r object.Resource) (yes, sure bool) {
	namespace := s.namespaceOf(w.Object)
	if namespace == nil && w.Object.Namespace != "" && byName(&c.Namespaces) {
		namespace = labelledByName(&object.Object{Ref: object.Namespace.Ref("", w.Object.Namespace)})
	}
	takes, known := matchSelectors(&c.Namespaces, &c.Objects, labelledByName(w.Object), namespace)
	if !takes && known {
		return false, true
	}
	excluded, certain := s.anyRuleMatches(c.Excluded, c.MatchPolicy == "Exact", w, r)
	if excluded && certain {
		return false, true
	}
	sure = known && (!excluded || certain)
	if len(c.Rules) == 0 {
		return true, sure
	}
	covered, certain := s.anyRuleMatches(c.Rules, c.MatchPolicy == "Exact", w, r)
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

// anyRuleMatches reports whether one of the rules covers a write. It is not sure if the rule names
// single objects and the request may not name its object.
func (s *Assessment) anyRuleMatches(rules []WebhookRule, exact bool, w Write, r object.Resource) (yes, sure bool) {
	for _, rule := range rules {
		if !s.matchesRules(&Webhook{Rules: []WebhookRule{rule}, Exact: exact}, w, r) {
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
func (s *Assessment) namespaceOf(o *object.Object) *object.Object {
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

// params are the parameter objects of a policy. Its expressions are evaluated once for each.
type params struct {
	values []cel.Value
	// unseen is true if some of them may be missing. wrong is why the binding cannot be used.
	unseen bool
	wrong  string
}

// paramsOf returns the params of a binding for a write.
//
// Upstream: apiserver/pkg/admission/plugin/policy/generic/policy_dispatcher.go CollectParams.
func (s *Assessment) paramsOf(p *Policy, b *PolicyBinding, o *object.Object) params {
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
	for _, x := range s.objectsOf(r.GroupKind()) {
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

// ParamObjects returns the objects that the expressions of a policy may read for a binding: of all namespaces
// if the binding names none. It returns false if there may be more of them.
func (s *Assessment) ParamObjects(p *Policy, b *PolicyBinding) (list []*object.Object, whole bool) {
	if p.ParamKind.Kind == "" || b.Param == nil {
		return nil, true
	}
	is, err := paramSelector(b.Param)
	if err != nil {
		return nil, false
	}
	for _, x := range s.objectsOf(p.ParamKind.GroupKind()) {
		if (x.Namespace == "" || b.Param.Namespace == "" || x.Namespace == b.Param.Namespace) && is(x) {
			list = append(list, x)
		}
	}
	r, err := s.snap.Resources.For(p.ParamKind.APIVersion, p.ParamKind.Kind)
	return list, b.Param.Name != "" || err == nil && s.snap.Covers(r, b.Param.Namespace)
}

func paramSelector(ref *ParamRef) (func(*object.Object) bool, error) {
	if ref.Name != "" || ref.Selector == nil {
		return func(o *object.Object) bool { return o.Name == ref.Name }, nil
	}
	match, err := metav1.LabelSelectorAsSelector(ref.Selector)
	return func(o *object.Object) bool { return match.Matches(o.Labels) }, err
}
