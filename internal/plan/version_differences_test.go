package plan_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// TestReleases checks that a known release is simulated. A difference of an older one from the
// newest is reported if it affects the plan, and makes an object unknown if it decides and is not
// simulated. An unknown release is treated as the newest.
func TestReleases(t *testing.T) {
	const shop = "v1 Namespace shop phase=Active spec=kubernetes\n"
	const held = shop + "v1 Pod shop/web fin=example.com/hold\nv1 ConfigMap shop/c\n"
	const misplaced = "v1 ConfigMap shop/a\nv1 Secret shop/b\nv1 ConfigMap shop/owner\n" +
		"v1 ConfigMap shop/good owners=a,owner\nv1 ConfigMap other/bad owners=v1:ConfigMap:owner:owner\n" + shop + "v1 Namespace other phase=Active spec=kubernetes\n"
	// The finalizer in the spec of the namespace was removed by hand.
	const left = "v1 ConfigMap shop/owner\nv1 ConfigMap shop/held owners=owner\nv1 ConfigMap shop/kept owners=owner,v1:ConfigMap:keeper:keeper\n" +
		"v1 ConfigMap shop/keeper\nv1 Namespace other phase=Active spec=kubernetes\n"
	const taken = "v1 PersistentVolumeClaim shop/owner fin=kubernetes.io/pvc-protection\nv1 ConfigMap shop/follows owners=owner\n" +
		"v1 Namespace other phase=Active spec=kubernetes\n"
	const crowned = "v1 PersistentVolume crown fin=foregroundDeletion deleting\nv1 ConfigMap shop/held owners=crown! fin=foregroundDeletion deleting\n" +
		"v1 Namespace other phase=Active spec=kubernetes\n"
	for _, tt := range []struct {
		name, world string
		version     snapshot.Version
		want        string
	}{
		{"the newest release", held, exactly("v1.37.2"), "shop/c Kept, shop Blocked, shop/web Blocked"},
		{"not known", held, snapshot.Version{}, "shop/c Kept, shop Blocked, shop/web Blocked"},
		{"the first with ordered namespaces", held, exactly("v1.33.0"), "shop/c Kept, shop Blocked, shop/web Blocked"},
		{"the last without", held, exactly("v1.32.9"), "NamespaceUnordered: shop/c Deleted, shop Blocked, shop/web Blocked"},
		{"perhaps without", held, between(31, 34), "NamespaceUnordered before v1.33: shop/c Unknown, shop Blocked, shop/web Blocked"},
		{"newer by its kubelets", held, between(33, 36), "shop/c Kept, shop Blocked, shop/web Blocked"},
		{"nothing stays", shop + "v1 Pod shop/web\nv1 ConfigMap shop/c\n", exactly("v1.27.1"), "NamespaceUnordered: shop/c Deleted, shop Deleted, shop/web Deleted"},
		{"no pods", shop + "v1 ConfigMap shop/c\n", exactly("v1.27.1"), "shop/c Deleted, shop Deleted"},
		{"an owner in another namespace", misplaced, exactly("v1.19.16"), "OwnerMisplaced before v1.20: other/bad Deleted, shop/a Deleted, shop/good Unknown"},
		{"which later releases see", misplaced, exactly("v1.20.0"), "other/bad Deleted, shop/a Deleted, shop/good Pruned"},
		{"and nothing is misplaced", "v1 ConfigMap shop/a\nv1 ConfigMap shop/owner\nv1 ConfigMap shop/good owners=a,owner\n" + shop, exactly("v1.13.4"), "shop/a Deleted, shop/good Pruned"},
		{"what is left of a namespace", left, exactly("v1.36.3"), "UpdateRefused: shop/held Deleted, shop/kept Kept, shop/owner Deleted"},
		{"and may be updated or not", left, between(34, 37), "UpdateRefused before v1.37: shop/held Deleted, shop/kept Unknown, shop/owner Deleted"},
		{"with a finalizer that comes off", taken, between(34, 37), "UpdateRefused before v1.37: shop/follows Unknown, shop/owner Unknown"},
		{"and nothing else waits for", crowned, between(34, 37), "UpdateRefused before v1.37: shop/held Unknown, crown Unknown"},
		{"newer than that", crowned, between(37, 38), "shop/held Deleted, crown Deleted"},
		{"and can be updated", left, exactly("v1.37.0"), "shop/held Deleted, shop/kept Pruned, shop/owner Deleted"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := deletedOn(t, tt.world, tt.version)
			var got []string
			for _, e := range p.Effects {
				got = append(got, fmt.Sprintf("%s %s", strings.TrimPrefix(e.Object.Namespace+"/"+e.Object.Name, "/"), e.Outcome))
			}
			text := strings.Join(got, ", ")
			for _, d := range slices.Backward(p.Source.VersionDifferences) {
				if !d.Simulated {
					d.Reason += " before " + d.Before
				}
				text = d.Reason + ": " + text
			}
			if text != tt.want {
				t.Errorf("%s\nnot %s", text, tt.want)
			}
			if unknown := strings.Contains(tt.want, "Unknown"); p.Complete == unknown {
				t.Errorf("complete: %v", p.Complete)
			}
			for e := range p.Account() {
				if c := e.Consequence; e.Reason == "NamespaceOrderUnknown" && (c.When != report.AtOnce || c.Certainty != report.Undecided) {
					t.Errorf("%+v", e)
				}
			}
		})
	}
}

// TestWhoWaitsForAnUpdate checks that an object that waits for several objects that cannot be
// updated names all of them, in order.
func TestWhoWaitsForAnUpdate(t *testing.T) {
	const world = "v1 PersistentVolume crown fin=foregroundDeletion deleting\n" +
		"v1 ConfigMap shop/c owners=crown! fin=foregroundDeletion deleting\n" +
		"v1 ConfigMap shop/a owners=crown! fin=foregroundDeletion deleting\n" +
		"v1 ConfigMap shop/b owners=crown! fin=foregroundDeletion deleting\n" +
		"v1 Namespace other phase=Active spec=kubernetes\n"
	for range 20 { // maps have another order each time
		for _, e := range deletedOn(t, world, between(34, 37)).Effects {
			const want = "goes only after cm/a, cm/b, cm/c, whose outcome is unknown"
			if e.Object.Name == "crown" && e.Message != want {
				t.Fatalf("%s\nnot %s", e.Message, want)
			}
		}
	}
}

func exactly(version string) snapshot.Version { return snapshot.Version{Exact: version} }

func between(least, most int) snapshot.Version {
	return snapshot.Version{Least: least, Most: most, From: []snapshot.VersionEvidence{snapshot.FromKubelets}}
}

// deletedOn returns the plan of a background delete of the first object of a world, on a server of
// a version.
func deletedOn(t *testing.T, world string, version snapshot.Version) *report.Plan {
	t.Helper()
	objects, err := scenario.ParseWorld(world, scenario.Names{})
	if err != nil {
		t.Fatal(err)
	}
	coverage, resources := &snapshot.Coverage{}, snapshot.BuiltinResources()
	for _, r := range resources.All() {
		coverage.Add(r.GroupResource(), "")
	}
	source := snapshot.Source{KubernetesVersion: version.Exact}
	if version.Exact == "" {
		source.VersionBounds = version
	}
	target := objects[0].Ref
	snap, err := snapshot.Listed(objects, resources, nil, coverage, source)
	if err != nil {
		t.Fatal(err)
	}
	gone := func(*object.Object, string) (string, report.ControllerState) { return "", report.ControllerGone }
	result, err := plan.Simulate(t.Context(), snap, plan.DeleteSeed(engine.Background, target), plan.Options{Controller: gone})
	if err != nil {
		t.Fatal(err)
	}
	return result.Plan
}

// TestReleasesAndWhatComesBack checks that the controller that recreates a deleted object depends
// on the release.
func TestReleasesAndWhatComesBack(t *testing.T) {
	const schema = "flowcontrol.apiserver.k8s.io/v1 FlowSchema "
	for _, tt := range []struct{ world, version, want string }{
		{"v1 Endpoints s/web\nv1 Service s/web uid=service\nv1 Namespace s phase=Active spec=kubernetes", "v1.32.2", "endpoints-controller"},
		{"v1 Endpoints s/web\nv1 Service s/web uid=service\nv1 Namespace s phase=Active spec=kubernetes", "v1.33.0", ""},
		{schema + "endpoint-controller", "v1.33.13", "kube-apiserver"},
		{schema + "endpoint-controller", "v1.34.0", ""},
		{schema + "catch-all", "v1.34.0", "kube-apiserver"},
		{"certificates.k8s.io/v1 ClusterTrustBundle kubernetes.io:kube-apiserver-serving:abc", "v1.37.2", "kube-apiserver-serving-clustertrustbundle-publisher-controller"},
		{"certificates.k8s.io/v1 ClusterTrustBundle example.com:abc", "v1.37.2", ""},
	} {
		p := deletedOn(t, tt.world, exactly(tt.version))
		if got := p.Effects[0]; got.Outcome != report.Deleted || got.Recreator != tt.want {
			t.Errorf("%s of %s: %s, made again by %q", tt.world, tt.version, got.Outcome, got.Recreator)
		}
	}
}
