package controller

import (
	"slices"
	"testing"

	rbac "k8s.io/api/rbac/v1"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

// Where OwnerReferencesPermissionEnforcement is on, an undo needs what is printed for
// that, and without any of it finds out before it makes anything.
func TestRightsToUndoUnderOwnerEnforcement(t *testing.T) {
	usual := plane
	strict, err := cluster.Start(cluster.Admission("OwnerReferencesPermissionEnforcement"))
	if err != nil {
		t.Fatal(err)
	}
	plane = strict
	t.Cleanup(func() {
		plane = usual
		if err := strict.Stop(); err != nil {
			t.Error(err)
		}
	})
	namespace := space(t)
	backup := orphaned(t, namespace, true)
	rules := printed(t, "--for=undo", "--kinds", "--owner-enforcement")
	below := get(t, path(namespace, "configmaps", "below"))
	for _, c := range []struct {
		name, says string
		rules      []rbac.PolicyRule
	}{
		{"undo-without-delete", "cannot set an ownerRef on a resource you can't delete", without(t, rules, "delete", "configmaps")},
		{"undo-without-finalizers", "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on",
			slices.DeleteFunc(without(t, rules, "update", "configmaps/finalizers"), func(r rbac.PolicyRule) bool { return len(r.Verbs) == 0 })},
		{"undo-as-elsewhere", "cannot set an ownerRef on a resource you can't delete", printed(t, "--for=undo", "--kinds")},
	} {
		code, out, errOut := carryOut(t, grant(t, c.name, c.rules), "undo", backup)
		refused(t, c.name, code, out, errOut, "refused, nothing was written", c.says)
		if get(t, path(namespace, "configmaps", "owner")) != nil || get(t, path(namespace, "configmaps", "below")).ResourceVersion != below.ResourceVersion {
			t.Errorf("%s has written", c.name)
		}
	}
	if code, out, errOut := carryOut(t, grant(t, "undoer", rules), "undo", backup); code != 0 {
		t.Errorf("exit code %d\n%s%s", code, out, errOut)
	}
	undone(t, namespace)
}
