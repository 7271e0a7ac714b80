package plan_test

import (
	"fmt"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

const (
	role  = "rbac.authorization.k8s.io/v1 ClusterRole "
	token = "v1 ServiceAccount s/ci uid=ci secrets=t\nv1 Secret s/t token=ci:ci"
)

// TestRewritten checks the effects on objects that stay and that a controller changes because
// another object is deleted. There is no effect if the snapshot does not show the change.
func TestRewritten(t *testing.T) {
	const gone = "Secret t: Deleted Requested deleted as requested"
	const removed = "ServiceAccount ci: Kept TokenReferenceRemoved stays; the tokens controller removes secret/t from its secrets"
	const x = "ClusterRole x: Deleted Requested deleted as requested"
	for _, test := range []struct {
		name, world, hidden string
		want                []string
	}{
		{"a token", "v1 Secret s/t token=ci:ci\nv1 ServiceAccount s/ci uid=ci secrets=t,other", "", []string{gone, removed}},
		{"a token that fits any account of the name", "v1 Secret s/t token=ci\nv1 ServiceAccount s/ci secrets=t", "", []string{gone, removed}},
		{"a token that the account does not name", "v1 Secret s/t token=ci:ci\nv1 ServiceAccount s/ci uid=ci secrets=other", "", []string{gone}},
		{"a token of an earlier account", "v1 Secret s/t token=ci:older\nv1 ServiceAccount s/ci uid=ci secrets=t", "", []string{gone}},
		{"what may be a token", "v1 Secret s/t token?=ci:ci\nv1 ServiceAccount s/ci uid=ci secrets=t", "", []string{gone}},
		{"a Secret that is no token", "v1 Secret s/t\nv1 ServiceAccount s/ci uid=ci secrets=t", "", []string{gone}},
		{"an account of which only the metadata is known", "v1 Secret s/t token=ci:ci\nv1 ServiceAccount s/ci uid=ci", "", []string{gone}},
		{"a token that stays", "v1 Secret s/t token=ci:ci fin=x/y\nv1 ServiceAccount s/ci uid=ci secrets=t", "", []string{
			"Secret t: Blocked FinalizerRemains held by finalizer x/y",
			"ServiceAccount ci: Kept TokenReferenceRemoved stays; the tokens controller removes secret/t from its secrets when x/y of secret/t is removed"}},
		{"an account that goes as well", "v1 Namespace s\n" + token, "", []string{
			"Namespace s: Deleted Requested deleted as requested",
			"Secret t: Deleted DeletedByController goes with ns/s", "ServiceAccount ci: Deleted DeletedByController goes with ns/s"}},
		{"the only role with a rule", role + "x labels=to=edit rules=a,b\n" + role + "edit aggregates=to=edit rules=a,b,c\n" + role + "y labels=to=edit rules=b,c", "", []string{
			"ClusterRole edit: Kept RulesAggregated stays; its rules are aggregated again because of clusterrole.rbac.authorization.k8s.io/x: it loses 1 of its 3 rules", x}},
		{"a rule that another role has", role + "x labels=to=edit rules=b\n" + role + "edit aggregates=to=edit rules=a,b\n" + role + "a labels=to=edit rules=a,b", "", []string{x}},
		{"a rule that another role has behind others", role + "x labels=to=edit rules=b\n" + role + "edit aggregates=to=edit rules=b,c\n" + role + "y labels=to=edit rules=c,b", "", []string{
			"ClusterRole edit: Kept RulesAggregated stays; its rules are aggregated again because of clusterrole.rbac.authorization.k8s.io/x: its rules stay, in another order", x}},
		{"an aggregate of an aggregate", role + "x labels=to=edit rules=a\n" + role + "edit labels=to=admin aggregates=to=edit rules=a\n" + role + "admin aggregates=to=admin rules=a", "", []string{
			"ClusterRole admin: Kept RulesAggregated stays; its rules are aggregated again because of clusterrole.rbac.authorization.k8s.io/edit: it loses 1 of its 1 rules",
			"ClusterRole edit: Kept RulesAggregated stays; its rules are aggregated again because of clusterrole.rbac.authorization.k8s.io/x: it loses 1 of its 1 rules", x}},
		{"a role that no other one selects", role + "x labels=to=edit rules=a\n" + role + "view aggregates=to=view rules=c\n" + role + "y labels=to=view rules=c", "", []string{x}},
		{"roles of which only the metadata is known", role + "x labels=to=edit\n" + role + "edit", "", []string{x}},
		{"not all roles were seen", role + "x labels=to=edit rules=a\n" + role + "edit aggregates=to=edit rules=a", "ClusterRole", []string{
			"ClusterRole edit: Kept RulesUnknown stays; its rules are aggregated again because of clusterrole.rbac.authorization.k8s.io/x, and ClusterRoles that were not seen may allow the same: it may lose 1 of its 1 rules", x}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, e := range protectedWorld(t, test.world, test.hidden) {
				got = append(got, e.Object.Kind+" "+e.Object.Name+": "+string(e.Outcome)+" "+e.Reason+" "+e.Message)
			}
			if diff := gocmp.Diff(test.want, got); diff != "" {
				t.Errorf("effects (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRewrittenAccount checks the account of rewritten objects. It names the controller, the
// finalizer that the deletion of the other object waits for, and Anyway if that object is deleted
// anyway.
func TestRewrittenAccount(t *testing.T) {
	const gone = "Secret t: Sure Deleted AtOnce, Deleted\n"
	for _, test := range []struct{ name, world, target, want string }{
		{"at once", token, "t", gone + "ServiceAccount ci: Sure Changed ControllerActs, Kept by serviceaccount-token-controller"},
		{"behind a finalizer", "v1 ServiceAccount s/ci uid=ci secrets=t\nv1 Secret s/t token=ci:ci fin=x/y", "t",
			"Secret t: Sure Deleted AtOnce, Blocked after x/y of t (Unknown)\nServiceAccount ci: Possible Changed FinalizerRemoved, Kept after x/y of t (Unknown)"},
		{"behind a finalizer whose controller runs", "v1 ServiceAccount s/ci uid=ci secrets=t\nv1 Secret s/t token=ci:ci fin=x/runs", "t",
			"Secret t: Sure Deleted AtOnce, Deleted after x/runs of t (operator)\nServiceAccount ci: Possible Changed FinalizerRemoved, Kept after x/runs of t (operator)"},
		{"a role", role + "x labels=to=edit rules=a\n" + role + "edit aggregates=to=edit rules=a", "x",
			"ClusterRole edit: Sure Changed ControllerActs, Kept by clusterrole-aggregation-controller\nClusterRole x: Sure Deleted AtOnce, Deleted"},
		{"beside the request", token + "\nv1 ConfigMap s/c", "c", "ConfigMap c: Sure Deleted AtOnce, Deleted"},
		{"garbage beside the request", token + " owners=v1:ConfigMap:gone:g\nv1 ConfigMap s/c", "c", "ConfigMap c: Sure Deleted AtOnce, Deleted"},
	} {
		t.Run(test.name, func(t *testing.T) {
			snap := listedWorld(t, test.world)
			result, err := plan.Simulate(t.Context(), snap, deleting(test.target)(snap), plan.Options{Controller: runs(map[string]string{"x/runs": "operator"})})
			if err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(test.want, accountText(result.Plan)); diff != "" {
				t.Errorf("account (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRewrittenByCollection checks that the deletion of a token by a collection changes its
// account.
func TestRewrittenByCollection(t *testing.T) {
	snap := listedWorld(t, token+" owners=v1:ConfigMap:gone:g")
	result, err := plan.Simulate(t.Context(), snap, plan.CollectSeed(), plan.Options{Rules: engine.Strict})
	if err != nil {
		t.Fatal(err)
	}
	want := "Secret t: Sure Deleted AtOnce, Deleted\nServiceAccount ci: Sure Changed ControllerActs, Kept by serviceaccount-token-controller"
	if diff := gocmp.Diff(want, accountText(result.Plan)); diff != "" {
		t.Errorf("account (-want +got):\n%s", diff)
	}
}

// TestRewrittenCycle checks that aggregates that select each other keep a rule when its source is
// deleted, because each still gets it from the others.
func TestRewrittenCycle(t *testing.T) {
	world := role + "x labels=to=all rules=a"
	for i := range 3 {
		world += fmt.Sprintf("\n%so%d labels=to=all aggregates=to=all rules=a", role, i)
	}
	snap := listedWorld(t, world)
	result, err := plan.Simulate(t.Context(), snap, deleting("x")(snap), plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(result.Plan.Effects); n != 1 {
		t.Errorf("%d effects:\n%s", n, accountText(result.Plan))
	}
}

// TestRewrittenUnknown checks that an aggregate certainly stays if it is unknown whether it loses
// rules.
func TestRewrittenUnknown(t *testing.T) {
	snap := worldWithout(t, role+"x labels=to=edit rules=a\n"+role+"edit aggregates=to=edit rules=a", "ClusterRole")
	result, err := plan.Simulate(t.Context(), snap, deleting("x")(snap), plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := "ClusterRole edit: Unknown Changed ControllerActs, Kept by clusterrole-aggregation-controller\nClusterRole x: Sure Deleted AtOnce, Deleted"
	if diff := gocmp.Diff(want, accountText(result.Plan)); diff != "" {
		t.Errorf("account (-want +got):\n%s", diff)
	}
}

// listedWorld returns a snapshot of a world with a list of every kind.
func listedWorld(t *testing.T, world string) *snapshot.Snapshot {
	t.Helper()
	objects, err := scenario.ParseWorld(world, scenario.Names{})
	if err != nil {
		t.Fatal(err)
	}
	snap, err := snapshot.Listed(objects, scenario.Resources(), nil, allBut("", ""), snapshot.Source{})
	if err != nil {
		t.Fatal(err)
	}
	return snap
}
