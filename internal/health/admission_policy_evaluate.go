package health

import (
	"maps"
	"net/http"
	"strings"

	authentication "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/cel"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Denial is a policy that refuses a write or may refuse it.
type Denial struct {
	// By is the policy, and Binding its binding. Without a binding, By is the Usage that protects
	// the object, or the object itself if a label protects it.
	By, Binding object.Ref
	// Message is the message of the API server if a policy certainly refuses. Without a binding it
	// is the complete text.
	Message string
	// Reason is the reason that a validation sets. It is empty for the default.
	Reason metav1.StatusReason
	// Open says what is unknown.
	Open Openness
	// Expression is the expression that could not be evaluated. It is empty for other unknowns.
	Expression string
}

// Openness is why it is unknown whether a policy refuses a write.
type Openness uint8

// The reasons.
const (
	// Decided means that nothing is unknown: the policy certainly refuses.
	Decided Openness = iota
	ExpressionOpen
	// SelectorOpen: the labels of a namespace, or the name in the request, are unknown.
	SelectorOpen
	ParamsOpen
	// GuardOpen: whether a webhook protects the labelled object is unknown.
	GuardOpen
)

// Status returns the reason and the status of the API server's answer.
//
// Upstream: apiserver/pkg/admission/plugin/policy/validating/policy_decision.go reasonToCode.
func (d *Denial) Status() (metav1.StatusReason, int32) {
	why := d.Reason
	if why == "" && d.Binding.Name == "" {
		why = metav1.StatusReasonForbidden
	}
	switch why {
	case metav1.StatusReasonForbidden:
		return why, http.StatusForbidden
	case metav1.StatusReasonUnauthorized:
		return why, http.StatusUnauthorized
	case metav1.StatusReasonRequestEntityTooLarge:
		return why, http.StatusRequestEntityTooLarge
	}
	return metav1.StatusReasonInvalid, http.StatusUnprocessableEntity
}

// Text describes a denial, in the words of the API server if it is certain.
func (d *Denial) Text() string {
	is := "ValidatingAdmissionPolicy '" + d.By.Name + "' with binding '" + d.Binding.Name + "'"
	if d.Binding.Name == "" {
		return d.Message
	}
	switch d.Open {
	case Decided:
		return is + " denied request: " + d.Message
	case ExpressionOpen:
		return is + " may refuse it: its expression could not be evaluated: " + Clip(d.Expression)
	case SelectorOpen:
		return is + " may refuse it: it is unknown whether it selects the object or its namespace"
	default:
		return is + " may refuse it: the objects that its expressions read are unknown"
	}
}

// boundPolicy is a policy with one of its bindings.
type boundPolicy struct {
	policy  *Policy
	binding *PolicyBinding
}

// boundPoliciesOf returns the pairs of policies and bindings that could refuse a write.
func boundPoliciesOf(seen *Evidence) []boundPolicy {
	var guards []boundPolicy
	for n := range seen.PolicyBindings {
		b := &seen.PolicyBindings[n]
		for m := range seen.Policies {
			p := &seen.Policies[m]
			// Missing params refuse a request whatever the actions are.
			if p.Ref.Name == b.Policy && (b.Denies || p.ParamKind.Kind != "" && !p.Ignored) {
				guards = append(guards, boundPolicy{p, b})
			}
		}
	}
	return guards
}

// Denies returns the denial of a policy or a protecting webhook that certainly refuses a write, or
// else of one that may. Policies never see requests for objects of admissionregistration.k8s.io.
//
// Upstream: apiserver/pkg/admission/plugin/policy/validating/dispatcher.go dispatcher.Dispatch.
// Upstream: apiserver/pkg/admission/plugin/webhook/predicates/rules/rules.go IsExemptAdmissionConfigurationResource.
func (s *Assessment) Denies(w Write) (surely, perhaps *Denial) {
	if len(s.boundPolicies) == 0 && !s.anyProtected || w.Object.Group() == "admissionregistration.k8s.io" {
		return nil, nil
	}
	r, err := s.snap.Resources.For(w.Object.APIVersion, w.Object.Kind)
	if err != nil {
		return nil, nil
	}
	if d := s.denialByWebhook(w, r); d != nil {
		if d.Open == Decided {
			return d, nil
		}
		perhaps = d
	}
	for _, g := range s.boundPolicies {
		switch d := s.evaluateBinding(g, w, r); {
		case d == nil:
		case d.Open == Decided:
			return d, nil
		case perhaps == nil:
			perhaps = d
		}
	}
	return nil, perhaps
}

// evaluateBinding returns the denial of a policy with a binding; nil if it admits the write.
func (s *Assessment) evaluateBinding(g boundPolicy, w Write, r object.Resource) *Denial {
	yes, sure := s.constraintsMatch(&g.policy.Constraints, w, r)
	if !yes {
		return nil
	}
	bound, certain := s.constraintsMatch(&g.binding.Constraints, w, r)
	if !bound {
		return nil
	}
	d := s.evaluateParams(g, w, r)
	if d != nil && !(sure && certain) {
		return g.undecided(SelectorOpen, "")
	}
	return d
}

func (g boundPolicy) undecided(why Openness, expression string) *Denial {
	return &Denial{By: g.policy.Ref, Binding: g.binding.Ref, Open: why, Expression: expression}
}

func (g boundPolicy) deny(message string) *Denial {
	return &Denial{By: g.policy.Ref, Binding: g.binding.Ref, Message: message}
}

// evaluateParams implements evaluateBinding for a write that the policy applies to.
func (s *Assessment) evaluateParams(g boundPolicy, w Write, r object.Resource) *Denial {
	p := s.paramsOf(g.policy, g.binding, w.Object)
	if p.wrong != "" && !g.policy.Ignored {
		return g.deny(p.wrong)
	}
	if !g.binding.Denies {
		if p.unseen && !g.policy.Ignored && len(p.values) == 0 {
			return g.undecided(ParamsOpen, "")
		}
		return nil
	}
	var open *Denial
	if p.unseen {
		open = g.undecided(ParamsOpen, "")
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
func (g boundPolicy) evaluate(names map[string]cel.Value, w Write) *Denial {
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
		case x.Open != Decided || d != nil: // the policy may not apply
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
				open = g.undecided(ExpressionOpen, a.Text)
			}
		default:
			return g.deny("the expression of its audit annotation " + a.Name + " fails")
		}
	}
	return open
}

// conditions evaluates the match conditions. applies is false if the policy certainly does not
// apply. d is set if the evaluation of a condition fails, or if its result is unknown.
func (g boundPolicy) conditions(names map[string]cel.Value) (d *Denial, applies bool) {
	var broken *Denial
	for _, c := range g.policy.Conditions {
		switch v := c.Evaluate(names); {
		case v.Kind == cel.Bool && !v.True:
			return nil, false
		case v.Kind == cel.Bool:
		case v.Kind == cel.Unknown:
			d = g.undecided(ExpressionOpen, c.Text)
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

// validate evaluates one validation. The policy that `rbac --for=protect` prints reads an
// annotation, and a snapshot keeps only what the annotation means. Its validation is recognized by
// its text.
func (g boundPolicy) validate(v *Validation, names map[string]cel.Value, w Write) *Denial {
	result := v.Expression.Evaluate(names)
	if v.Expression.Text == object.ProtectExpression && w.Operation == Remove {
		result = cel.NewBool(!w.Object.Protection().Has(object.Protect))
	}
	switch {
	case result.Kind == cel.Bool && result.True:
		return nil
	case result.Kind == cel.Unknown:
		return g.undecided(ExpressionOpen, v.Expression.Text)
	case result.Kind == cel.Bool:
		d := g.deny(v.message(names))
		d.Reason = v.Reason
		return d
	case g.policy.Ignored:
		return nil
	}
	return g.deny("expression '" + v.Expression.Text + "' resulted in error")
}

// message returns the message of the API server for a false validation, as far as it is known.
func (v *Validation) message(names map[string]cel.Value) string {
	if v.Words != nil {
		if text := v.Words.Evaluate(names); text.Kind == cel.String && strings.TrimSpace(text.Text) != "" && !strings.Contains(text.Text, "\n") {
			return strings.TrimSpace(text.Text)
		}
	}
	if v.Message != "" {
		return v.Message
	}
	return "failed expression: " + v.Expression.Text
}

// unknownValue is the unknown value of a field that is set.
var unknownValue = cel.Value{}

// celNames returns the variables of a policy's expressions with the known fields: metadata that a
// deletion does not change.
//
// Upstream: apiserver/pkg/admission/plugin/cel/activation.go evaluationActivation.ResolveName.
func (s *Assessment) celNames(w Write, r object.Resource) map[string]cel.Value {
	old := celObject(w.Object)
	request := celRequest(w, r)
	if u := s.evidence.User; u != nil && w.Ours {
		request.Fields["userInfo"] = celUser(u)
	}
	names := map[string]cel.Value{"oldObject": old, "object": old, "request": request}
	if w.Operation == Remove {
		names["object"] = cel.Value{Kind: cel.Null}
	}
	switch namespace := s.namespaceOf(w.Object); {
	case namespace != nil:
		names["namespaceObject"] = celObject(namespace)
	case w.Object.Namespace == "":
		names["namespaceObject"] = cel.Value{Kind: cel.Null}
	}
	return names
}

// celRequest returns the request. Its name is absent if the write is Unnamed.
//
// Upstream: apiserver/pkg/admission/plugin/cel/condition.go CreateAdmissionRequest.
func celRequest(w Write, r object.Resource) cel.Value {
	fields := map[string]cel.Value{
		"operation": cel.NewString(w.Operation),
		"kind":      openMap(map[string]cel.Value{"group": cel.NewString(r.Group), "kind": cel.NewString(r.Kind)}),
		"resource":  openMap(map[string]cel.Value{"group": cel.NewString(r.Group), "resource": cel.NewString(r.Name)}),
	}
	if w.Object.Namespace != "" {
		fields["namespace"] = cel.NewString(w.Object.Namespace)
	}
	if !w.Unnamed {
		fields["name"] = cel.NewString(w.Object.Name)
	}
	if w.Subresource != "" {
		fields["subResource"] = cel.NewString(w.Subresource)
	}
	return openMap(fields)
}

// celUser returns a user. Empty fields are absent.
func celUser(u *authentication.UserInfo) cel.Value {
	fields := map[string]cel.Value{"username": cel.NewOptionalField(u.Username), "uid": cel.NewOptionalField(u.UID), "groups": celStrings(u.Groups), "extra": {Kind: cel.Absent}}
	if len(u.Extra) > 0 {
		extra := cel.Value{Kind: cel.Map, Fields: map[string]cel.Value{}}
		for key, texts := range u.Extra {
			extra.Fields[key] = cel.Value{Kind: cel.List, Items: celStrings(texts).Items}
		}
		fields["extra"] = extra
	}
	return cel.Value{Kind: cel.Map, Fields: fields}
}

// celStrings returns a list of strings. It is absent if the list is empty.
func celStrings(texts []string) cel.Value {
	if len(texts) == 0 {
		return cel.Value{Kind: cel.Absent}
	}
	return cel.Value{Kind: cel.List, Items: object.Mapped(texts, cel.NewString)}
}

// celObject returns the fields of an object that the snapshot knows and a deletion does not change.
func celObject(o *object.Object) cel.Value {
	labels := map[string]string{}
	for key, value := range o.Labels.All {
		labels[key] = value
	}
	meta := map[string]cel.Value{"name": cel.NewString(o.Name), "namespace": cel.NewOptionalField(o.Namespace), "labels": cel.NewStringMap(labels)}
	if o.UID != "" {
		meta["uid"] = cel.NewString(string(o.UID))
	}
	if o.BeingDeleted() {
		meta["deletionTimestamp"] = unknownValue
	}
	if annotations := celAnnotations(o.Protection()); len(annotations) > 0 {
		meta["annotations"] = openMap(annotations)
	}
	return openMap(map[string]cel.Value{"kind": cel.NewString(o.Kind), "metadata": openMap(meta)})
}

// celAnnotations returns the annotations that are known to be set.
func celAnnotations(p object.Protection) map[string]cel.Value {
	set := map[string]cel.Value{}
	if p.Has(object.Protect) {
		set[object.ProtectAnnotation] = unknownValue
	}
	if p.Has(object.HelmKeep) {
		set[object.ResourcePolicyAnnotation] = unknownValue
	}
	return set
}

// openMap returns a map that may have unknown entries.
func openMap(fields map[string]cel.Value) cel.Value {
	return cel.Value{Kind: cel.Map, Fields: fields, Open: true}
}
