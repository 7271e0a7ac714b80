package commands

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestOperatorUnseen deletes an object with a finalizer of an operator that runs, as the admin, who sees it,
// and as users who may not list something that shows it. No run begins without --unlock=unseen.
func TestOperatorUnseen(t *testing.T) {
	const seen, unseen = "cart-operator deletes them; its rules are not known", "cart-operator may run, and may delete them; not read: "
	for without, says := range map[string]string{
		"nothing": seen, "deployments": seen, "pods": unseen + "pods: ", "clusterrolebindings": unseen + "clusterrolebindings.rbac.authorization.k8s.io: ",
	} {
		t.Run("without "+without, func(t *testing.T) {
			s := enter(t)
			group := without + ".example.com"
			carts := s.define(group)
			s.post(carts+"?fieldManager=cart-operator", body{"apiVersion": group + "/v1", "kind": "Cart", "metadata": body{"name": "held", "finalizers": []string{group + "/cleanup"}}})
			t.Cleanup(func() {
				_, _ = plane.Do(s.ctx, http.MethodPatch, carts+"/held", "application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))
			})
			s.operator(group, "carts")
			args := []string{"delete", "carts." + group + "/held", "-n", s.namespace, "--wait=false"}
			if without != "nothing" {
				args = append(args, "--as="+s.limit(without))
			}
			before := s.world()
			s.gc(s.ctx, args...).want(t, 5, "refused, nothing was written: ", says, "--unlock=unseen")
			if diff := cmp.Diff(before, s.world()); diff != "" {
				t.Errorf("something was written:\n%s", diff)
			}
			s.confirmed(append(args, "--unlock=unseen")...).want(t, 0)
		})
	}
}

// operator makes the pod of an operator that may write a kind, and has it run.
func (s *stage) operator(group, resource string) {
	s.t.Helper()
	s.create(`{apiVersion: v1, kind: ServiceAccount, metadata: {name: operator}}`)
	name := s.namespace + "-operator"
	s.post(roles, body{"metadata": body{"name": name}, "rules": []body{{"apiGroups": []string{group}, "resources": []string{resource}, "verbs": []string{"*"}}}})
	s.post(bindings, body{
		"metadata": body{"name": name}, "roleRef": body{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
		"subjects": []body{{"kind": "ServiceAccount", "namespace": s.namespace, "name": "operator"}},
	})
	s.t.Cleanup(func() { s.kubectl(nil, "delete", "clusterrole,clusterrolebinding", name) })
	s.create(`{apiVersion: v1, kind: Pod, metadata: {name: operator}, spec: {serviceAccountName: operator, containers: [{name: c, image: i}]}}`)
	if _, err := plane.Do(s.ctx, http.MethodPatch, "/api/v1/namespaces/"+s.namespace+"/pods/operator/status", "application/merge-patch+json",
		[]byte(`{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`)); err != nil {
		s.t.Fatal(err)
	}
}
