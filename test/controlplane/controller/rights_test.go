package controller

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	rbac "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"github.com/google/go-cmp/cmp"
)

// tool runs the program with a home of its own.
func tool(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Env = []string{"HOME=" + t.TempDir(), "KUBECONFIG=" + plane.Kubeconfig}
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errOut.String()
}

// printed are the rules of the ClusterRole that `rbac` prints.
func printed(t *testing.T, args ...string) []rbac.PolicyRule {
	t.Helper()
	code, out, errOut := tool(t, append([]string{"rbac"}, args...)...)
	if code != 0 {
		t.Fatalf("%d: %s", code, errOut)
	}
	return rulesOf(t, out)
}

// rulesOf are the rules of the first document.
func rulesOf(t *testing.T, text string) []rbac.PolicyRule {
	t.Helper()
	first, _, _ := strings.Cut(text, "\n---\n")
	var role rbac.ClusterRole
	if err := yaml.Unmarshal([]byte(first), &role); err != nil {
		t.Fatal(err)
	}
	return role.Rules
}

// same compares rules with those of a manifest.
func same(t *testing.T, what string, want []rbac.PolicyRule, file string) {
	t.Helper()
	got := rulesOf(t, string(kubectl(t, nil, "create", "--dry-run=client", "-o", "yaml", "-f", filepath.Join("..", "..", "..", "deploy", "base", file))))
	if len(got) == 0 { // kubectl makes a list of several
		var list struct{ Items []rbac.ClusterRole }
		if err := yaml.Unmarshal(kubectl(t, nil, "create", "--dry-run=client", "-o", "yaml", "-f", filepath.Join("..", "..", "..", "deploy", "base", file)), &list); err != nil {
			t.Fatal(err)
		}
		got = list.Items[0].Rules
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: -printed +shipped\n%s", what, diff)
	}
}

// grant gives a user of a new name what a role says, and returns the name.
func grant(t *testing.T, name string, rules []rbac.PolicyRule) string {
	t.Helper()
	role := "test-" + name
	text, err := yaml.Marshal(rules)
	if err != nil {
		t.Fatal(err)
	}
	manifest := fmt.Sprintf("apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: %s}\nrules:\n%s---\n"+
		"apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: %s}\n"+
		"roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: %s}\n"+
		"subjects: [{kind: User, apiGroup: rbac.authorization.k8s.io, name: %s}]\n", role, text, role, role, name)
	kubectl(t, []byte(manifest), "create", "-f", "-")
	t.Cleanup(func() { kubectl(t, []byte(manifest), "delete", "--wait=false", "-f", "-") })
	last := rules[len(rules)-1]
	allowed(t, name, body{"verb": last.Verbs[0], "group": last.APIGroups[0], "resource": last.Resources[0]})
	return name
}

// without takes one right away: a verb on a resource that is named.
func without(t *testing.T, rules []rbac.PolicyRule, verb, resource string) []rbac.PolicyRule {
	t.Helper()
	var left []rbac.PolicyRule
	taken := false
	for _, r := range rules {
		if i := strings.Index(" "+strings.Join(r.Resources, " ")+" ", " "+resource+" "); i < 0 || r.APIGroups[0] != "" {
			left = append(left, r)
			continue
		}
		taken = true
		rest, one := r, r
		rest.Resources, one.Resources, one.Verbs = nil, []string{resource}, nil
		for _, name := range r.Resources {
			if name != resource {
				rest.Resources = append(rest.Resources, name)
			}
		}
		for _, v := range r.Verbs {
			if v != verb {
				one.Verbs = append(one.Verbs, v)
			}
		}
		left = append(left, rest, one)
	}
	if !taken {
		t.Fatalf("%s is not named", resource)
	}
	return left
}

// With the printed rights a command works; with one less it says what it lacks.
func TestRights(t *testing.T) {
	namespace := space(t)
	configMap(t, namespace, "garbage", absent())
	read, collect := printed(t, "--for=read", "--kinds"), printed(t, "--for=collect", "--kinds")

	if code, out, errOut := tool(t, "check", "--require-complete", "--as="+grant(t, "reader", read)); code == 1 || code == 4 || !strings.Contains(out, "garbage") {
		t.Errorf("read: exit code %d\n%s%s", code, out, errOut)
	}
	blind := grant(t, "blind", without(t, read, "list", "secrets"))
	if code, out, errOut := tool(t, "check", "--as="+blind); code == 1 || !strings.Contains(out, "Secrets could not be read") {
		t.Errorf("read without secrets: exit code %d\n%s%s", code, out, errOut)
	}
	if _, out, errOut := tool(t, "check", "-o", "json", "--as="+blind); !regexp.MustCompile(`(?i)secrets[^}]*forbidden|forbidden[^}]*secrets`).MatchString(out) {
		t.Errorf("read without secrets: the document does not say why\n%s%s", out, errOut)
	}

	// A plan names its requests, so that what is missing shows before the first one.
	weak := grant(t, "weak", without(t, collect, "delete", "configmaps"))
	if code, out, errOut := carryOut(t, weak, "collect", "-n", namespace); code == 0 || !strings.Contains(errOut, "delete configmaps") {
		t.Errorf("collect without delete: exit code %d\n%s%s", code, out, errOut)
	}
	if get(t, path(namespace, "configmaps", "garbage")) == nil {
		t.Fatal("it went all the same")
	}
	if code, out, errOut := carryOut(t, grant(t, "collector", collect), "collect", "-n", namespace); code != 0 {
		t.Errorf("collect: exit code %d\n%s%s", code, out, errOut)
	}
	if get(t, path(namespace, "configmaps", "garbage")) != nil {
		t.Error("the garbage is still there")
	}
}

// The commands about single objects need no more than is printed, either.
func TestRightsOfOne(t *testing.T) {
	namespace := space(t)
	configMap(t, namespace, "plain")
	post(t, "/api/v1/namespaces/"+namespace+"/configmaps", body{"metadata": body{"name": "stuck", "finalizers": []string{"example.com/hold"}}})
	remove(t, path(namespace, "configmaps", "stuck"), "Background")

	deleter := grant(t, "deleter", printed(t, "--for=delete", "--kinds"))
	if code, out, errOut := carryOut(t, deleter, "delete", "configmap/plain", "-n", namespace); code != 0 {
		t.Errorf("delete: exit code %d\n%s%s", code, out, errOut)
	}
	if get(t, path(namespace, "configmaps", "plain")) != nil {
		t.Error("it is not deleted")
	}
	free := []string{"remove-finalizer", "configmap/stuck", "example.com/hold", "-n", namespace}
	if code, out, errOut := carryOut(t, deleter, free...); code == 0 || !strings.Contains(errOut, "patch configmaps") {
		t.Errorf("remove-finalizer with the permissions of delete: exit code %d\n%s%s", code, out, errOut)
	}
	if code, out, errOut := carryOut(t, grant(t, "freer", printed(t, "--for=remove-finalizer", "--kinds")), free...); code != 0 {
		t.Errorf("remove-finalizer: exit code %d\n%s%s", code, out, errOut)
	}
	if get(t, path(namespace, "configmaps", "stuck")) != nil {
		t.Error("it is still stuck")
	}
}

// carryOut carries a command out as a user: the plan first, then what it says with
// the digest of the plan.
func carryOut(t *testing.T, user string, command ...string) (code int, stdout, stderr string) {
	t.Helper()
	command = append(command, "--as="+user)
	// What other tests have left may come or go: then the plan is another one when it is
	// confirmed, and it is looked at again.
	until(t, "a plan is the same when it is confirmed", func() bool {
		dry, out, errOut := tool(t, append(command, "--dry-run")...)
		digest := regexp.MustCompile(`--confirm[= ](\S+)`).FindStringSubmatch(out + errOut)
		if digest == nil {
			t.Fatalf("the plan has no digest: exit code %d\n%s%s", dry, out, errOut)
		}
		code, stdout, stderr = tool(t, append(command, "--confirm="+digest[1])...)
		return code != 5 || !strings.Contains(stderr, "of another plan")
	})
	return code, stdout, stderr
}
