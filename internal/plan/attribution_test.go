package plan_test

import (
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// TestRemembersElsewhere checks that objects that are contested because of what the collector
// remembers of other deletions are in the plan as AlreadyHappening. They are not caused by our
// requests, and change neither the account nor the digest.
func TestRemembersElsewhere(t *testing.T) {
	const world = "v1 ConfigMap n/a\nv1 Secret n/b owners=a fin=x/y"
	const elsewhere = "\nv1 ConfigMap m/left deleting grace=0 fin=foregroundDeletion\nv1 Secret m/below owners=left!"
	alone, beside := planOf(t, world, plan.Options{Explore: plan.Usual}), planOf(t, world+elsewhere, plan.Options{Explore: plan.Usual})
	if diff := gocmp.Diff(accountText(alone.Plan), accountText(beside.Plan)); diff != "" {
		t.Errorf("the account without and with it (-without +with):\n%s", diff)
	}
	if alone.Plan.Digest != beside.Plan.Digest {
		t.Error("it changes the digest")
	}
	contested := 0
	for _, e := range beside.Plan.Effects {
		if e.DependsOnTiming {
			contested++
		}
		if e.Object.Namespace == "m" && (!e.AlreadyHappening || e.Later != "") {
			t.Errorf("%s %s is called our doing: %s", e.Outcome, e.Object.Name, e.Message)
		}
	}
	if contested == 0 {
		t.Error("nothing is contested, so nothing was tried")
	}
}

// TestGoesWithoutUs checks that our requests are not blamed for deletions that follow when a
// finalizer is removed from an earlier deletion, although references lead there from the target.
func TestGoesWithoutUs(t *testing.T) {
	for _, tt := range []struct{ name, world string }{
		{"a CRD that is being deleted waits for its own objects, not for what these own", "apiextensions.k8s.io/v1 CustomResourceDefinition widgets.example.com " +
			"deleting fin=customresourcecleanup.apiextensions.k8s.io defines=example.com/v1:Widget:widgets established terminating\n" +
			"example.com/v1 Widget n/w fin=x/y\nv1 ConfigMap n/a owners=w"},
	} {
		for e := range planOf(t, tt.world, plan.Options{}).Plan.Account() {
			if e.Object.Name != "a" && e.IsDeleted() && !e.Consequence.Anyway {
				t.Errorf("%s: %s is called our doing", tt.name, e.Object.Name)
			}
		}
	}
}

// TestOnlyNear checks that, with OnlyNear, what happens anyway is only in the plan if it is in the
// namespaces of the request.
func TestOnlyNear(t *testing.T) {
	const world = "v1 ConfigMap n/a\nv1 Secret n/b owners=a\nv1 Secret n/garbage owners=v1:ConfigMap:gone:g\n" +
		"v1 Secret m/lost owners=v1:ConfigMap:gone:g\nv1 ConfigMap m/left deleting grace=0 fin=foregroundDeletion"
	for _, tt := range []struct {
		near bool
		want []string
	}{
		{true, []string{"n/a Deleted", "n/b Deleted", "n/garbage Deleted anyway"}},
		{false, []string{"m/left Deleted anyway", "m/lost Deleted anyway", "n/a Deleted", "n/b Deleted", "n/garbage Deleted anyway"}},
	} {
		var got []string
		for _, e := range planOf(t, world, plan.Options{Explore: plan.Usual, OnlyNear: tt.near}).Plan.Effects {
			text := e.Object.Namespace + "/" + e.Object.Name + " " + string(e.Outcome)
			if e.AlreadyHappening {
				text += " anyway"
			}
			got = append(got, text)
		}
		slices.Sort(got)
		if diff := gocmp.Diff(tt.want, got); diff != "" {
			t.Errorf("OnlyNear %t: effects (-want +got):\n%s", tt.near, diff)
		}
	}
}

// TestOnlyNearAndTheFutures checks that an effect that OnlyNear leaves out does not reappear as a
// consequence of the next removed finalizer.
func TestOnlyNearAndTheFutures(t *testing.T) {
	const world = "v1 ConfigMap n/a deleting grace=0 fin=x/y,x/z\nv1 Secret n/b owners=a\n" +
		"v1 Secret m/lost owners=v1:ConfigMap:gone:g"
	objects, err := scenario.ParseWorld(world, scenario.Names{})
	if err != nil {
		t.Fatal(err)
	}
	snap, err := snapshot.Listed(objects, scenario.Resources(), nil, allBut("", ""), snapshot.Source{})
	if err != nil {
		t.Fatal(err)
	}
	seed := plan.RemoveFinalizerSeed([]string{"x/y"}, find(snap, "a"))
	result, err := plan.Simulate(t.Context(), snap, seed, plan.Options{OnlyNear: true})
	if err != nil {
		t.Fatal(err)
	}
	const want = "ConfigMap a: Sure Deleted AtOnce, Blocked after x/z of a (Unknown)\n" +
		"Secret b: Possible Deleted FinalizerRemoved, Kept after x/z of a (Unknown)"
	if diff := gocmp.Diff(want, accountText(result.Plan)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// planOf returns the plan of the delete of ConfigMap a.
func planOf(t *testing.T, world string, o plan.Options) *plan.Result {
	t.Helper()
	snap := listedWorld(t, world)
	result, err := plan.Simulate(t.Context(), snap, plan.DeleteSeed(engine.Background, find(snap, "a")), o)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// TestEarlierDeletionsInAccount checks which parts of earlier deletions are in the account of a delete.
func TestEarlierDeletionsInAccount(t *testing.T) {
	for _, tt := range []struct{ name, world, unread, want string }{
		{
			name: "it waits for an object of the delete",
			world: "v1 Namespace a\nv1 Pod a/p node=x phase=Running fin=x/y\nv1 Node x\n" +
				"resource.k8s.io/v1 ResourceClaim a/d deleting grace=0 fin=resource.kubernetes.io/delete-protection reserved=[pods:p:p]",
			want: "ResourceClaim d: Sure Deleted FinalizerRemoved, Blocked after x/y of p (Unknown)\n" +
				"Namespace a: Sure Deleted AtOnce, Blocked after x/y of p (Unknown)\nPod p: Sure Deleted AtOnce, Blocked after x/y of p (Unknown)",
		},
		{
			name:  "nothing that is shown holds it",
			world: "v1 ConfigMap n/a fin=x/y\nv1 ConfigMap m/other deleting grace=0",
			want:  "ConfigMap a: Sure Deleted AtOnce, Blocked after x/y of a (Unknown)",
		},
		{
			name:   "what is unknown whatever we do: an owner goes with a deletion of before, and another one was not seen",
			world:  "v1 Service n/a\nv1 Pod n/p deleting grace=0 fin=x/y owners=a\nv1 ConfigMap n/c owners=p,v1:Secret:s:s\nv1 ConfigMap n/d owners=c",
			unread: "Secret",
			want: "ConfigMap c: Unknown Deleted FinalizerRemoved, Kept after x/y of p (Unknown) anyway\n" +
				"ConfigMap d: Unknown Deleted FinalizerRemoved, Kept after x/y of p (Unknown) anyway\nService a: Sure Deleted AtOnce, Deleted",
		},
		{
			name:   "what is unknown because of us: it loses an owner at once",
			world:  "v1 Service n/a\nv1 Pod n/p deleting grace=0 fin=x/y owners=a\nv1 ConfigMap n/c owners=p,a,v1:Secret:s:s\nv1 ConfigMap n/d owners=c",
			unread: "Secret",
			want: "ConfigMap c: Sure Deleted AtOnce, Pruned after x/y of p (Unknown)\n" +
				"ConfigMap d: Unknown Deleted FinalizerRemoved, Kept after x/y of p (Unknown)\nService a: Sure Deleted AtOnce, Deleted",
		},
		{
			name: "a volume whose claim waits for a pod of ours and for one that was being deleted",
			world: "v1 Namespace a\nv1 Node n1\nv1 PersistentVolume v uid=v phase=Bound claim=a/c:c reclaim=Delete by=disk.example.com csi\n" +
				"v1 PersistentVolumeClaim a/c uid=c deleting grace=0 fin=kubernetes.io/pvc-protection\n" +
				"v1 Pod a/held node=n1 phase=Running claims=c deleting grace=0 fin=x/y\nv1 Pod a/user node=n1 phase=Running claims=c",
			want: "Namespace a: Sure Deleted AtOnce, Blocked after x/y of held (Unknown)\n" +
				"PersistentVolume v: Possible Deleted FinalizerRemoved, Kept after kubernetes.io/pvc-protection of c (Unknown) after x/y of held (Unknown)\n" +
				"Pod user: Sure Deleted ControllerActs, Deleted by kubelet",
		},
		{
			name:  "two objects that share a uid, each with a finalizer",
			world: "v1 Namespace a\nv1 Pod a/x uid=u fin=x/y\nv1 Secret a/y uid=u fin=x/y\nrbac.authorization.k8s.io/v1 ClusterRole of-a owners=a",
			want: "ClusterRole of-a: Unknown Deleted ControllerActs, Unknown\nNamespace a: Unknown Deleted AtOnce, Unknown\n" +
				"Pod x: Unknown Deleted AtOnce, Unknown\nSecret y: Unknown Deleted FinalizerRemoved, Kept after x/y of x (Unknown)",
		},
		{
			name: "Flux takes the role, and without Flux it goes with a namespace that kro deletes, or not",
			world: "example.com/v1 Gadget a fin=kro.run/finalizer\nv1 Namespace n labels=[kro.run/instance-id=a]\n" +
				"kustomize.toolkit.fluxcd.io/v1 Kustomization m/app deleting fin=finalizers.fluxcd.io inventory=[rbac.authorization.k8s.io/ClusterRole//r]\n" +
				"rbac.authorization.k8s.io/v1 ClusterRole r owners=n labels=[kustomize.toolkit.fluxcd.io/name=app,kustomize.toolkit.fluxcd.io/namespace=m]",
			unread: "Deployment",
			want: "Gadget a: Sure Deleted AtOnce, Blocked after kro.run/finalizer of a (Unknown)\n" +
				"ClusterRole r: Possible Deleted FinalizerRemoved, Kept after kro.run/finalizer of a (Unknown) after finalizers.fluxcd.io of app (Unknown)\n" +
				"Namespace n: Unknown Deleted FinalizerRemoved, Kept after kro.run/finalizer of a (Unknown)",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			objects, err := scenario.ParseWorld(tt.world, scenario.Names{})
			if err != nil {
				t.Fatal(err)
			}
			snap, err := snapshot.Listed(objects, scenario.Resources(), nil, allBut(tt.unread, reason.NotInDump), snapshot.Source{})
			if err != nil {
				t.Fatal(err)
			}
			result, err := plan.Simulate(t.Context(), snap, plan.DeleteSeed(engine.Background, find(snap, "a")), plan.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(tt.want, accountText(result.Plan)); diff != "" {
				t.Errorf("%s\n(-want +got):\n%s", tt.world, diff)
			}
		})
	}
}

// TestOpenAnyway checks that the end of a namespace that was deleted earlier, with unseen content,
// is unknown with or without the delete of its owner.
func TestOpenAnyway(t *testing.T) {
	objects, err := scenario.ParseWorld("v1 Namespace n owners=o deleting\nv1 ConfigMap n/held fin=x/y\n"+
		"rbac.authorization.k8s.io/v1 ClusterRole o", scenario.Names{})
	if err != nil {
		t.Fatal(err)
	}
	snap, err := snapshot.Listed(objects, scenario.Resources(), nil, allBut("Secret", reason.NotInDump), snapshot.Source{})
	if err != nil {
		t.Fatal(err)
	}
	everybody := func(*object.Object, string) (string, report.ControllerState) {
		return "operator", report.ControllerRuns
	}
	result, err := plan.Simulate(t.Context(), snap, plan.DeleteSeed(engine.Background, find(snap, "o")), plan.Options{Controller: everybody})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range result.Plan.Effects {
		if e.Object.Kind == "Namespace" && !e.AlreadyHappening {
			t.Errorf("%s %s %s is put down to us", e.Object.KubectlName(), e.Outcome, e.Reason)
		}
	}
}
