package commands

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// refusing is a policy that refuses every write to a ConfigMap of a namespace.
const refusing = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: refuse-NS}
spec:
  matchConstraints:
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: NS}}
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE, UPDATE, DELETE], resources: [configmaps]}]
  validations: [{expression: "false", message: not in this namespace}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: refuse-NS}
spec: {policyName: refuse-NS, validationActions: [Deny]}
`

// TestServerDryRun has the API server try what collect, remove-finalizer and undo would
// send: each of their requests, and no write. What admission or permissions refuse is said,
// and is exit code 1.
func TestServerDryRun(t *testing.T) {
	s := enter(t)
	s.garbage("a")
	s.create(`{apiVersion: v1, kind: ConfigMap, metadata: {name: both, ownerReferences: [` +
		`{apiVersion: v1, kind: ConfigMap, name: alive, uid: ` + s.uid("alive") + `}, {apiVersion: v1, kind: ConfigMap, name: gone, uid: gone}]}}`)
	s.create(`{apiVersion: v1, kind: ConfigMap, metadata: {name: held, finalizers: [example.com/one, example.com/two]}}`)
	s.kubectl(nil, "delete", "configmap", "held", "-n", s.namespace, "--wait=false")
	t.Cleanup(func() {
		s.kubectl(nil, "patch", "configmap", "held", "-n", s.namespace, "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
	})
	s.configMap("lost", "", "")
	s.confirmed("delete", "configmap/lost", "-n", s.namespace, "--wait=false").want(t, 0)
	everything := readers[0]
	s.admit(everything)
	before := s.world()

	commands := map[string][]string{
		"collect -n " + s.namespace:                                         {"DELETE a", "DELETE below-a", "PATCH both"},
		"remove-finalizer configmap/held example.com/one -n " + s.namespace: {"PATCH held"},
		"undo latest": {"POST"},
	}
	try := func(t *testing.T, code int, says string, more ...string) {
		t.Helper()
		for line, want := range commands {
			p := s.proxy(nil)
			args := slices.Concat(strings.Fields(line), []string{"--dry-run=server"}, p.flags(), more)
			accepted := len(want)
			if code != 0 {
				accepted = 0
			}
			a := s.gc(s.ctx, args...).want(t, code, fmt.Sprintf("tried %s and would accept %d.", requests(len(want)), accepted), says)
			if strings.Contains(a.stdout+a.stderr, "--confirm=sha256:") != (code == 0) {
				t.Errorf("%s: the command to paste is shown where the server accepts the plan, and nowhere else:\n%s", line, a.stderr)
			}
			var got []string
			for _, x := range p.rehearsed() {
				_, name, _ := strings.Cut(x.path, "/configmaps")
				got = append(got, strings.TrimSpace(x.method+" "+strings.TrimPrefix(name, "/")))
			}
			slices.Sort(got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: what was tried (-want +got):\n%s", line, diff)
			}
			if w := p.writes(); len(w) > 0 {
				t.Errorf("%s: written: %+v", line, w)
			}
		}
		s.unchanged(before)
	}
	t.Run("accepted", func(t *testing.T) { try(t, 0, "Nothing was written") })
	t.Run("without permissions", func(t *testing.T) {
		try(t, 1, `would be refused: configmaps`, "--as="+everything.user(s))
	})
	t.Run("refused by admission", func(t *testing.T) {
		policy := []byte(strings.ReplaceAll(refusing, "NS", s.namespace))
		s.kubectl(policy, "create", "-f", "-")
		defer func() {
			s.kubectl(policy, "delete", "-f", "-")
			s.until("the policy is gone", func() bool { return s.tryDelete("alive") == nil })
		}()
		s.until("the policy is in force", func() bool { return s.tryDelete("alive") != nil })
		// What a policy denies the collector is known before anything is tried.
		for line := range commands {
			if !strings.HasPrefix(line, "collect ") {
				continue
			}
			p := s.proxy(nil)
			a := s.gc(s.ctx, slices.Concat(strings.Fields(line), []string{"--dry-run=server"}, p.flags())...)
			if said := strings.Join(strings.Fields(a.stdout+a.stderr), " "); !strings.Contains(said, "not in this namespace") || strings.Contains(said, "--confirm=sha256:") {
				t.Errorf("%s: the policy is not said, or a command to paste is:\n%s", line, said)
			}
			if tried, written := p.rehearsed(), p.writes(); len(tried)+len(written) > 0 {
				t.Errorf("%s: tried %+v, written %+v", line, tried, written)
			}
			delete(commands, line)
		}
		try(t, 1, "not in this namespace")
	})
}

// tryDelete has the server try to delete a ConfigMap.
func (s *stage) tryDelete(name string) error {
	_, err := plane.Kubectl(s.ctx, nil, "delete", "configmap", name, "-n", s.namespace, "--dry-run=server")
	return err
}

// requests is a number of them.
func requests(n int) string {
	if n == 1 {
		return "1 request"
	}
	return fmt.Sprintf("%d requests", n)
}
