package oracle

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

// user is whom the program runs as: a service account of its own, so that the records
// tell its writes from those of everybody else.
func (t *trial) user() string { return fmt.Sprintf("runner%d", t.slot) }

// admit makes the user of a story, with its rights, and the directory of the program.
func (s *stage) admit(ctx context.Context, t *trial) error {
	var all []cluster.Stored
	add := func(key string, o fields) error {
		text, err := json.Marshal(o)
		all = append(all, cluster.Stored{Key: key, Manifest: text})
		return err
	}
	if err := add("serviceaccounts/"+accounts+"/"+t.user(), fields{
		"apiVersion": "v1", "kind": "ServiceAccount",
		"metadata": fields{"name": t.user(), "namespace": accounts, "uid": t.ours.uid("user"), "creationTimestamp": "2026-01-01T00:00:00Z"},
	}); err != nil {
		return err
	}
	const rbac = "rbac.authorization.k8s.io/v1"
	rule := func(verbs, resources []string) fields {
		return fields{"apiGroups": []string{"*"}, "resources": resources, "verbs": verbs}
	}
	rules := map[rights][]fields{
		everything:   {rule([]string{"*"}, []string{"*"})},
		impersonated: {rule([]string{"*"}, []string{"*"})},
		ownNamespace: {rule([]string{"*"}, []string{"*"})},
		readOnly:     {rule([]string{"get", "list", "watch"}, []string{"*"})},
		someKinds: {
			rule([]string{"get", "list", "watch"}, []string{"*"}),
			rule([]string{"*"}, []string{"configmaps", "databases", "pods", "deployments"}),
		},
	}
	name := t.ours.name("rights")
	uids := 0
	meta := func(namespace string) fields {
		uids++
		m := fields{"name": name, "uid": t.ours.uid(fmt.Sprintf("rights-%d", uids)), "creationTimestamp": "2026-01-01T00:00:00Z"}
		if namespace != "" {
			m["namespace"] = namespace
		}
		return m
	}
	subjects := []fields{{"kind": "ServiceAccount", "name": t.user(), "namespace": accounts}}
	if t.story.rights == ownNamespace {
		for _, of := range t.story.things {
			if of.kind != "Namespace" {
				continue
			}
			in := t.ours.name(of.name)
			role := fields{"apiVersion": rbac, "kind": "Role", "metadata": meta(in), "rules": rules[ownNamespace]}
			bound := fields{
				"apiVersion": rbac, "kind": "RoleBinding", "metadata": meta(in), "subjects": subjects,
				"roleRef": fields{"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name},
			}
			if err := add("roles/"+in+"/"+name, role); err != nil {
				return err
			}
			if err := add("rolebindings/"+in+"/"+name, bound); err != nil {
				return err
			}
		}
	} else {
		if err := add("clusterroles/"+name, fields{"apiVersion": rbac, "kind": "ClusterRole", "metadata": meta(""), "rules": rules[t.story.rights]}); err != nil {
			return err
		}
		bound := fields{
			"apiVersion": rbac, "kind": "ClusterRoleBinding", "metadata": meta(""), "subjects": subjects,
			"roleRef": fields{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
		}
		if err := add("clusterrolebindings/"+name, bound); err != nil {
			return err
		}
	}
	if err := s.Store(all); err != nil {
		return err
	}
	return s.equip(ctx, t)
}

// equip writes the kubeconfig of the user.
func (s *stage) equip(ctx context.Context, t *trial) error {
	var answer struct{ Status struct{ Token string } }
	err := cluster.Await(ctx, "there is a token", func(ctx context.Context) (bool, error) {
		text, err := s.send(ctx, http.MethodPost, kindNamed("ServiceAccount").path(accounts, t.user())+"/token",
			fields{"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": fields{"expirationSeconds": 36000}})
		if cluster.Code(err) == http.StatusNotFound {
			return false, nil
		} else if err != nil {
			return false, err
		}
		return true, json.Unmarshal(text, &answer)
	})
	if err != nil {
		return err
	}
	t.dir = filepath.Join(s.dir, t.user())
	if err := os.MkdirAll(t.dir, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(t.dir, "token"), []byte(answer.Status.Token), 0o600); err != nil {
		return err
	}
	as := ""
	if t.story.rights == impersonated {
		as = ", as: somebody, as-groups: [\"system:masters\"]"
	}
	server, authority := s.URL, s.CA
	if k := t.story.unserved(); k != nil {
		if t.gate, err = gated(s.URL, s.Client(), k.plural); err != nil {
			return err
		}
		server, authority = t.gate.URL, filepath.Join(t.dir, "authority")
		if err := os.WriteFile(authority, t.gate.authority(), 0o600); err != nil {
			return err
		}
	}
	if t.story.fault.ofLink() {
		if t.link, err = connect(s.URL); err != nil {
			return err
		}
		server = t.link.url()
	}
	return os.WriteFile(filepath.Join(t.dir, "config"), fmt.Appendf(nil, `{apiVersion: v1, kind: Config, current-context: theirs,
clusters: [{name: c, cluster: {server: %q, certificate-authority: %q}}],
users: [{name: u, user: {token: %q%s}}],
contexts: [{name: theirs, context: {cluster: c, user: u}}]}
`, server, authority, answer.Status.Token, as), 0o600)
}

func sentinelName(user string) string { return user + "-has-ended" }

// sentinel is a write of the user that comes after all others, and does nothing.
func (s *stage) sentinel(ctx context.Context, user string) error {
	t, err := os.ReadFile(filepath.Join(s.dir, user, "token"))
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodDelete, s.URL+kindNamed("ConfigMap").path(accounts, sentinelName(user)), http.NoBody)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+string(t))
	answer, err := s.Client().Do(request)
	if err != nil {
		return err
	}
	return answer.Body.Close()
}

// police has an admission policy deny every DELETE of what has the label, whoever asks: the
// collector and the namespace controller, too.
func (s *stage) police(ctx context.Context) error {
	const admission, name = "/apis/admissionregistration.k8s.io/v1/", "guarded." + group
	policy := fields{"metadata": fields{"name": name}, "spec": fields{
		"failurePolicy": "Fail",
		"matchConstraints": fields{"resourceRules": []fields{
			{"apiGroups": []string{"*"}, "apiVersions": []string{"*"}, "resources": []string{"*"}, "operations": []string{"DELETE"}},
		}},
		"validations": []fields{{
			"expression": "!has(oldObject.metadata.labels) || !('" + guarded + "' in oldObject.metadata.labels)", "message": "it is guarded",
		}},
	}}
	if _, err := s.send(ctx, http.MethodPost, admission+"validatingadmissionpolicies", policy); err != nil {
		return err
	}
	binding := fields{"metadata": fields{"name": name}, "spec": fields{"policyName": name, "validationActions": []string{"Deny"}}}
	if _, err := s.send(ctx, http.MethodPost, admission+"validatingadmissionpolicybindings", binding); err != nil {
		return err
	}
	probe := kindNamed("ConfigMap").path(accounts, "")
	return cluster.Await(ctx, "the policy denies", func(ctx context.Context) (bool, error) {
		_, err := s.send(ctx, http.MethodPost, probe, fields{"metadata": fields{"name": "probe", "labels": fields{guarded: "yes"}}})
		if err != nil && cluster.Code(err) != http.StatusConflict {
			return false, err
		}
		_, err = s.Do(ctx, http.MethodDelete, kindNamed("ConfigMap").path(accounts, "probe"), "", nil)
		switch code := cluster.Code(err); {
		case err == nil:
			return false, nil
		case code == http.StatusUnprocessableEntity || code == http.StatusForbidden:
			return true, nil
		}
		return false, err
	})
}
