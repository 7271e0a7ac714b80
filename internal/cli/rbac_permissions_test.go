package cli

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// TestVerbs: only writing commands may write, and none has verbs beyond its need.
func TestVerbs(t *testing.T) {
	for _, c := range []struct {
		command rbacCommand
		enforce bool
		want    []string
	}{
		{rbacRead, false, []string{"get", "list"}},
		{rbacDoctor, false, []string{"get", "list"}},
		{rbacStuck, false, []string{"get", "list"}},
		{rbacDelete, false, []string{"get", "list", "watch", "delete"}},
		{rbacCollect, false, []string{"get", "list", "watch", "delete", "patch"}},
		{rbacController, false, []string{"get", "list", "watch"}},
		{rbacController, true, []string{"get", "list", "watch", "delete", "patch"}},
		{rbacRemoveFinalizer, false, []string{"get", "list", "watch", "patch"}},
		{rbacUndo, false, []string{"get", "list", "create", "patch"}},
	} {
		role := clusterRole(c.command, rbacOptions{Enforce: c.enforce})
		if diff := cmp.Diff(rbacv1.PolicyRule{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: c.want}, role.Rules[0]); diff != "" {
			t.Errorf("%s: -want +got\n%s", c.command, diff)
		}
		for _, r := range role.Rules[1:] {
			if slices.Contains(r.Resources, "*") || slices.Contains(r.Verbs, "*") {
				t.Errorf("%s: another rule for everything: %v", c.command, r)
			}
		}
		if role := namespacedRole(c.command, rbacOptions{}); (role != nil) != (c.command == rbacController) {
			t.Errorf("%s: a role in a namespace: %v", c.command, role)
		}
	}
}

// TestKinds: kinds are named once, with the verbs that they support. Kinds without list are left
// out.
func TestKinds(t *testing.T) {
	kinds := []object.Resource{
		{Version: "v1", Name: "pods", Kind: "Pod", Verbs: object.AllVerbs},
		{Version: "v1", Name: "events", Kind: "Event", Verbs: object.AllVerbs},
		{Version: "v1", Name: "bindings", Kind: "Binding", Verbs: object.Create},
		{Version: "v1", Name: "componentstatuses", Kind: "ComponentStatus", Verbs: object.Get | object.List},
		{Group: "apps", Version: "v1", Name: "deployments", Kind: "Deployment", Verbs: object.AllVerbs},
		{Group: "apps", Version: "v1beta1", Name: "deployments", Kind: "Deployment", Verbs: object.AllVerbs},
	}
	got := clusterRole(rbacDelete, rbacOptions{Kinds: kinds}).Rules
	if diff := cmp.Diff([]rbacv1.PolicyRule{
		rbacRule("", []string{"componentstatuses"}, "get", "list"),
		rbacRule("", []string{"events", "pods"}, "get", "list", "watch", "delete"),
		rbacRule("apps", []string{"deployments"}, "get", "list", "watch", "delete"),
	}, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if got := clusterRole(rbacRead, rbacOptions{Kinds: []object.Resource{}}).Rules; len(got) != 0 {
		t.Errorf("no kinds give %v", got)
	}
}

// TestUndoOfStatus: an undo restores the status of custom resources. With named kinds, the status
// subresource needs its own rule.
func TestUndoOfStatus(t *testing.T) {
	kinds := []object.Resource{
		{Group: "db.example.com", Version: "v1", Name: "databases", Kind: "Database", Verbs: object.AllVerbs, Custom: true},
		{Version: "v1", Name: "pods", Kind: "Pod", Verbs: object.AllVerbs},
	}
	if diff := cmp.Diff([]rbacv1.PolicyRule{
		rbacRule("", []string{"pods"}, "get", "list", "create", "patch"),
		rbacRule("db.example.com", []string{"databases"}, "get", "list", "create", "patch"),
		rbacRule("db.example.com", []string{"databases/status"}, "patch"),
	}, clusterRole(rbacUndo, rbacOptions{Kinds: kinds}).Rules); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestOwnerEnforcement: permissions for the owner reference admission are only for clusters that
// have it, and for commands that create references.
//
// Covers: S244, S245
func TestOwnerEnforcement(t *testing.T) {
	kinds := []object.Resource{{Group: "apps", Version: "v1", Name: "deployments", Kind: "Deployment", Verbs: object.AllVerbs}}
	deployments := func(verbs ...string) rbacv1.PolicyRule { return rbacRule("apps", []string{"deployments"}, verbs...) }
	for _, c := range []struct {
		o    rbacOptions
		want []rbacv1.PolicyRule
	}{
		{rbacOptions{}, []rbacv1.PolicyRule{rbacRule("*", []string{"*"}, "get", "list", "create", "patch")}},
		{rbacOptions{OwnerEnforcement: true}, []rbacv1.PolicyRule{
			rbacRule("*", []string{"*"}, "get", "list", "create", "patch", "delete"), rbacRule("*", []string{"*/finalizers"}, "update"),
		}},
		{rbacOptions{Kinds: kinds}, []rbacv1.PolicyRule{deployments("get", "list", "create", "patch")}},
		{rbacOptions{Kinds: kinds, OwnerEnforcement: true}, []rbacv1.PolicyRule{
			deployments("get", "list", "create", "patch", "delete"), rbacRule("apps", []string{"deployments/finalizers"}, "update"),
		}},
	} {
		if diff := cmp.Diff(c.want, clusterRole(rbacUndo, c.o).Rules); diff != "" {
			t.Errorf("%+v: -want +got\n%s", c.o, diff)
		}
	}
	for _, c := range rbacCommands() {
		if c == rbacUndo {
			continue
		}
		if diff := cmp.Diff(clusterRole(c, rbacOptions{}), clusterRole(c, rbacOptions{OwnerEnforcement: true})); diff != "" {
			t.Errorf("%s: -without +with\n%s", c, diff)
		}
	}
}

// TestCollectorGraph: the graph of the collector is a non-resource URL.
func TestCollectorGraph(t *testing.T) {
	for _, c := range rbacCommands() {
		i := slices.IndexFunc(clusterRole(c, rbacOptions{}).Rules, func(r rbacv1.PolicyRule) bool { return len(r.NonResourceURLs) > 0 })
		if (i >= 0) != (c == rbacDoctor) {
			t.Errorf("%s: rule %d is about a path", c, i)
		}
	}
	want := rbacv1.PolicyRule{NonResourceURLs: []string{"/debug/controllers/garbage-collector-controller/graph"}, Verbs: []string{"get"}}
	if diff := cmp.Diff(want, clusterRole(rbacDoctor, rbacOptions{}).Rules[1]); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestParse(t *testing.T) {
	for _, c := range rbacCommands() {
		if got, err := parseRBACCommand(string(c)); got != c || err != nil {
			t.Errorf("%s: %s, %v", c, got, err)
		}
	}
	for _, name := range []string{"", "graph", "Read"} {
		if _, err := parseRBACCommand(name); err == nil {
			t.Errorf("%q is taken", name)
		}
	}
}
