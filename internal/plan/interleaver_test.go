package plan_test

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// TestContestedContainers checks worlds that end differently depending on the progress of the
// controllers when the collector looks, and similar worlds that do not.
func TestContestedContainers(t *testing.T) {
	const (
		namespaces  = "v1 Namespace n phase=Active spec=kubernetes\nv1 Namespace m phase=Active spec=kubernetes\n"
		definitions = "apiextensions.k8s.io/v1 CustomResourceDefinition widgets.example.com uid=ws defines=example.com/v1:Widget:widgets established\n" +
			"apiextensions.k8s.io/v1 CustomResourceDefinition gadgets.example.com uid=gs defines=example.com/v1:Gadget:gadgets scope=Cluster established\n"
		// A finalizer holds the object, so that the reference that went first shows.
		held = " fin=x/y\n"
	)
	for _, tt := range []struct {
		name, world, targets string
		policy               engine.Policy
		contested            string
	}{
		{
			name:    "two CRDs go, each with an owner of one object (S073)",
			world:   namespaces + definitions + "example.com/v1 Gadget g\nv1 ConfigMap n/c owners=g,ws!" + held,
			targets: "ws gs", policy: engine.ForegroundPolicy,
			contested: "c",
		},
		{
			name:    "two instances of one CRD own one object (S073)",
			world:   namespaces + definitions + "example.com/v1 Widget n/v\nexample.com/v1 Widget n/w\nv1 ConfigMap n/c owners=v,w" + held,
			targets: "ws", policy: engine.Background,
			contested: "c",
		},
		{
			name:    "a CRD and its only instance own one object (S073)",
			world:   namespaces + definitions + "example.com/v1 Gadget g\nrbac.authorization.k8s.io/v1 ClusterRole c owners=g!,gs" + held,
			targets: "gs", policy: engine.OrphanPolicy,
			contested: "c",
		},
		{
			name:    "one owner goes with the CRD, the other stays",
			world:   namespaces + definitions + "example.com/v1 Widget n/w\nv1 ConfigMap n/s\nv1 ConfigMap n/c owners=s,w" + held,
			targets: "ws", policy: engine.Background,
		},
		{
			name:    "a namespace is emptied in any order, one owner is outside",
			world:   namespaces + "v1 ConfigMap n/a\nv1 Secret n/c owners=a,m" + held,
			targets: "n", policy: engine.Background,
			contested: "c",
		},
		{
			name:    "the only owner goes with the namespace",
			world:   namespaces + "v1 ConfigMap n/a\nv1 Secret n/c owners=a" + held,
			targets: "n", policy: engine.Background,
		},
		{
			name:    "a request comes after the garbage collector took the other's owner",
			world:   "v1 ConfigMap n/a\nv1 ConfigMap n/b\nv1 Secret n/c owners=a,b" + held,
			targets: "a b", policy: engine.Background,
			contested: "c",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			names := scenario.Names{}
			objects, err := scenario.ParseWorld(tt.world, names)
			if err != nil {
				t.Fatal(err)
			}
			snap, err := snapshot.New(objects, scenario.Resources(), snapshot.CoversEverything(), snapshot.Source{})
			if err != nil {
				t.Fatal(err)
			}
			var targets []object.Ref
			for uid := range strings.FieldsSeq(tt.targets) {
				targets = append(targets, names[types.UID(uid)])
			}
			result, err := plan.Simulate(t.Context(), snap, plan.DeleteSeed(tt.policy, targets...), plan.Options{Explore: 40})
			if err != nil {
				t.Fatal(err)
			}
			var contested []string
			for _, e := range result.Plan.Effects {
				if e.DependsOnTiming {
					contested = append(contested, e.Object.Name)
				}
				if e.Outcome == report.Unknown {
					t.Errorf("%s is unknown: %s", e.Object.Name, e.Message)
				}
			}
			if !slices.Equal(contested, strings.Fields(tt.contested)) {
				t.Errorf("contested: %q, want %q", contested, tt.contested)
			}
		})
	}
}
