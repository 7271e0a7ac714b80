package plan_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// runs returns a ControllerOf that knows these controllers, by finalizer: a name means that it
// runs, "gone" that it is proven gone.
func runs(known map[string]string) plan.ControllerOf {
	return func(_ *object.Object, finalizer string) (string, report.ControllerState) {
		switch name, ok := known[finalizer]; {
		case !ok:
			return "", report.ControllerUnknown
		case name == "gone":
			return "", report.ControllerGone
		default:
			return name, report.ControllerRuns
		}
	}
}

// accountText formats an account with one line per object.
func accountText(p *report.Plan) string {
	var lines []string
	for e := range p.Account() {
		c := e.Consequence
		line := fmt.Sprintf("%s %s: %s %s %s, %s", e.Object.Kind, e.Object.Name, c.Certainty, c.Change, c.When, e.Outcome)
		if c.Controller != "" {
			line += " by " + c.Controller
		}
		for _, r := range e.Once {
			line += fmt.Sprintf(" after %s of %s (%s)", r.Finalizer, r.Object.Name, cmp.Or(r.Controller, string(r.State)))
		}
		if c.Anyway {
			line += " anyway"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// TestAccount checks that the account contains everything that our requests change or delete, at
// once or later, even if it would have happened anyway, and nothing else.
func TestAccount(t *testing.T) {
	known := map[string]string{"x/runs": "operator", "x/gone": "gone"}
	for _, tt := range []struct {
		name, world string
		seed        func(*snapshot.Snapshot) plan.Seed
		explore     int
		want        string
	}{
		{
			name:  "what goes at once, and what has nothing to do with it",
			world: "v1 ConfigMap n/a\nv1 Secret n/b owners=a\nv1 Secret n/other\nv1 Secret m/garbage owners=v1:ConfigMap:gone:g",
			seed:  deleting("a"),
			want:  "ConfigMap a: Sure Deleted AtOnce, Deleted\nSecret b: Sure Deleted AtOnce, Deleted",
		},
		{
			name: "the only node takes its pods",
			world: "v1 Node a\nv1 Pod n/bare node=a phase=Running\nv1 Pod n/agent node=a phase=Running owners=ds^\napps/v1 DaemonSet n/ds\n" +
				"v1 Pod n/static node=a phase=Running mirror owners=a^\nv1 Pod n/done node=a phase=Succeeded\nv1 Pod n/waiting node= phase=Pending",
			seed: deleting("a"),
			want: "Node a: Sure Deleted AtOnce, Deleted\nPod agent: Sure Deleted ControllerActs, Deleted by pod-gc\nPod bare: Sure Deleted ControllerActs, Deleted by pod-gc\n" +
				"Pod done: Sure Deleted ControllerActs, Deleted by pod-gc\nPod static: Sure Deleted AtOnce, Deleted",
		},
		{
			name:  "a pod that a finalizer holds is marked when its node has gone",
			world: "v1 Node a\nv1 Pod n/x node=a phase=Running fin=x/gone",
			seed:  deleting("a"),
			want:  "Node a: Sure Deleted AtOnce, Deleted\nPod x: Sure Deleted ControllerActs, Blocked by pod-gc after x/gone of x (Gone)",
		},
		{
			name:  "nodes that go together take their pods",
			world: "v1 Node a\nv1 Node b\nv1 Pod n/x node=a phase=Running\nv1 Pod n/y node=b phase=Running",
			seed:  deleting("a", "b"),
			want:  "Node a: Sure Deleted AtOnce, Deleted\nNode b: Sure Deleted AtOnce, Deleted\nPod x: Sure Deleted ControllerActs, Deleted by pod-gc\nPod y: Sure Deleted ControllerActs, Deleted by pod-gc",
		},
		{
			name:  "a node that a finalizer holds takes its pods when that comes off",
			world: "v1 Node a fin=x/unknown\nv1 Pod n/x node=a phase=Running",
			seed:  deleting("a"),
			want:  "Node a: Sure Deleted AtOnce, Blocked after x/unknown of a (Unknown)\nPod x: Possible Deleted FinalizerRemoved, Kept after x/unknown of a (Unknown)",
		},
		{
			name:  "a target that is garbage already counts",
			world: "v1 ConfigMap n/a owners=v1:ConfigMap:gone:g\nv1 Secret n/b owners=a",
			seed:  deleting("a"),
			want:  "ConfigMap a: Sure Deleted AtOnce, Deleted anyway\nSecret b: Sure Deleted AtOnce, Deleted anyway",
		},
		{
			name:  "a namespace with a dangling owner takes its content along",
			world: "v1 Namespace n owners=v1:Namespace:gone:g\nv1 ConfigMap n/protected",
			seed:  deleting("n"),
			want: "ConfigMap protected: Sure Deleted ControllerActs, Deleted by namespace-controller anyway\n" +
				"Namespace n: Sure Deleted AtOnce, Deleted anyway",
		},
		{
			name: "what was being deleted is finished by its controller",
			world: "v1 Namespace n deleting phase=Terminating spec=kubernetes\nv1 PersistentVolumeClaim n/data deleting grace=0 fin=kubernetes.io/pvc-protection\n" +
				"v1 Pod n/p node=n1 phase=Running claims=data\nv1 Node n1",
			seed: deleting("p"),
			want: "Namespace n: Sure Deleted ControllerActs, Deleted by namespace-controller anyway\n" +
				"PersistentVolumeClaim data: Sure Deleted ControllerActs, Deleted by pvc-protection-controller anyway\nPod p: Sure Deleted AtOnce, Deleted anyway",
		},
		{
			name:  "a finalizer whose controller runs comes off",
			world: "v1 ConfigMap n/a fin=x/runs\nv1 Secret n/b owners=a\nv1 Secret n/c owners=b",
			seed:  deleting("a"),
			want: "ConfigMap a: Sure Deleted AtOnce, Deleted after x/runs of a (operator)\n" +
				"Secret b: Sure Deleted FinalizerRemoved, Deleted after x/runs of a (operator)\n" +
				"Secret c: Sure Deleted FinalizerRemoved, Deleted after x/runs of a (operator)",
		},
		{
			name:  "one whose controller is gone may come off all the same",
			world: "v1 ConfigMap n/a fin=x/gone\nv1 Secret n/b owners=a\nv1 Secret n/c owners=b",
			seed:  deleting("a"),
			want: "ConfigMap a: Sure Deleted AtOnce, Blocked after x/gone of a (Gone)\n" +
				"Secret b: Possible Deleted FinalizerRemoved, Kept after x/gone of a (Gone)\n" +
				"Secret c: Possible Deleted FinalizerRemoved, Kept after x/gone of a (Gone)",
		},
		{
			name:  "one of whom nothing is known behind one that runs",
			world: "v1 ConfigMap n/a fin=x/runs\nv1 Secret n/b owners=a fin=x/y\nv1 Secret n/c owners=b",
			seed:  deleting("a"),
			want: "ConfigMap a: Sure Deleted AtOnce, Deleted after x/runs of a (operator)\n" +
				"Secret b: Sure Deleted FinalizerRemoved, Blocked after x/runs of a (operator) after x/y of b (Unknown)\n" +
				"Secret c: Possible Deleted FinalizerRemoved, Kept after x/y of b (Unknown)",
		},
		{
			name:  "orphaned is changed",
			world: "v1 ConfigMap n/a\nv1 Secret n/b owners=a",
			seed: func(s *snapshot.Snapshot) plan.Seed {
				return plan.DeleteSeed(engine.OrphanPolicy, find(s, "a"))
			},
			want: "ConfigMap a: Sure Deleted AtOnce, Deleted\nSecret b: Sure Changed AtOnce, Orphaned",
		},
		{
			name:  "a finalizer that we take off, and what was garbage behind it",
			world: "v1 ConfigMap n/a fin=x/y deleting grace=0\nv1 Secret n/b owners=a\nv1 Secret m/garbage owners=v1:ConfigMap:gone:g",
			seed: func(s *snapshot.Snapshot) plan.Seed {
				return plan.RemoveFinalizerSeed([]string{"x/y"}, find(s, "a"))
			},
			want: "ConfigMap a: Sure Deleted AtOnce, Deleted\nSecret b: Sure Deleted AtOnce, Deleted",
		},
		{
			name: "the API of a CRD that goes with its last instance",
			world: "apiextensions.k8s.io/v1 CustomResourceDefinition widgets.example.com deleting grace=0 fin=customresourcecleanup.apiextensions.k8s.io " +
				"defines=example.com/v1:Widget:widgets established terminating\n" +
				"apiregistration.k8s.io/v1 APIService v1.example.com labels=kube-aggregator.kubernetes.io/automanaged=true\n" +
				"example.com/v1 Widget n/a deleting grace=0 fin=x/y",
			seed: func(s *snapshot.Snapshot) plan.Seed {
				return plan.RemoveFinalizerSeed([]string{"x/y"}, find(s, "a"))
			},
			want: "CustomResourceDefinition widgets.example.com: Sure Deleted ControllerActs, Deleted by crd-finalizer\n" +
				"APIService v1.example.com: Sure Deleted ControllerActs, Deleted by autoregister\nWidget a: Sure Deleted AtOnce, Deleted",
		},
		{
			name:  "of a collection what we write to and what follows, and no other deletion that goes on",
			world: "v1 ConfigMap n/a owners=v1:ConfigMap:gone:g\nv1 Secret n/b owners=a\nv1 Node x\nv1 Pod m/p node=x phase=Running deleting grace=30",
			seed:  func(*snapshot.Snapshot) plan.Seed { return plan.CollectSeed() },
			want:  "ConfigMap a: Sure Deleted AtOnce, Deleted\nSecret b: Sure Deleted AtOnce, Deleted",
		},
		{
			name: "a volume that the delete of another namespace releases is no matter of ours",
			world: "v1 ConfigMap n/a\nv1 Namespace n\nv1 Namespace m deleting\nv1 PersistentVolumeClaim m/c uid=c fin=kubernetes.io/pvc-protection\n" +
				"v1 PersistentVolume disk phase=Bound claim=m/c:c reclaim=Retain fin=kubernetes.io/pv-protection",
			seed: deleting("a"),
			want: "ConfigMap a: Sure Deleted AtOnce, Deleted",
		},
		{
			name:  "what the snapshot does not decide counts",
			world: "v1 ConfigMap n/a uid=a\nv1 Secret n/x uid=a\nv1 Secret n/b owners=a",
			seed:  deleting("a"),
			want:  "ConfigMap a: Unknown Deleted AtOnce, Unknown\nSecret b: Unknown Deleted AtOnce, Unknown",
		},
		{
			name:  "of a collection what an owner of an unserved kind keeps for good does not count",
			world: "v1 ConfigMap n/a owners=v1:ConfigMap:gone:g\nv1 Secret n/b owners=a,example.org/v1:Unheard:x:x\nv1 Secret n/other owners=example.org/v1:Unheard:y:y",
			seed:  func(*snapshot.Snapshot) plan.Seed { return plan.CollectSeed() },
			want:  "ConfigMap a: Sure Deleted AtOnce, Deleted",
		},
		{
			name:  "what goes under another order of events counts as going, and as possible",
			world: "v1 ConfigMap n/a\napps/v1 StatefulSet n/m owners=a fin=orphan\nv1 Secret n/b owners=a,m",
			seed: func(s *snapshot.Snapshot) plan.Seed {
				return plan.DeleteSeed(engine.ForegroundPolicy, find(s, "a"))
			},
			explore: plan.Usual,
			want:    "StatefulSet m: Sure Deleted AtOnce, Deleted\nConfigMap a: Sure Deleted AtOnce, Deleted\nSecret b: Possible Deleted AtOnce, Deleted",
		},
		{
			name:    "of a collection what stays under one order of events, and goes under another",
			world:   "v1 ConfigMap n/m owners=v1:ConfigMap:gone:g fin=foregroundDeletion,x/y\nv1 Secret n/b owners=m!\nv1 Secret n/c owners=m",
			seed:    func(*snapshot.Snapshot) plan.Seed { return plan.CollectSeed() },
			explore: plan.Usual,
			want: "ConfigMap m: Sure Deleted AtOnce, Blocked after x/y of m (Unknown)\nSecret b: Sure Deleted AtOnce, Deleted\n" +
				"Secret c: Possible Deleted AtOnce, Deleted",
		},
		{
			name:  "a volume goes when its controller acts",
			world: "v1 PersistentVolumeClaim n/a\nv1 PersistentVolume disk phase=Bound claim=n/a:a reclaim=Delete by=csi.example.com csi",
			seed:  deleting("a"),
			want: "PersistentVolume disk: Sure Deleted ControllerActs, Deleted by persistentvolume-binder-controller\n" +
				"PersistentVolumeClaim a: Sure Deleted AtOnce, Deleted",
		},
		{
			name: "what waits for an object that somebody else had deleted, behind a controller of whom nothing is known",
			world: "v1 Namespace n\nv1 ConfigMap n/held deleting grace=0 fin=x/y\nv1 Secret n/b owners=held\n" +
				"rbac.authorization.k8s.io/v1 ClusterRole of-n owners=n\nrbac.authorization.k8s.io/v1 ClusterRole of-it owners=of-n",
			seed: deleting("n"),
			want: "ClusterRole of-it: Possible Deleted FinalizerRemoved, Kept after x/y of held (Unknown)\n" +
				"ClusterRole of-n: Possible Deleted FinalizerRemoved, Kept after x/y of held (Unknown)\n" +
				"Namespace n: Sure Deleted AtOnce, Blocked after x/y of held (Unknown)\n" +
				"Secret b: Sure Deleted ControllerActs, Deleted by namespace-controller",
		},
		{
			name: "what waits for an object that somebody else had deleted, behind a controller who is gone",
			world: "v1 Namespace n\nv1 ConfigMap n/held deleting grace=0 fin=x/gone\nv1 Secret n/b owners=held\n" +
				"rbac.authorization.k8s.io/v1 ClusterRole of-n owners=n\nrbac.authorization.k8s.io/v1 ClusterRole of-it owners=of-n",
			seed: deleting("n"),
			want: "ClusterRole of-it: Possible Deleted FinalizerRemoved, Kept after x/gone of held (Gone)\n" +
				"ClusterRole of-n: Possible Deleted FinalizerRemoved, Kept after x/gone of held (Gone)\n" +
				"Namespace n: Sure Deleted AtOnce, Blocked after x/gone of held (Gone)\n" +
				"Secret b: Sure Deleted ControllerActs, Deleted by namespace-controller",
		},
		{
			name: "what waits for an object that somebody else had deleted, behind a controller who runs",
			world: "v1 Namespace n\nv1 ConfigMap n/held deleting grace=0 fin=x/runs\nv1 Secret n/b owners=held\n" +
				"rbac.authorization.k8s.io/v1 ClusterRole of-n owners=n\nrbac.authorization.k8s.io/v1 ClusterRole of-it owners=of-n",
			seed: deleting("n"),
			want: "ClusterRole of-it: Sure Deleted FinalizerRemoved, Deleted after x/runs of held (operator)\n" +
				"ClusterRole of-n: Sure Deleted FinalizerRemoved, Deleted after x/runs of held (operator)\n" +
				"Namespace n: Sure Deleted AtOnce, Deleted after x/runs of held (operator)\n" +
				"Secret b: Sure Deleted ControllerActs, Deleted by namespace-controller",
		},
		{
			name:  "what loses a reference whatever we do, and goes later because of us",
			world: "v1 Namespace n\nv1 Pod n/held fin=x/y\nv1 ConfigMap n/kept\nv1 Secret n/b owners=kept,v1:ConfigMap:gone:g",
			seed:  deleting("n"),
			want: "ConfigMap kept: Possible Deleted FinalizerRemoved, Kept after x/y of held (Unknown)\n" +
				"Namespace n: Sure Deleted AtOnce, Blocked after x/y of held (Unknown)\n" +
				"Pod held: Sure Deleted AtOnce, Blocked after x/y of held (Unknown)\n" +
				"Secret b: Possible Deleted FinalizerRemoved, Pruned after x/y of held (Unknown)",
		},
		{
			name: "content of our namespace that may go with another deletion before",
			world: "v1 Namespace n\nv1 Pod n/held deleting grace=0 fin=x/y\nv1 Service n/s uid=s deleting grace=0 fin=service.kubernetes.io/load-balancer-cleanup\n" +
				"discovery.k8s.io/v1 EndpointSlice n/s-1 owners=s",
			seed: func(s *snapshot.Snapshot) plan.Seed {
				return plan.DeleteSeed(engine.Background, object.Ref{APIVersion: "v1", Kind: "Namespace", Name: "n", UID: "n"})
			},
			want: "EndpointSlice s-1: Possible Deleted FinalizerRemoved, Kept after service.kubernetes.io/load-balancer-cleanup of s (Unknown) anyway\n" +
				"Namespace n: Sure Deleted AtOnce, Blocked after x/y of held (Unknown)",
		},
		{
			name:  "an object that is being deleted and stays, and loses an owner once that is gone",
			world: "v1 ConfigMap n/b deleting grace=0 fin=x/y\nv1 ConfigMap n/k\nv1 Event n/c owners=b,k deleting grace=0 fin=orphan\nv1 ConfigMap n/d owners=events.k8s.io/v1:Event:c:c",
			seed:  deleting("b"),
			want:  "ConfigMap b: Sure Deleted AtOnce, Blocked after x/y of b (Unknown)\nEvent c: Sure Changed FinalizerRemoved, Blocked after x/y of b (Unknown)",
		},
		{
			name: "a volume that was being deleted, of a PVC that may be another one, beside the end of its owner",
			world: "v1 ConfigMap n/a\nv1 Namespace t deleting\nrbac.authorization.k8s.io/v1 ClusterRole of-t owners=t\n" +
				"v1 PersistentVolume v owners=t deleting fin=kubernetes.io/pv-protection phase=Bound claim=m/c:old\nv1 PersistentVolumeClaim m/c uid=new",
			seed: deleting("a"),
			want: "ConfigMap a: Sure Deleted AtOnce, Deleted",
		},
		{
			name: "what waits for what waits for an object that somebody else had deleted",
			world: "v1 ConfigMap n/a\nv1 Secret n/b owners=a!\nv1 ConfigMap n/b2 owners=a! deleting grace=0 fin=foregroundDeletion\n" +
				"v1 Secret n/held owners=b2! deleting grace=0 fin=x/y\nv1 Secret n/of-held owners=held\nv1 ConfigMap n/other deleting grace=0 fin=x/y",
			seed: func(s *snapshot.Snapshot) plan.Seed { return plan.DeleteSeed(engine.ForegroundPolicy, find(s, "a")) },
			want: "ConfigMap a: Sure Deleted AtOnce, Blocked after x/y of held (Unknown)\n" +
				"Secret b: Sure Deleted AtOnce, Deleted",
		},
		{
			name:  "an owner beside ours that is garbage already, behind a finalizer",
			world: "v1 ConfigMap n/g owners=v1:ConfigMap:gone:u-gone fin=x/y\nv1 Secret n/s owners=g,t\nv1 ConfigMap n/t\nv1 Secret n/u owners=s",
			seed:  deleting("t"),
			want: "ConfigMap t: Sure Deleted AtOnce, Deleted\n" +
				"Secret s: Sure Deleted AtOnce, Pruned after x/y of g (Unknown)\n" +
				"Secret u: Possible Deleted FinalizerRemoved, Kept after x/y of g (Unknown)",
		},
		{
			name:  "a target that is being deleted, with the uid of another object",
			world: "v1 ConfigMap n/a uid=u deleting grace=0 fin=x/y\nv1 Secret n/b uid=u owners=v1:Secret:b:u",
			seed:  deleting("a"),
			want:  "ConfigMap a: Unknown Deleted AtOnce, Unknown",
		},
		{
			name: "a volume that is released only when a finalizer is removed",
			world: "v1 ConfigMap n/a fin=x/y\nv1 PersistentVolumeClaim n/c owners=a\n" +
				"v1 PersistentVolume disk phase=Bound claim=n/c:c reclaim=Recycle",
			seed: deleting("a"),
			want: "ConfigMap a: Sure Deleted AtOnce, Blocked after x/y of a (Unknown)\n" +
				"PersistentVolume disk: Possible Changed FinalizerRemoved, Kept after x/y of a (Unknown)\n" +
				"PersistentVolumeClaim c: Possible Deleted FinalizerRemoved, Kept after x/y of a (Unknown)",
		},
		{
			name: "a namespace that goes anyway once a finalizer is removed, although the delete reaches what holds it",
			world: "v1 Namespace n deleting phase=Terminating spec=kubernetes\nv1 ConfigMap n/held owners=o fin=x/y\n" +
				"rbac.authorization.k8s.io/v1 ClusterRole o",
			seed: deleting("o"),
			want: "ClusterRole o: Sure Deleted AtOnce, Deleted\n" +
				"ConfigMap held: Sure Deleted AtOnce, Blocked anyway\n" +
				"Namespace n: Sure Deleted FinalizerRemoved, Blocked after x/y of held (Unknown) anyway",
		},
		{
			name: "the same namespace as the target: what is still to come",
			world: "v1 Namespace n deleting phase=Terminating spec=kubernetes\nv1 ConfigMap n/held fin=x/y\n" +
				"rbac.authorization.k8s.io/v1 ClusterRole o owners=n",
			seed: deleting("n"),
			want: "ClusterRole o: Possible Deleted FinalizerRemoved, Kept after x/y of held (Unknown)\n" +
				"ConfigMap held: Sure Deleted AtOnce, Blocked anyway\nNamespace n: Sure Deleted AtOnce, Blocked after x/y of held (Unknown)",
		},
		{
			name: "an orphan whose other owner a person may release: its deployer, which would delete it in any case, may not exist",
			world: "example.com/v1 Gadget op deleting grace=0 fin=defined.apiextensions.crossplane.io\nrbac.authorization.k8s.io/v1 ClusterRole a\n" +
				"apiextensions.k8s.io/v1 CustomResourceDefinition widgets.example.com owners=a,op^ defines=example.com/v1:Widget:widgets established\n" +
				"rbac.authorization.k8s.io/v1 ClusterRole of-w owners=widgets.example.com",
			seed: func(s *snapshot.Snapshot) plan.Seed { return plan.DeleteSeed(engine.OrphanPolicy, find(s, "a")) },
			want: "CustomResourceDefinition widgets.example.com: Sure Deleted AtOnce, Orphaned after defined.apiextensions.crossplane.io of op (Unknown)\n" +
				"ClusterRole a: Sure Deleted AtOnce, Deleted\n" +
				"ClusterRole of-w: Possible Deleted FinalizerRemoved, Kept after defined.apiextensions.crossplane.io of op (Unknown)",
		},
		{
			name: "what a deployer deletes whatever we do, unless it is gone, and what only it deletes",
			world: "example.com/v1 Gadget op deleting grace=0 fin=kro.run/finalizer\nv1 ConfigMap n/a fin=x/y\nv1 ConfigMap n/e\n" +
				"v1 ConfigMap n/b owners=a\nv1 ConfigMap n/c owners=b labels=[kro.run/instance-id=op]\nv1 ConfigMap n/d owners=a,e labels=[kro.run/instance-id=op]",
			seed: deleting("a"),
			want: "ConfigMap a: Sure Deleted AtOnce, Blocked after x/y of a (Unknown)\n" +
				"ConfigMap b: Possible Deleted FinalizerRemoved, Kept after x/y of a (Unknown)\n" +
				"ConfigMap c: Possible Deleted FinalizerRemoved, Kept after x/y of a (Unknown)\n" +
				"ConfigMap d: Possible Deleted FinalizerRemoved, Kept after x/y of a (Unknown) after kro.run/finalizer of op (Unknown) anyway",
		},
		{
			name: "a deployer that waits for the definition of the object that it holds: a person has to remove its finalizer",
			world: "apiextensions.k8s.io/v1 CustomResourceDefinition widgets.example.com defines=example.com/v1:Widget:widgets established labels=[kro.run/instance-id=op]\n" +
				"example.com/v1 Widget n/op fin=kro.run/finalizer\nrbac.authorization.k8s.io/v1 ClusterRole web owners=widgets.example.com",
			seed: deleting("widgets.example.com"),
			want: "CustomResourceDefinition widgets.example.com: Sure Deleted AtOnce, Blocked after kro.run/finalizer of op (Unknown)\n" +
				"Widget op: Sure Deleted AtOnce, Blocked after kro.run/finalizer of op (Unknown)\n" +
				"ClusterRole web: Possible Deleted FinalizerRemoved, Kept after kro.run/finalizer of op (Unknown)",
		},
		{
			name: "what goes after that has a deployer that does not wait: it deletes its inventory",
			world: "apiextensions.k8s.io/v1 CustomResourceDefinition widgets.example.com defines=example.com/v1:Widget:widgets established labels=[kro.run/instance-id=op]\n" +
				"example.com/v1 Widget n/op fin=kro.run/finalizer\n" +
				"argoproj.io/v1alpha1 Application n/app owners=widgets.example.com fin=resources-finalizer.argocd.argoproj.io inventory=[/ConfigMap/n/config]\n" +
				"v1 ConfigMap n/config",
			seed: deleting("widgets.example.com"),
			want: "CustomResourceDefinition widgets.example.com: Sure Deleted AtOnce, Blocked after kro.run/finalizer of op (Unknown)\n" +
				"Application app: Possible Deleted FinalizerRemoved, Kept after kro.run/finalizer of op (Unknown)\n" +
				"Widget op: Sure Deleted AtOnce, Blocked after kro.run/finalizer of op (Unknown)\n" +
				"ConfigMap config: Possible Deleted FinalizerRemoved, Kept after resources-finalizer.argocd.argoproj.io of app (Unknown)",
		},
		{
			name:  "a deletion that was under way, and goes on because of us",
			world: "v1 ConfigMap n/p deleting grace=0 fin=foregroundDeletion,x/z\nv1 Secret n/a owners=p! deleting grace=0 fin=x/y",
			seed: func(s *snapshot.Snapshot) plan.Seed {
				return plan.RemoveFinalizerSeed([]string{"x/y"}, find(s, "a"))
			},
			want: "ConfigMap p: Sure Deleted AtOnce, Blocked after x/z of p (Unknown)\nSecret a: Sure Deleted AtOnce, Deleted",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			objects, err := scenario.ParseWorld(tt.world, scenario.Names{})
			if err != nil {
				t.Fatal(err)
			}
			snap, err := snapshot.Listed(objects, scenario.Resources(), nil, allBut("", ""), snapshot.Source{})
			if err != nil {
				t.Fatal(err)
			}
			result, err := plan.Simulate(t.Context(), snap, tt.seed(snap), plan.Options{Controller: runs(known), Explore: tt.explore})
			if err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(tt.want, accountText(result.Plan)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestUnknownNamespaceTakes checks that a namespace with unseen content is unknown, as the target or as a
// dependent of it, and with it the objects that it owns elsewhere.
func TestUnknownNamespaceTakes(t *testing.T) {
	for owner, want := range map[string]string{
		"":          "ConfigMap c: Unknown Deleted AtOnce, Unknown\nNamespace m: Unknown Deleted AtOnce, Unknown\nSecret d: Unknown Deleted AtOnce, Unknown",
		" owners=t": "ClusterRole t: Sure Deleted AtOnce, Deleted\nConfigMap c: Unknown Deleted AtOnce, Unknown\nNamespace m: Unknown Deleted AtOnce, Unknown\nSecret d: Unknown Deleted AtOnce, Unknown",
	} {
		world := "v1 Namespace m" + owner + "\nv1 Namespace n\nv1 ConfigMap n/c owners=m\nv1 Secret n/d owners=c\nrbac.authorization.k8s.io/v1 ClusterRole t"
		objects, err := scenario.ParseWorld(world, scenario.Names{})
		if err != nil {
			t.Fatal(err)
		}
		snap, err := snapshot.Listed(objects, scenario.Resources(), nil, allBut("Pod", reason.NotInDump), snapshot.Source{})
		if err != nil {
			t.Fatal(err)
		}
		target := "m"
		if owner != "" {
			target = "t"
		}
		result, err := plan.Simulate(t.Context(), snap, plan.DeleteSeed(engine.Background, find(snap, target)), plan.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(want, accountText(result.Plan)); diff != "" {
			t.Errorf("delete %s (-want +got):\n%s", target, diff)
		}
	}
}

func deleting(names ...string) func(*snapshot.Snapshot) plan.Seed {
	return func(s *snapshot.Snapshot) plan.Seed {
		var targets []object.Ref
		for _, name := range names {
			targets = append(targets, find(s, name))
		}
		return plan.DeleteSeed(engine.Background, targets...)
	}
}

func find(s *snapshot.Snapshot, name string) object.Ref {
	i := slices.IndexFunc(s.Objects, func(o *object.Object) bool { return o.Name == name })
	return s.Objects[i].Ref
}

// TestAccountIsWhole checks that no removal of finalizers deletes or changes an object that is not
// in the account.
func TestAccountIsWhole(t *testing.T) {
	later := 0
	rapid.Check(t, func(t *rapid.T) {
		snap := scenario.DrawCluster(t, scenario.DrawVariety(t)).DrawSnapshot(t, 7)
		target := rapid.SampledFrom(snap.Objects).Draw(t, "target")
		policy := rapid.SampledFrom([]engine.Policy{engine.Background, engine.ForegroundPolicy, engine.OrphanPolicy}).Draw(t, "policy")
		result, err := plan.Simulate(t.Context(), snap, plan.DeleteSeed(policy, target.Ref), plan.Options{Record: plan.RecordRequests})
		if err != nil {
			t.Fatal(err)
		}
		account := map[object.Ref]*report.Consequence{}
		for e := range result.Plan.Account() {
			account[e.Object] = e.Consequence
		}
		if _, ok := account[target.Ref]; !ok {
			t.Fatalf("the target %s is not in the account", target.Ref)
		}
		// Every finalizer is removed, and there is no other request.
		all := runs(map[string]string{})
		everything := func(o *object.Object, f string) (string, report.ControllerState) {
			name, _ := all(o, f)
			return name, report.ControllerRuns
		}
		released, err := plan.Simulate(t.Context(), snap, plan.DeleteSeed(policy, target.Ref), plan.Options{Record: plan.RecordRequests, Controller: everything})
		if err != nil {
			t.Fatal(err)
		}
		twins := slices.ContainsFunc(snap.Problems, func(p snapshot.Problem) bool { return p.Kind == snapshot.DuplicateUID })
		for _, e := range released.Plan.Effects {
			// What happens without the request, too, is not the request's, whatever the run says of it: the two
			// runs may see it in different phases.
			anyway := e.AlreadyHappening || e.Consequence != nil && e.Consequence.Anyway
			if anyway || e.Outcome == report.Kept {
				continue
			}
			if twins && e.Outcome == report.Unknown {
				continue // it is unknown which object a reference means, and which are looked at depends on other deletions
			}
			if e.AtOnce != "" {
				later++
			}
			if _, ok := account[e.Object]; !ok {
				t.Fatalf("%s %s %s is not in the account of the delete of %s; in\n%s\n%s", e.Outcome, e.Reason, e.Object.KubectlName(), target.Ref, scenario.World{Objects: snap.Objects}.String(), accountText(result.Plan))
			}
		}
	})
	if later == 0 {
		t.Error("no finalizer ever came off")
	}
}
