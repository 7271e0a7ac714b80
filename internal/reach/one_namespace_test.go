package reach_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/diagnose"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/reach"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

func configMap(name, ownerKind, owner string, finalizers ...string) *object.Object {
	o := &object.Object{Ref: object.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: "n", Name: name, UID: types.UID(name)}, ResourceVersion: "1"}
	if owner != "" {
		o.Owners = []object.OwnerReference{{APIVersion: "v1", Kind: ownerKind, Name: owner, UID: types.UID(owner)}}
	}
	if len(finalizers) > 0 {
		o.Edit().Finalizers = finalizers
	}
	return o
}

func dying(o *object.Object) *object.Object {
	o.Edit().DeletionTimestamp = 1
	return o
}

// TestRest checks, one by one, what makes a part insufficient. Root owns leaf.
func TestRest(t *testing.T) {
	definition := &object.Object{Ref: object.Ref{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition", Name: "carts.example.com", UID: "d"}, ResourceVersion: "1"}
	for name, c := range map[string]struct {
		beside        []*object.Object
		root          string // a finalizer of root
		policy        engine.Policy
		planned, told string
	}{
		"nothing":           {policy: engine.Background},
		"foreground":        {policy: engine.ForegroundPolicy, planned: "the delete waits for dependents"},
		"orphan":            {policy: engine.OrphanPolicy, planned: "the delete waits for dependents"},
		"somebody waits":    {[]*object.Object{dying(configMap("w", "", "", object.Foreground, "example.com/x"))}, "", engine.Background, "waits for its dependents", "waits for its dependents"},
		"somebody releases": {[]*object.Object{dying(configMap("w", "", "", object.Orphan, "example.com/x"))}, "", engine.Background, "releases its dependents", "releases its dependents"},
		"a CRD goes":        {[]*object.Object{dying(definition)}, "", engine.Background, "in all namespaces", "in all namespaces"},
		"root is held":      {nil, "example.com/x", engine.Background, "stays, and so does every object", "tried in the foreground"},
		"an unknown owner":  {[]*object.Object{configMap("o", "Nothing", "x")}, "", engine.Background, "was not seen", ""},
		"an absent sibling": {[]*object.Object{configMap("s", "ConfigMap", "gone")}, "", engine.Background, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			root := configMap("root", "", "")
			if c.root != "" {
				root = configMap("root", "", "", c.root)
			}
			leaf := configMap("leaf", "ConfigMap", "root")
			snap, err := snapshot.New(append([]*object.Object{root, leaf}, c.beside...), scenario.Resources(), snapshot.CoversEverything(), snapshot.Source{})
			if err != nil {
				t.Fatal(err)
			}
			part := reach.InNamespace(snap, "n")
			result, err := plan.Simulate(t.Context(), snap, plan.DeleteSeed(c.policy, root.Ref), plan.Options{Record: plan.RecordRequests})
			if err != nil {
				t.Fatal(err)
			}
			says(t, "plan", part.WhyPlanDiffers(result.Plan), c.planned)
			e, err := diagnose.Explain(t.Context(), snap, leaf.Ref, diagnose.ExplanationOptions{})
			if err != nil {
				t.Fatal(err)
			}
			says(t, "explanation", part.WhyExplanationDiffers(e), c.told)
		})
	}
}

func says(t *testing.T, what, got, want string) {
	t.Helper()
	if (got == "") != (want == "") || !strings.Contains(got, want) {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// TestFollowers: cluster-scoped objects that are deleted with others, or wait for them, make a part
// insufficient for what they own. So does an unseen owner of an object that is connected without a
// reference.
func TestPartOfFollowers(t *testing.T) {
	for world, want := range map[string]string{
		"v1 ConfigMap n/x": "",
		"v1 ConfigMap n/x owners=v\nv1 PersistentVolume v phase=Bound claim=n/c:c\nv1 PersistentVolumeClaim n/c":             "belongs to a PVC",
		"v1 ConfigMap n/x owners=ip\nnetworking.k8s.io/v1 IPAddress 10.0.0.5 uid=ip":                                         "is deleted with a Service",
		"v1 ConfigMap n/x owners=r\nnetworking.k8s.io/v1 ServiceCIDR r":                                                      "waits for the addresses",
		"v1 ConfigMap n/x owners=api\napiregistration.k8s.io/v1 APIService v1.example.com uid=api":                           "is deleted once its CRDs are gone",
		"v1 Endpoints n/x\nv1 Service n/x uid=s":                                                                             "",
		"v1 Endpoints n/x\nv1 Service n/x uid=s owners=a,v1:Secret:ghost:ghost\nv1 Secret n/a":                               "was not seen",
		"v1 Service n/x\nv1 Endpoints n/x uid=e owners=a,v1:Secret:ghost:ghost\nv1 Secret n/a":                               "was not seen",
		"resource.k8s.io/v1 ResourceClaim n/x deleting fin=a.io/b\nv1 Pod n/p owners=a,v1:Secret:ghost:ghost\nv1 Secret n/a": "was not seen",
	} {
		objects, err := scenario.ParseWorld(world, scenario.Names{})
		if err != nil {
			t.Fatal(err)
		}
		target := objects[0].Ref
		snap, err := snapshot.New(objects, scenario.Resources(), snapshot.CoversEverything(), snapshot.Source{})
		if err != nil {
			t.Fatal(err)
		}
		e, err := diagnose.Explain(t.Context(), snap, target, diagnose.ExplanationOptions{})
		if err != nil {
			t.Fatal(err)
		}
		says(t, world, reach.InNamespace(snap, "n").WhyExplanationDiffers(e), want)
	}
}

// TestWaits: what an object waits for has to be in the part, with everything connected to it.
func TestWaits(t *testing.T) {
	held := dying(configMap("held", "", "", "example.com/x"))
	near := dying(configMap("near", "", "", "example.com/x"))
	lost := dying(configMap("lost", "ConfigMap", "gone", "example.com/x"))
	linked := dying(configMap("linked", "", "", "example.com/x"))
	of := configMap("of", "ConfigMap", "linked")
	of.Owners = append(of.Owners, object.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "gone", UID: "gone"})
	role := &object.Object{Ref: object.Ref{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "ClusterRole", Name: "r", UID: "r"}, ResourceVersion: "1"}
	elsewhere := &object.Object{Ref: object.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: "m", Name: "e", UID: "e"}, ResourceVersion: "1"}
	snap, err := snapshot.New([]*object.Object{held, near, lost, linked, of, role}, scenario.Resources(), snapshot.CoversEverything(), snapshot.Source{})
	if err != nil {
		t.Fatal(err)
	}
	part := reach.InNamespace(snap, "n")
	for name, c := range map[string]struct {
		chain []*object.Object
		more  int
		told  string
	}{
		"itself":                                       {[]*object.Object{held}, 0, ""},
		"one beside it":                                {[]*object.Object{held, near}, 0, ""},
		"one without a namespace":                      {[]*object.Object{held, role}, 0, ""},
		"one in another namespace":                     {[]*object.Object{held, elsewhere}, 0, "is not in namespace n"},
		"one whose owner is not seen":                  {[]*object.Object{held, lost}, 0, "refers to ConfigMap gone"},
		"one with a dependent whose owner is not seen": {[]*object.Object{held, linked}, 0, "refers to ConfigMap gone"},
		"several":                                      {[]*object.Object{held, near}, 1, "waits for several objects"},
	} {
		t.Run(name, func(t *testing.T) {
			f := report.Finding{Object: held.Ref, More: c.more}
			for _, o := range c.chain {
				f.Chain = append(f.Chain, report.WaitLink{Ref: o.Ref})
			}
			e := &report.Explanation{Object: f.Object, WaitsFor: []report.Finding{{Object: f.Object, Chain: []report.WaitLink{{Ref: f.Object}}}, f}}
			says(t, "waits", part.WhyWaitsDiffer(e), c.told)
		})
	}
}
