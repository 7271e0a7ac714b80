package policy

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbac "k8s.io/api/rbac/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// TestVerbs: only writing commands may write, and none has verbs beyond its need.
func TestVerbs(t *testing.T) {
	for _, c := range []struct {
		command Command
		enforce bool
		want    []string
	}{
		{Read, false, []string{"get", "list"}},
		{Doctor, false, []string{"get", "list"}},
		{Stuck, false, []string{"get", "list"}},
		{Delete, false, []string{"get", "list", "watch", "delete"}},
		{Collect, false, []string{"get", "list", "watch", "delete", "patch"}},
		{Controller, false, []string{"get", "list", "watch"}},
		{Controller, true, []string{"get", "list", "watch", "delete", "patch"}},
		{RemoveFinalizer, false, []string{"get", "list", "watch", "patch"}},
		{Undo, false, []string{"get", "list", "create", "patch"}},
	} {
		role := ClusterRole(c.command, Options{Enforce: c.enforce})
		if diff := cmp.Diff(rbac.PolicyRule{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: c.want}, role.Rules[0]); diff != "" {
			t.Errorf("%s: -want +got\n%s", c.command, diff)
		}
		for _, r := range role.Rules[1:] {
			if slices.Contains(r.Resources, "*") || slices.Contains(r.Verbs, "*") {
				t.Errorf("%s: another rule for everything: %v", c.command, r)
			}
		}
		if role := Role(c.command, Options{}); (role != nil) != (c.command == Controller) {
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
	got := ClusterRole(Delete, Options{Kinds: kinds}).Rules
	if diff := cmp.Diff([]rbac.PolicyRule{
		rule("", []string{"componentstatuses"}, "get", "list"),
		rule("", []string{"events", "pods"}, "get", "list", "watch", "delete"),
		rule("apps", []string{"deployments"}, "get", "list", "watch", "delete"),
	}, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if got := ClusterRole(Read, Options{Kinds: []object.Resource{}}).Rules; len(got) != 0 {
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
	if diff := cmp.Diff([]rbac.PolicyRule{
		rule("", []string{"pods"}, "get", "list", "create", "patch"),
		rule("db.example.com", []string{"databases"}, "get", "list", "create", "patch"),
		rule("db.example.com", []string{"databases/status"}, "patch"),
	}, ClusterRole(Undo, Options{Kinds: kinds}).Rules); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestOwnerEnforcement: permissions for the owner reference admission are only for clusters that
// have it, and for commands that create references.
//
// Covers: S244, S245
func TestOwnerEnforcement(t *testing.T) {
	kinds := []object.Resource{{Group: "apps", Version: "v1", Name: "deployments", Kind: "Deployment", Verbs: object.AllVerbs}}
	deployments := func(verbs ...string) rbac.PolicyRule { return rule("apps", []string{"deployments"}, verbs...) }
	for _, c := range []struct {
		o    Options
		want []rbac.PolicyRule
	}{
		{Options{}, []rbac.PolicyRule{rule("*", []string{"*"}, "get", "list", "create", "patch")}},
		{Options{OwnerEnforcement: true}, []rbac.PolicyRule{
			rule("*", []string{"*"}, "get", "list", "create", "patch", "delete"), rule("*", []string{"*/finalizers"}, "update"),
		}},
		{Options{Kinds: kinds}, []rbac.PolicyRule{deployments("get", "list", "create", "patch")}},
		{Options{Kinds: kinds, OwnerEnforcement: true}, []rbac.PolicyRule{
			deployments("get", "list", "create", "patch", "delete"), rule("apps", []string{"deployments/finalizers"}, "update"),
		}},
	} {
		if diff := cmp.Diff(c.want, ClusterRole(Undo, c.o).Rules); diff != "" {
			t.Errorf("%+v: -want +got\n%s", c.o, diff)
		}
	}
	for _, c := range Commands() {
		if c == Undo {
			continue
		}
		if diff := cmp.Diff(ClusterRole(c, Options{}), ClusterRole(c, Options{OwnerEnforcement: true})); diff != "" {
			t.Errorf("%s: -without +with\n%s", c, diff)
		}
	}
}

// TestCollectorGraph: the graph of the collector is a non-resource URL.
func TestCollectorGraph(t *testing.T) {
	for _, c := range Commands() {
		i := slices.IndexFunc(ClusterRole(c, Options{}).Rules, func(r rbac.PolicyRule) bool { return len(r.NonResourceURLs) > 0 })
		if (i >= 0) != (c == Doctor) {
			t.Errorf("%s: rule %d is about a path", c, i)
		}
	}
	want := rbac.PolicyRule{NonResourceURLs: []string{"/debug/controllers/garbage-collector-controller/graph"}, Verbs: []string{"get"}}
	if diff := cmp.Diff(want, ClusterRole(Doctor, Options{}).Rules[1]); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestParse(t *testing.T) {
	for _, c := range Commands() {
		if got, err := ParseCommand(string(c)); got != c || err != nil {
			t.Errorf("%s: %s, %v", c, got, err)
		}
	}
	for _, name := range []string{"", "graph", "Read"} {
		if _, err := ParseCommand(name); err == nil {
			t.Errorf("%q is taken", name)
		}
	}
}
