package commands

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

const (
	tokens      = "serviceaccount-token-controller"
	aggregation = "clusterrole-aggregation-controller"
)

// plan reads the plan of a dry run.
func (a answer) plan(t *testing.T) *report.Plan {
	t.Helper()
	p := &report.Plan{}
	if err := json.Unmarshal([]byte(a.stdout), p); err != nil {
		t.Fatalf("%v\n%s%s", err, a.stdout, a.stderr)
	}
	return p
}

// changedIn is the one object of a plan that stays and that a controller changes.
func changedIn(t *testing.T, p *report.Plan) (name, reason, controller string) {
	t.Helper()
	for i := range p.Effects {
		e := &p.Effects[i]
		if c := e.Consequence; c != nil && c.Change == report.ChangeEdited && c.When == report.ControllerActs && c.Certainty == report.Sure {
			if name != "" {
				t.Errorf("%s changes, too", e.Object.Name)
			}
			name, reason, controller = e.Object.Name, e.Reason, c.Controller
		}
	}
	return name, reason, controller
}

// TestTokenLeavesItsAccount: the ServiceAccount of a token that is deleted is in the plan and in
// the backup, it loses the name of the token, and gets it back with an undo, once the Secret is there.
func TestTokenLeavesItsAccount(t *testing.T) {
	s := enter(t, collector, tokens)
	s.create(`
apiVersion: v1
kind: ServiceAccount
metadata: {name: ci}
secrets: [{name: pull}, {name: ci-token}]
---
apiVersion: v1
kind: Secret
metadata: {name: ci-token, annotations: {kubernetes.io/service-account.name: ci}}
type: kubernetes.io/service-account-token
`)
	s.until("the token is filled in", func() bool { return s.says("secret/ci-token", "{.data.token}") != "" })
	dry := s.gc(s.ctx, "delete", "secret/ci-token", "-n", s.namespace, "--dry-run", "-o", "json").want(s.t, 0)
	name, reason, controller := changedIn(t, dry.plan(t))
	if name != "ci" || reason != "TokenReferenceRemoved" || controller != tokens {
		t.Errorf("%q changes: %s by %s", name, reason, controller)
	}
	s.confirmed("delete", "secret/ci-token", "-n", s.namespace).want(s.t, 0)
	names := func() []string { return strings.Fields(s.says("serviceaccount/ci", "{.secrets[*].name}")) }
	s.until("the account does not name it any more", func() bool { return slices.Equal(names(), []string{"pull"}) })
	s.gc(s.ctx, "undo", "latest", "--dry-run", "-o", "json").want(t, 4, `"SecretsLost"`, "not added again: ci-token")

	s.create(`
apiVersion: v1
kind: Secret
metadata: {name: ci-token, annotations: {kubernetes.io/service-account.name: ci}}
type: kubernetes.io/service-account-token
`)
	s.kubectl([]byte(`{"secrets":[{"name":"pull"},{"name":"new"}]}`), "patch", "serviceaccount/ci", "-n", s.namespace, "--type=merge", "--patch-file=/dev/stdin")
	s.gc(s.ctx, "undo", "latest", "--dry-run").want(t, 0, "secrets   sa/ci", "the names that it lost are added to its secrets: ci-token")
	s.confirmed("undo", "latest", "-o", "json").want(t, 0, `"Secrets"`, `"Restored"`)
	if got := names(); !slices.Equal(got, []string{"pull", "new", "ci-token"}) {
		t.Errorf("the account names %q", got)
	}
	s.gc(s.ctx, "undo", "latest", "--dry-run", "-o", "json").want(t, 0, `"StillAlive"`)
}

// TestRoleLeavesItsAggregate: the ClusterRole that aggregates one which is deleted is in the plan,
// and loses those of its rules that no other one allows.
func TestRoleLeavesItsAggregate(t *testing.T) {
	s := enter(t, collector, aggregation)
	s.kubectl([]byte(strings.ReplaceAll(`
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: NAME-all}
aggregationRule: {clusterRoleSelectors: [{matchLabels: {to: NAME}}]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: NAME-pods, labels: {to: NAME}}
rules: [{apiGroups: [""], resources: [pods], verbs: [get]}, {apiGroups: [""], resources: [secrets], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: NAME-same, labels: {to: NAME}}
rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]
`, "NAME", s.namespace)), "create", "-f", "-")
	all := "clusterrole/" + s.namespace + "-all"
	resources := func() []string { return strings.Fields(s.says(all, "{.rules[*].resources[*]}")) }
	s.until("the rules are aggregated", func() bool { return len(resources()) == 2 })
	for _, role := range []struct {
		name    string
		changes string
		left    []string
	}{{"-same", "", []string{"pods", "secrets"}}, {"-pods", s.namespace + "-all", nil}} {
		target := "clusterrole/" + s.namespace + role.name
		dry := s.gc(s.ctx, "delete", target, "--dry-run", "-o", "json").want(s.t, 0)
		if name, _, _ := changedIn(t, dry.plan(t)); name != role.changes {
			t.Errorf("without %s %q changes, want %q", role.name, name, role.changes)
		}
		s.confirmed("delete", target).want(s.t, 0)
		s.until("the rules are those that are left", func() bool { return slices.Equal(resources(), role.left) })
		if role.changes != "" {
			s.confirmed("undo", "latest", "-o", "json").want(t, 0, `"RulesComeBack"`)
			s.until("the rules come back", func() bool { return len(resources()) == 2 })
		}
	}
}
