package replay

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

// denial is a policy of admission that refuses what a deny directive says.
type denial struct {
	times int // how often it may still refuse; negative forever
	verb  string
}

const (
	policies  = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
	bindings  = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings"
	probe     = "/api/v1/namespaces/default/secrets/probe"
	probeBody = `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"probe","namespace":"default"}}`
)

// deny puts a policy in the place of the last one. It is in force when it refuses
// a dry run on the probe.
func (p *play) deny(ctx context.Context, words []string) error {
	d := denial{times: -1}
	var who []string
	for _, w := range words {
		key, value, _ := strings.Cut(w, "=")
		switch key {
		case "verb":
			d.verb = strings.ToUpper(value)
		case "kind", "name":
			field := map[string]string{"kind": "oldObject.kind", "name": "oldObject.metadata.name"}[key]
			who = append(who, fmt.Sprintf("%s == '%s'", field, value))
		case "times":
			if _, err := fmt.Sscan(value, &d.times); err != nil {
				return err
			}
		case "err":
			if value != "Forbidden" {
				return fmt.Errorf("%s: a policy cannot answer that", w)
			}
		default:
			return fmt.Errorf("%s: a policy cannot be told that", w)
		}
	}
	if err := p.allow(ctx); err != nil {
		return err
	}
	expression := "false"
	if len(who) > 0 {
		expression = fmt.Sprintf("!(oldObject.metadata.name == 'probe' || %s)", strings.Join(who, " && "))
	}
	policy := fmt.Sprintf(`{"metadata":{"name":"deny"},"spec":{"failurePolicy":"Fail","matchConstraints":{"resourceRules":[{
"apiGroups":["","apiextensions.k8s.io","example.com"],"apiVersions":["*"],"operations":[%q],"resources":["*"]}]},
"validations":[{"expression":%q,"message":"denied by a fault","reason":"Forbidden"}]}}`, d.verb, expression)
	for path, body := range map[string]string{
		policies: policy,
		bindings: `{"metadata":{"name":"deny"},"spec":{"policyName":"deny","validationActions":["Deny"]}}`,
	} {
		if _, err := p.Do(ctx, http.MethodPost, path, "application/json", []byte(body)); err != nil {
			return err
		}
	}
	p.denial = &d
	return p.awaitPolicy(ctx, d.verb, http.StatusForbidden)
}

// allow ends what deny began.
func (p *play) allow(ctx context.Context) error {
	if p.denial == nil {
		return nil
	}
	for _, path := range []string{bindings, policies} {
		if _, err := p.Do(ctx, http.MethodDelete, path+"/deny", "", nil); err != nil {
			return err
		}
	}
	verb := p.denial.verb
	p.denial = nil
	return p.awaitPolicy(ctx, verb, 0)
}

// spend counts a refusal.
func (p *play) spend(ctx context.Context, r reply) error {
	if p.denial == nil || !strings.Contains(r.status.Message, denied) {
		return nil
	}
	if p.denial.times--; p.denial.times == 0 {
		return p.allow(ctx)
	}
	return nil
}

// denied is how a policy introduces its message.
const denied = "ValidatingAdmissionPolicy 'deny' with binding 'deny' denied request: "

func (p *play) awaitPolicy(ctx context.Context, verb string, code int) error {
	if _, err := p.Do(ctx, http.MethodPost, "/api/v1/namespaces/default/secrets", "application/json", []byte(probeBody)); err != nil && cluster.Code(err) != http.StatusConflict {
		return err
	}
	method, body := http.MethodDelete, ""
	if verb == "UPDATE" {
		method, body = http.MethodPut, probeBody
	}
	return cluster.Await(ctx, "the policy of admission is in force, or is not", func(ctx context.Context) (bool, error) {
		_, err := p.Do(ctx, method, probe+"?dryRun=All", "application/json", []byte(body))
		if got := cluster.Code(err); got != code {
			return false, nil
		}
		if code != 0 {
			err = nil
		}
		return true, err
	})
}
