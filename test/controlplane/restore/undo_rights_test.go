package restore

import (
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

// Whoever has rights in one namespace only brings back what was deleted there. Without the leases
// nobody knows when that was: --since is refused, and said to be ignored where nothing is written.
func TestUndoWithRightsInOneNamespace(t *testing.T) {
	s := enter(t)
	s.create("{apiVersion: v1, kind: Namespace, metadata: {name: shop-r}}")
	s.create(`{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: dev, namespace: shop-r}, rules: [{apiGroups: ["*"], resources: ["*"], verbs: ["*"]}]}`)
	s.kubectl("", "create", "rolebinding", "dev", "-n", "shop-r", "--role=dev", "--user=dev")
	s.kubectl("", "create", "configmap", "early", "-n", "shop-r")
	s.kubectl("", "create", "configmap", "late", "-n", "shop-r")
	s.kubectl("", "delete", "configmap/early", "-n", "shop-r")
	since := s.revision()
	s.kubectl("", "delete", "configmap/late", "-n", "shop-r")
	cluster.Until(t, "the role has come into force", func() bool {
		_, err := s.plane.Kubectl(s.ctx, nil, "get", "namespace/shop-r", "--as=dev")
		return err == nil
	})

	a := s.gc("lost", "-n", "shop-r", "--since=1s", "--as=dev")
	for _, text := range []string{"--since was not applied", "kubectl gc undo --since-revision="} {
		if !strings.Contains(a.out, text) || a.code != 0 {
			t.Errorf("exit code %d, no %q in\n%s%s", a.code, text, a.out, a.errOut)
		}
	}
	if a := s.gc("undo", "-n", "shop-r", "--since=1s", "--as=dev"); a.code != 5 || !strings.Contains(a.errOut, "list leases in namespace kube-system") {
		t.Errorf("exit code %d: %s", a.code, a.errOut)
	}
	if a := s.gc("lost", "-A", "--as=dev"); a.code != 1 || !strings.Contains(a.errOut, "-n NAMESPACE") {
		t.Errorf("exit code %d: %s", a.code, a.errOut)
	}

	plan := s.remembered("-n", "shop-r", "--since-revision="+since, "--as=dev")
	if len(plan.Steps) != 1 || plan.Steps[0].Object.Name != "late" {
		t.Errorf("%+v", plan.Steps)
	}
	if u := s.undone(plan.Bundle, "--as=dev"); u.Summary.Made != 1 {
		t.Errorf("%s, %+v", u.SameCluster, u.Summary)
	}
	if a := s.gc("lost", "configmap/late", "-n", "shop-r"); !strings.Contains(a.out, " exists again;") || strings.Contains(a.out, "kubectl gc undo") {
		t.Errorf("what is there again: %s", a.out)
	}
	a = s.gc("undo", "configmap/never", "--lost", "-n", "shop-r")
	if want := "undo: nothing to do. cm/never -n shop-r was not "; a.code != 0 || !strings.HasPrefix(a.out, want) {
		t.Errorf("exit code %d: %s%s", a.code, a.out, a.errOut)
	}
	s.kubectl("", "delete", "namespace/shop-r", "--wait=false")
}
