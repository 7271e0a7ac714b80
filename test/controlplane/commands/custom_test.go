package commands

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// define makes a definition of carts of a group, which is gone after the test.
func (s *stage) define(group string) (carts string) {
	s.t.Helper()
	name := "carts." + group
	s.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", body{
		"metadata": body{"name": name, "annotations": body{"api-approved.kubernetes.io": "unapproved, a test"}},
		"spec": body{
			"group": group, "scope": "Namespaced", "names": body{"plural": "carts", "singular": "cart", "kind": "Cart", "listKind": "CartList"},
			"versions": []body{{"name": "v1", "served": true, "storage": true, "schema": body{"openAPIV3Schema": body{
				"type": "object", "x-kubernetes-preserve-unknown-fields": true,
			}}}},
		},
	})
	s.t.Cleanup(func() {
		_, _ = plane.Do(s.ctx, http.MethodDelete, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"+name, "", nil)
	})
	if err := plane.Serves(s.ctx, group, "carts", "v1"); err != nil {
		s.t.Fatal(err)
	}
	return "/apis/" + group + "/v1/namespaces/" + s.namespace + "/carts"
}

// customGroups are groups of definitions; one has a name like those of Kubernetes.
var customGroups = []string{"shop.example.com", "shop.k8s.io"}

// TestDeleteCustomDenied has admission deny one of two deletes of custom resources:
// neither is sent, as for every other kind.
func TestDeleteCustomDenied(t *testing.T) {
	for _, group := range customGroups {
		t.Run(group, func(t *testing.T) {
			s := enter(t)
			carts := s.define("denied." + group)
			for _, name := range []string{"a-plain", "denied"} {
				s.post(carts, body{"apiVersion": "denied." + group + "/v1", "kind": "Cart", "metadata": body{"name": name}})
			}
			policy := strings.ReplaceAll(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: NAME}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [denied.GROUP], apiVersions: [v1], operations: [DELETE], resources: [carts]}]}
  validations: [{expression: "oldObject.metadata.name != 'denied'", message: not this one}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: NAME}
spec: {policyName: NAME, validationActions: [Deny]}
`, "GROUP", group)
			policy = strings.ReplaceAll(policy, "NAME", s.namespace)
			s.kubectl([]byte(policy), "create", "-f", "-")
			defer s.kubectl([]byte(policy), "delete", "-f", "-")
			s.until("the policy is in force", func() bool {
				_, err := plane.Do(s.ctx, http.MethodDelete, carts+"/denied?dryRun=All", "", nil)
				return err != nil
			})
			before := s.world()
			kind := "carts.denied." + group
			s.confirmed("delete", kind+"/a-plain", kind+"/denied", "-n", s.namespace).want(t, 5, "not this one", "nothing was written")
			if diff := cmp.Diff(before, s.world()); diff != "" {
				t.Errorf("something was written:\n%s", diff)
			}
		})
	}
}

// TestCollectCustom has the collector patch custom resources: it releases them, and has
// them stop blocking each other. Each patch is one that they understand, at once.
func TestCollectCustom(t *testing.T) {
	for _, group := range customGroups {
		t.Run(group, func(t *testing.T) {
			s := enter(t)
			carts := s.define("patched." + group)
			cart := func(name string, finalizers []string, owners ...body) string {
				return s.post(carts, body{"apiVersion": "patched." + group + "/v1", "kind": "Cart", "metadata": body{
					"name": name, "finalizers": finalizers, "ownerReferences": owners,
				}})
			}
			of := func(name, uid string) body {
				return body{"apiVersion": "patched." + group + "/v1", "kind": "Cart", "name": name, "uid": uid, "blockOwnerDeletion": true}
			}
			// One with a living and an absent owner, and one of an owner that is orphaned from.
			lives, orphaning := cart("lives", nil), cart("orphaning", nil)
			cart("dangling", nil, of("lives", lives), of("gone", "0"))
			cart("released", nil, of("orphaning", orphaning))
			s.kubectl(nil, "delete", "carts.patched."+group, "orphaning", "-n", s.namespace, "--cascade=orphan", "--wait=false")
			p := s.proxy(nil)
			args := []string{"collect", "-n", s.namespace, "--patience=3s"}
			args = append(args, s.confirmation(args...))
			s.gc(s.ctx, append(args, p.flags()...)...).want(t, 0)
			patches := 0
			for _, x := range p.writes() {
				if x.code >= 300 {
					t.Errorf("%s %s: the server answers %d: %s", x.method, x.path, x.code, x.body)
				}
				if x.method == http.MethodPatch {
					patches++
				}
			}
			got := strings.TrimSpace(string(s.kubectl(nil, "get", "carts.patched."+group, "-n", s.namespace, "-o",
				`jsonpath={range .items[*]}{.metadata.name}={.metadata.ownerReferences[*].name} {end}`)))
			if patches != 3 || got != "dangling=lives lives= released=" {
				t.Errorf("%d patches, left are %q", patches, got)
			}
		})
	}
}

// TestIdleServiceWithDefinitions deletes the only pod of a Service where a definition could convert through
// that Service: the definition is read, so that nothing is said to be unread.
func TestIdleServiceWithDefinitions(t *testing.T) {
	s := enter(t)
	s.define("idle.example.com")
	s.create(`{apiVersion: v1, kind: Pod, metadata: {name: web, labels: {app: web}}, spec: {containers: [{name: web, image: web}]}}`)
	s.create(`{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {selector: {app: web}, ports: [{port: 80}]}}`)
	a := s.gc(s.ctx, "dry-run", "delete", "pod/web", "-n", s.namespace).want(t, 0)
	if strings.Contains(a.stdout, "not read") {
		t.Errorf("something is not read:\n%s", a.stdout)
	}
}
