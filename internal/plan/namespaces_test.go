package plan_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// emptied returns the plan of a background delete of the first object of a world that a live server
// has listed. missing are the API versions that its discovery lacks.
func emptied(t *testing.T, text string, coverage *snapshot.Coverage, missing ...snapshot.Missing) *report.Plan {
	t.Helper()
	objects, err := scenario.ParseWorld(text, scenario.Names{})
	if err != nil {
		t.Fatal(err)
	}
	target := objects[0].Ref
	snap, err := snapshot.Listed(objects, scenario.Resources(), missing, coverage, snapshot.Source{})
	if err != nil {
		t.Fatal(err)
	}
	result, err := plan.Simulate(t.Context(), snap, plan.DeleteSeed(engine.Background, target), plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return result.Plan
}

// allBut covers every kind except one with a failed list.
func allBut(kind string, code reason.Code) *snapshot.Coverage {
	coverage := &snapshot.Coverage{}
	for _, r := range scenario.Resources().All() {
		coverage.Add(r.GroupResource(), "")
		if r.Kind == kind {
			coverage.Fail(r.GroupResource(), "", code, "it failed")
		}
	}
	return coverage
}

// TestNamespaces checks what happens to a deleted namespace and its content, and the conditions
// that the namespace waits with.
func TestNamespaces(t *testing.T) {
	const shop = "v1 Namespace shop phase=Active spec=kubernetes\n"
	broken := []snapshot.Missing{{GroupVersion: "metrics.k8s.io/v1beta1", Why: "the server is currently unable to handle the request"}}
	hidden := []snapshot.Missing{{GroupVersion: "metrics.k8s.io/v1beta1", Why: "forbidden"}}
	for _, test := range []struct {
		name       string
		world      string
		coverage   *snapshot.Coverage
		missing    []snapshot.Missing
		conditions []string
		want       []string
	}{
		{"nothing holds it", shop + "v1 ConfigMap shop/c", allBut("", ""), nil, nil, []string{
			"ConfigMap c: Deleted goes with ns/shop", "Namespace shop: Deleted deleted as requested"}},
		{"an API is broken", shop + "v1 ConfigMap shop/c", allBut("", ""), broken, []string{"NamespaceDeletionDiscoveryFailure"}, []string{
			"ConfigMap c: Deleted goes with ns/shop",
			"Namespace shop: Blocked stays until the API server can name all resources, or the API that it cannot is removed: " +
				"metrics.k8s.io/v1beta1: discovery: the server is currently unable to handle the request; condition NamespaceDeletionDiscoveryFailure"}},
		{"an API is broken and an object stays", shop + "v1 ConfigMap shop/c fin=x/y", allBut("", ""), broken,
			[]string{"NamespaceContentRemaining", "NamespaceDeletionDiscoveryFailure", "NamespaceFinalizersRemaining"}, []string{
				"ConfigMap c: Blocked held by finalizer x/y",
				"Namespace shop: Blocked waits for its content: cm/c: metrics.k8s.io/v1beta1: discovery: the server is currently unable to handle the request; " +
					"condition NamespaceContentRemaining, NamespaceDeletionDiscoveryFailure, NamespaceFinalizersRemaining"}},
		{"an API is broken and not all was seen", shop + "v1 ConfigMap shop/c", allBut("Secret", reason.Forbidden), broken, []string{"NamespaceDeletionDiscoveryFailure"}, []string{
			"ConfigMap c: Deleted goes with ns/shop",
			"Namespace shop: Blocked stays until the API server can name all resources, or the API that it cannot is removed: " +
				"metrics.k8s.io/v1beta1: discovery: the server is currently unable to handle the request; condition NamespaceDeletionDiscoveryFailure"}},
		{"only we may not see an API", shop + "v1 ConfigMap shop/c", allBut("", ""), hidden, nil, []string{
			"ConfigMap c: Deleted goes with ns/shop",
			"Namespace shop: Unknown not all of its content is known: metrics.k8s.io/v1beta1: discovery: forbidden"}},
		{"an API is half served", shop + "v1 ConfigMap shop/c", allBut("Widget", reason.NotServed), nil, nil, []string{
			"ConfigMap c: Deleted goes with ns/shop", "Namespace shop: Deleted deleted as requested"}},
		{"a list has failed", shop + "v1 ConfigMap shop/c", allBut("Widget", reason.ListFailed), nil, nil, []string{
			"ConfigMap c: Deleted goes with ns/shop",
			"Namespace shop: Unknown not all of its content is known: widgets.example.com: it failed"}},
		{"a pod stays", shop + "v1 Pod shop/p node= fin=x/y\nv1 ConfigMap shop/c", allBut("", ""), nil, nil, []string{
			"ConfigMap c: Kept stays; goes when x/y of pod/p is removed",
			"Namespace shop: Blocked waits for its content: pod/p: pods go first, and while there are any its conditions say that all has been removed",
			"Pod p: Blocked held by finalizer x/y"}},
		{"somebody else has a token", "v1 Namespace shop phase=Active spec=kubernetes,example.com/z\n", allBut("", ""), nil, nil, []string{
			"Namespace shop: Blocked held by finalizer example.com/z"}},
		{"it is one of the cluster", "v1 Namespace kube-system phase=Active spec=kubernetes\nv1 ConfigMap kube-system/c", allBut("", ""), nil, nil, []string{
			`Namespace kube-system: Kept the API server refuses to delete it: namespaces "kube-system" is forbidden: this namespace may not be deleted`}},
		{"it owns what is elsewhere", shop + "rbac.authorization.k8s.io/v1 ClusterRole viewer owners=shop\nv1 ConfigMap pay/c owners=shop", allBut("", ""), nil, nil, []string{
			"ClusterRole viewer: Deleted goes with its owner ns/shop",
			"ConfigMap c: Deleted goes with its owner ns/shop",
			"Namespace shop: Deleted deleted as requested"}},
		{"what is in it owns what is in none", shop + "v1 ConfigMap shop/c\nrbac.authorization.k8s.io/v1 ClusterRole viewer owners=c", allBut("", ""), nil, nil, []string{
			"ClusterRole viewer: Kept stays: it is cluster-scoped, and the garbage collector gives up on its namespaced owner cm/c",
			"ConfigMap c: Deleted goes with ns/shop", "Namespace shop: Deleted deleted as requested"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := emptied(t, test.world, test.coverage, test.missing...)
			var got, conditions []string
			for _, e := range p.Effects {
				got = append(got, e.Object.Kind+" "+e.Object.Name+": "+string(e.Outcome)+" "+e.Message)
				if e.BlockedBy != nil {
					conditions = append(conditions, e.BlockedBy.Conditions...)
				}
			}
			slices.Sort(got)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("effects (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.conditions, conditions); diff != "" {
				t.Errorf("conditions (-want +got):\n%s", diff)
			}
		})
	}
}

// TestAPIServiceOfADefinition checks that the APIService of a definition is deleted with it, with
// the assumption that the API server does so.
func TestAPIServiceOfADefinition(t *testing.T) {
	p := emptied(t, "apiextensions.k8s.io/v1 CustomResourceDefinition widgets.example.com defines=example.com/v1:Widget:widgets established\n"+
		"apiregistration.k8s.io/v1 APIService v1.example.com labels=kube-aggregator.kubernetes.io/automanaged=true", allBut("", ""))
	if len(p.Effects) != 2 || p.Effects[1].Outcome != report.Deleted || p.Effects[1].RecreatedBy != nil ||
		p.Effects[1].Message != "goes with crd/widgets.example.com" ||
		len(p.Effects[1].Assumptions) != 1 {
		t.Errorf("effects %+v", p.Effects)
	}
}
