package controller

import (
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	rbac "k8s.io/api/rbac/v1"
)

// unruled takes the rules away that name a resource.
func unruled(rules []rbac.PolicyRule, resource string) []rbac.PolicyRule {
	return slices.DeleteFunc(slices.Clone(rules), func(r rbac.PolicyRule) bool { return slices.Contains(r.Resources, resource) })
}

// refused fails unless a command was refused before it wrote anything, and says what
// its user may not do.
func refused(t *testing.T, what string, code int, out, errOut string, says ...string) {
	t.Helper()
	if code == 0 || code == 6 {
		t.Errorf("%s: exit code %d\n%s%s", what, code, out, errOut)
	}
	for _, text := range says {
		if !strings.Contains(out+errOut, text) {
			t.Errorf("%s: %q is not said\n%s%s", what, text, out, errOut)
		}
	}
}

// Every command that looks works with the rights to look.
func TestRightsToLook(t *testing.T) {
	namespace := space(t)
	owner := configMap(t, namespace, "owner")
	configMap(t, namespace, "below", mapOwner("owner", owner.UID))
	as := "--as=" + grant(t, "looker", printed(t, "--for=read", "--kinds"))
	for _, command := range [][]string{
		{"explain", "configmap/below", "-n", namespace},
		{"graph", "configmap/owner", "-n", namespace},
		{"dry-run", "delete", "configmap/owner", "-n", namespace},
		{"collect", "-n", namespace, "--dry-run"},
		{"snapshot", "--to", filepath.Join(t.TempDir(), "dump.gz")},
	} {
		if code, out, errOut := tool(t, append(command, as)...); code != 0 {
			t.Errorf("%v: exit code %d\n%s%s", command, code, out, errOut)
		}
	}
}

// With one right less than is printed nothing is written, and the one is named.
func TestRightsThatAreMissing(t *testing.T) {
	namespace := space(t)
	live := configMap(t, namespace, "live")
	configMap(t, namespace, "plain")
	configMap(t, namespace, "garbage", absent())
	configMap(t, namespace, "dangling", mapOwner("live", live.UID), absent())
	post(t, "/api/v1/namespaces/"+namespace+"/configmaps", body{"metadata": body{"name": "stuck", "finalizers": []string{"example.com/hold"}}})
	remove(t, path(namespace, "configmaps", "stuck"), "Background")
	for _, c := range []struct {
		role, verb string
		command    []string
	}{
		{"delete", "delete", []string{"delete", "configmap/plain", "-n", namespace}},
		{"collect", "delete", []string{"collect", "-n", namespace}},
		{"collect", "patch", []string{"collect", "-n", namespace}},
		{"remove-finalizer", "patch", []string{"remove-finalizer", "configmap/stuck", "example.com/hold", "-n", namespace}},
	} {
		what := c.role + " without " + c.verb
		before := list(t, "/api/v1/namespaces/"+namespace+"/configmaps")
		user := grant(t, strings.ReplaceAll(what, " ", "-"), without(t, printed(t, "--for="+c.role, "--kinds"), c.verb, "configmaps"))
		code, out, errOut := carryOut(t, user, c.command...)
		refused(t, what, code, out, errOut, "refused, nothing was written", "we may not "+c.verb+" configmaps")
		after := list(t, "/api/v1/namespaces/"+namespace+"/configmaps")
		if !slices.EqualFunc(before, after, func(a, b meta) bool { return a.UID == b.UID && a.ResourceVersion == b.ResourceVersion }) {
			t.Errorf("%s: before %v, after %v", what, before, after)
		}
	}
}

// The spec of a namespace has a right of its own.
func TestRightToFinalize(t *testing.T) {
	space(t) // so that the plane is not empty
	const name = "finalized"
	post(t, "/api/v1/namespaces", body{"metadata": body{"name": name}})
	remove(t, "/api/v1/namespaces/"+name, "Background")
	rules := printed(t, "--for=remove-finalizer", "--kinds")
	free := []string{"remove-finalizer", "namespace/" + name, "kubernetes", "--unlock=namespace"}
	code, out, errOut := carryOut(t, grant(t, "no-finalizer", unruled(rules, "namespaces/finalize")), free...)
	refused(t, "remove-finalizer without finalize", code, out, errOut, "nothing was written", "we may not update namespaces/finalize")
	if get(t, "/api/v1/namespaces/"+name) == nil {
		t.Fatal("it is gone all the same")
	}
	if code, out, errOut := carryOut(t, grant(t, "finalizer", rules), free...); code != 0 {
		t.Errorf("exit code %d\n%s%s", code, out, errOut)
	}
	if get(t, "/api/v1/namespaces/"+name) != nil {
		t.Error("it is still there")
	}
}

// orphaned has an owner deleted with a backup, and its dependent lose the reference,
// and returns the backup.
func orphaned(t *testing.T, namespace string, block bool) string {
	t.Helper()
	owner := configMap(t, namespace, "owner")
	reference := mapOwner("owner", owner.UID)
	reference["blockOwnerDeletion"] = block
	configMap(t, namespace, "below", reference)
	dir := filepath.Join(t.TempDir(), "backups")
	if err := plane.Controllers("garbage-collector-controller"); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := plane.Controllers(); err != nil {
			t.Error(err)
		}
	}()
	code, out, errOut := carryOut(t, "root", "delete", "configmap/owner", "-n", namespace, "--cascade=orphan", "--backup-dir="+dir, "--as-group=system:masters")
	if code != 0 {
		t.Fatalf("exit code %d\n%s%s", code, out, errOut)
	}
	until(t, "the owner is gone and the dependent is free", func() bool {
		below := get(t, path(namespace, "configmaps", "below"))
		return get(t, path(namespace, "configmaps", "owner")) == nil && below != nil && len(below.OwnerReferences) == 0
	})
	all, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(all) != 1 {
		t.Fatalf("backups: %v, %v", all, err)
	}
	return all[0]
}

// undone fails unless the owner is there again and the dependent refers to it.
func undone(t *testing.T, namespace string) {
	t.Helper()
	owner, below := get(t, path(namespace, "configmaps", "owner")), get(t, path(namespace, "configmaps", "below"))
	if owner == nil || below == nil || len(below.OwnerReferences) != 1 || below.OwnerReferences[0].UID != owner.UID {
		t.Errorf("owner %v, below %v", owner, below)
	}
}

// An undo makes and changes with the rights that are printed for it; with one of them
// missing it finds out before it makes anything.
func TestRightsToUndo(t *testing.T) {
	namespace := space(t)
	backup := orphaned(t, namespace, true)
	rules := printed(t, "--for=undo", "--kinds")
	below := get(t, path(namespace, "configmaps", "below"))
	for _, verb := range []string{"create", "patch"} {
		code, out, errOut := carryOut(t, grant(t, "undo-without-"+verb, without(t, rules, verb, "configmaps")), "undo", backup)
		refused(t, "undo without "+verb, code, out, errOut, "refused, nothing was written", "cannot "+verb+" resource", "configmaps")
		if get(t, path(namespace, "configmaps", "owner")) != nil || get(t, path(namespace, "configmaps", "below")).ResourceVersion != below.ResourceVersion {
			t.Errorf("undo without %s has written", verb)
		}
	}
	if code, out, errOut := carryOut(t, grant(t, "undoer", rules), "undo", backup); code != 0 {
		t.Errorf("exit code %d\n%s%s", code, out, errOut)
	}
	undone(t, namespace)
}

// The controller collects with the rights that are printed for it. What it may not
// delete stays, and what it may is collected; without its lease it is not ready.
func TestRightsOfTheController(t *testing.T) {
	const lease = "lease-of-the-controller"
	namespace := space(t)
	post(t, "/api/v1/namespaces", body{"metadata": body{"name": lease}})
	rules := printed(t, "--for=controller", "--mode=enforce", "--kinds")
	_, text, _ := tool(t, "rbac", "--for=controller", "--mode=enforce", "--leader-elect-namespace="+lease)
	_, role, _ := strings.Cut(text, "\n---\n")
	flags := func(user string) []string {
		return []string{"--as=" + user, "--mode=enforce", "--absent-owner-grace-period=0", "--leader-elect", "--leader-elect-namespace=" + lease}
	}
	ends := func(p *process) {
		t.Helper()
		if code := p.end(); code != 0 {
			t.Errorf("it ends with %d:\n%s", code, p.log.String())
		}
	}

	shut := start(t, flags(grant(t, "leaseless", rules))...)
	shut.says("the lease cannot be read or written")
	if code, _ := shut.ask("/readyz"); code != http.StatusServiceUnavailable {
		t.Errorf("/readyz answers %d", code)
	}
	ends(shut)

	kubectl(t, []byte(role), "create", "-f", "-")
	configMap(t, namespace, "garbage", absent())
	post(t, "/api/v1/namespaces/"+namespace+"/secrets", body{"metadata": body{"name": "garbage", "ownerReferences": []body{absent()}}})
	half := start(t, flags(bound(t, lease, grant(t, "half", without(t, rules, "delete", "configmaps"))))...).collecting()
	until(t, "the Secret goes", func() bool { return get(t, path(namespace, "secrets", "garbage")) == nil })
	until(t, "the delete of the ConfigMap is refused", func() bool {
		return strings.Contains(half.log.String(), `cannot delete resource \"configmaps\"`) && half.metric("kubectl_gc_requests_total", `verb="delete"`, `code="403"`) >= 1
	})
	if get(t, path(namespace, "configmaps", "garbage")) == nil {
		t.Error("the ConfigMap is gone")
	}
	ends(half)

	owner := configMap(t, namespace, "owner")
	configMap(t, namespace, "dangling", mapOwner("owner", owner.UID), absent())
	p := start(t, flags(bound(t, lease, grant(t, "whole", rules)))...).collecting()
	until(t, "the garbage goes", func() bool { return get(t, path(namespace, "configmaps", "garbage")) == nil })
	until(t, "the reference goes", func() bool { return len(get(t, path(namespace, "configmaps", "dangling")).OwnerReferences) == 1 })
	if n := p.metric("kubectl_gc_requests_total", `code="403"`); n > 0 {
		t.Errorf("%v requests were forbidden", n)
	}
	ends(p)
	// Under upstream rules it looks for another collector first.
	q := start(t, append(flags("whole"), "--rules=upstream", "--sync-period=1s")...).collecting()
	if n := q.metric("kubectl_gc_requests_total", `code="403"`); n > 0 {
		t.Errorf("%v requests were forbidden", n)
	}
}

// bound gives a user the printed role in the namespace of the lease, and returns the
// user.
func bound(t *testing.T, namespace, user string) string {
	t.Helper()
	post(t, "/apis/rbac.authorization.k8s.io/v1/namespaces/"+namespace+"/rolebindings", body{
		"metadata": body{"name": user},
		"roleRef":  body{"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "kubectl-gc-controller"},
		"subjects": []body{{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": user}},
	})
	return user
}
