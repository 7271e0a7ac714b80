package evidence

import (
	"maps"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/cel"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Denial is a policy that refuses a write, or of which it is not known whether it does.
type Denial struct {
	// By is the policy, and Binding its binding. Without one By is the Usage that says that the
	// object is in use, or the object itself where a label protects it.
	By, Binding object.Ref
	// Message is what the API server says where a policy surely refuses; without a binding, all
	// there is to say.
	Message string
	// Open is what is not known.
	Open Openness
	// Expression is what could not be evaluated; empty for what is no expression.
	Expression string
}

// Openness is why it is not known whether a policy refuses a write.
type Openness uint8

// What is not known of a policy.
const (
	// Decided is said of a policy that surely refuses.
	Decided Openness = iota
	ExpressionOpen
	// SelectorOpen: the labels of a namespace, or the name in the request, were not seen.
	SelectorOpen
	ParamsOpen
	// GuardOpen: whether a webhook refuses what a label protects was not seen.
	GuardOpen
)

// Text says what a denial is, in the words of the API server where it surely refuses.
func (d *Denial) Text() string {
	is := "ValidatingAdmissionPolicy '" + d.By.Name + "' with binding '" + d.Binding.Name + "'"
	if d.Binding.Name == "" {
		return d.Message
	}
	switch d.Open {
	case Decided:
		return is + " denied request: " + d.Message
	case ExpressionOpen:
		return is + " may refuse it: what decides could not be evaluated: " + Clip(d.Expression)
	case SelectorOpen:
		return is + " may refuse it: whether it selects the object or its namespace is not known"
	default:
		return is + " may refuse it: the objects that its expressions read are not known"
	}
}

// guard is a policy with one of its bindings.
type guard struct {
	policy  *Policy
	binding *PolicyBinding
}

// guardsOf returns the policies with their bindings that could refuse a write.
func guardsOf(seen *World) []guard {
	var guards []guard
	for n := range seen.PolicyBindings {
		b := &seen.PolicyBindings[n]
		for m := range seen.Policies {
			p := &seen.Policies[m]
			// Params that are missing refuse a request whatever the actions are.
			if p.Ref.Name == b.Policy && (b.Denies || p.ParamKind.Kind != "" && !p.Ignored) {
				guards = append(guards, guard{p, b})
			}
		}
	}
	return guards
}

// Denies returns a policy that surely refuses a write, and one that may; nil for none. Policies never see requests
// for themselves.
//
// Upstream: apiserver/pkg/admission/plugin/policy/validating/dispatcher.go dispatcher.Dispatch.
// Upstream: apiserver/pkg/admission/plugin/webhook/predicates/rules/rules.go IsExemptAdmissionConfigurationResource.
func (s *Surroundings) Denies(w Write) (surely, perhaps *Denial) {
	if len(s.guards) == 0 && !s.marked || w.Object.Group() == "admissionregistration.k8s.io" {
		return nil, nil
	}
	r, err := s.snap.Resources.For(w.Object.APIVersion, w.Object.Kind)
	if err != nil {
		return nil, nil
	}
	if d := s.guarded(w, r); d != nil {
		if d.Open == Decided {
			return d, nil
		}
		perhaps = d
	}
	for _, g := range s.guards {
		switch d := s.judge(g, w, r); {
		case d == nil:
		case d.Open == Decided:
			return d, nil
		case perhaps == nil:
			perhaps = d
		}
	}
	return nil, perhaps
}

// judge returns what a policy with a binding says about a write; nil if it admits it.
func (s *Surroundings) judge(g guard, w Write, r object.Resource) *Denial {
	yes, sure := s.applies(&g.policy.Constraints, w, r)
	if !yes {
		return nil
	}
	bound, certain := s.applies(&g.binding.Constraints, w, r)
	if !bound {
		return nil
	}
	d := s.decide(g, w, r)
	if d != nil && !(sure && certain) {
		return g.open(SelectorOpen, "")
	}
	return d
}

func (g guard) open(why Openness, expression string) *Denial {
	return &Denial{By: g.policy.Ref, Binding: g.binding.Ref, Open: why, Expression: expression}
}

func (g guard) deny(message string) *Denial {
	return &Denial{By: g.policy.Ref, Binding: g.binding.Ref, Message: message}
}

// decide is judge for a write to which the policy applies.
func (s *Surroundings) decide(g guard, w Write, r object.Resource) *Denial {
	p := s.paramsOf(g.policy, g.binding, w.Object)
	if p.wrong != "" && !g.policy.Ignored {
		return g.deny(p.wrong)
	}
	if !g.binding.Denies {
		if p.unseen && !g.policy.Ignored && len(p.values) == 0 {
			return g.open(ParamsOpen, "")
		}
		return nil
	}
	var open *Denial
	if p.unseen {
		open = g.open(ParamsOpen, "")
	}
	names := s.celNames(w, r)
	for _, value := range p.values {
		names["params"] = value
		d := g.evaluate(names, w)
		if d != nil && d.Open == Decided {
			return d
		}
		if open == nil {
			open = d
		}
	}
	return open
}

// evaluate evaluates the expressions of a policy with one param.
//
// Upstream: apiserver/pkg/admission/plugin/policy/validating/validator.go validator.Validate.
// Upstream: apiserver/pkg/admission/plugin/webhook/matchconditions/matcher.go matcher.Match.
func (g guard) evaluate(names map[string]cel.Value, w Write) *Denial {
	d, applies := g.conditions(names)
	if !applies {
		return nil
	}
	if d != nil && d.Open == Decided {
		return d
	}
	names = maps.Clone(names)
	names["variables"] = cel.Value{Kind: cel.Map, Fields: map[string]cel.Value{}, Open: true}
	for _, v := range g.policy.Variables {
		names["variables"].Fields[v.Name] = v.Evaluate(names)
	}
	open := d
	for i := range g.policy.Validations {
		v := &g.policy.Validations[i]
		switch x := g.validate(v, names, w); {
		case x == nil:
		case x.Open != Decided || d != nil: // it may not apply
			if open == nil {
				open = x
			}
		default:
			return x
		}
	}
	for _, a := range g.policy.Annotations {
		switch v := a.Evaluate(names); {
		case g.policy.Ignored || v.Kind == cel.String || v.Kind == cel.Null:
		case v.Kind == cel.Unknown || d != nil:
			if open == nil {
				open = g.open(ExpressionOpen, a.Text)
			}
		default:
			return g.deny("the expression of its audit annotation " + a.Name + " fails")
		}
	}
	return open
}

// conditions evaluates the match conditions. It returns false if the policy surely does not apply,
// and a denial if one fails, or if it is not known.
func (g guard) conditions(names map[string]cel.Value) (d *Denial, applies bool) {
	var broken *Denial
	for _, c := range g.policy.Conditions {
		switch v := c.Evaluate(names); {
		case v.Kind == cel.Bool && !v.True:
			return nil, false
		case v.Kind == cel.Bool:
		case v.Kind == cel.Unknown:
			d = g.open(ExpressionOpen, c.Text)
		case broken == nil:
			broken = g.deny("its match condition " + c.Name + " fails: " + c.Text)
		}
	}
	switch {
	case broken != nil && g.policy.Ignored:
		return nil, false
	case broken != nil && d == nil:
		return broken, true
	}
	return d, true
}

// validate evaluates one validation. That of the policy which `rbac --for=protect` prints asks for an
// annotation, and is known by its text.
func (g guard) validate(v *Validation, names map[string]cel.Value, w Write) *Denial {
	result := v.Evaluate(names)
	if v.Text == object.ProtectExpression && w.Operation == Remove {
		result = cel.Is(!w.Object.Protection().Has(object.Protect))
	}
	switch {
	case result.Kind == cel.Bool && result.True:
		return nil
	case result.Kind == cel.Unknown:
		return g.open(ExpressionOpen, v.Text)
	case result.Kind == cel.Bool:
		return g.deny(v.message(names))
	case g.policy.Ignored:
		return nil
	}
	return g.deny("expression '" + v.Text + "' resulted in error")
}

// message is what the API server says where the validation is false, as far as that is known.
func (v *Validation) message(names map[string]cel.Value) string {
	if v.Words != nil {
		if text := v.Words.Evaluate(names); text.Kind == cel.String && strings.TrimSpace(text.Text) != "" && !strings.Contains(text.Text, "\n") {
			return strings.TrimSpace(text.Text)
		}
	}
	if v.Message != "" {
		return v.Message
	}
	return "failed expression: " + v.Text
}
