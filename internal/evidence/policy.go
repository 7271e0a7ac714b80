package evidence

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
	Expression
	Message string
	// Words is the messageExpression, which is preferred to Message. nil for none.
	Words *Expression
}

// validationLine is the JSON form of a Validation.
type validationLine struct {
	Expression Expression  `json:"expression"`
	Message    string      `json:"message,omitzero"`
	Words      *Expression `json:"words,omitzero"`
}

// MarshalJSON writes the expressions as text.
func (v Validation) MarshalJSON() ([]byte, error) {
	return json.Marshal(validationLine{v.Expression, v.Message, v.Words})
}

// UnmarshalJSON parses the expressions again.
func (v *Validation) UnmarshalJSON(text []byte) error {
	var l validationLine
	err := json.Unmarshal(text, &l)
	*v = Validation{l.Expression, l.Message, l.Words}
	return err
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

func (s *Shown) takePolicy(b *body, raw []byte) error {
	var d policyBody
	if err := decode(raw, &d); err != nil {
		return err
	}
	p := Policy{Ref: b.ref(), Ignored: d.Spec.FailurePolicy == "Ignore", Constraints: d.Spec.Constraints,
		ParamKind:  object.Ref{APIVersion: d.Spec.ParamKind.APIVersion, Kind: d.Spec.ParamKind.Kind},
		Conditions: expressionsOf(d.Spec.Conditions), Variables: expressionsOf(d.Spec.Variables),
	}
	for _, v := range d.Spec.Validations {
		one := Validation{Expression: expressionOf("", v.Expression), Message: strings.TrimSpace(v.Message)}
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
	return nil
}

func expressionsOf(list []expressionBody) []Expression {
	var expressions []Expression
	for _, e := range list {
		expressions = append(expressions, expressionOf(e.Name, e.Expression))
	}
	return expressions
}

func expressionOf(name, text string) Expression {
	return Expression{Name: name, Text: strings.TrimSpace(text), Expression: cel.Parse(text)}
}

func (s *Shown) takePolicyBinding(b *body, raw []byte) error {
	var d policyBindingBody
	if err := decode(raw, &d); err != nil {
		return err
	}
	// In v1.26 a binding had no actions, and denied.
	p := PolicyBinding{Ref: b.ref(), Policy: d.Spec.Policy, Constraints: d.Spec.Constraints, Param: d.Spec.Param, Denies: len(d.Spec.Actions) == 0}
	for _, action := range d.Spec.Actions {
		p.Denies = p.Denies || action == "Deny"
	}
	s.PolicyBindings = append(s.PolicyBindings, p)
	return nil
}
