package diagnose

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/reach"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// TestCeilings: ceilings are as low as possible. Higher ones would cause more simulations.
func TestCeilings(t *testing.T) {
	for _, test := range []struct {
		name, world string
		want        map[string]int
	}{
		{"a chain", "v1 Secret n/a\nv1 Secret n/b owners=a\nv1 Secret n/c owners=b", map[string]int{"a": 3, "b": 2, "c": 1}},
		{
			"two ways to the same", "v1 Secret n/a\nv1 Secret n/b owners=a\nv1 Secret n/c owners=a\nv1 Secret n/d owners=b,c",
			map[string]int{"a": 4, "b": 1, "c": 1, "d": 1},
		},
		{"another owner keeps it", "v1 Secret n/a\nv1 Secret n/b\nv1 Secret n/c owners=a,b\nv1 Secret n/d owners=c", map[string]int{"a": 1, "b": 1, "c": 2}},
		{"a circle", "v1 Secret n/a owners=b\nv1 Secret n/b owners=a\nv1 Secret n/c owners=b", map[string]int{"a": 3, "b": 3, "c": 1}},
		{
			"containers", "v1 Namespace n uid=ns\nv1 Secret n/a\nrbac.authorization.k8s.io/v1 ClusterRole r uid=r owners=ns\nv1 Secret m/b owners=r\n" +
				"v1 Node o owners=r\nv1 Pod m/p node=o phase=Running", map[string]int{"n": 6, "a": 1, "r": 4, "o": 2, "b": 1, "p": 1},
		},
		{
			"volumes and Services", "v1 Secret n/a\nv1 PersistentVolumeClaim n/c uid=c owners=a\nv1 PersistentVolume v phase=Bound claim=n/c:c\n" +
				"v1 PersistentVolume kept phase=Bound claim=n/c:c reclaim=Retain\nv1 Service n/s uid=s owners=c\nv1 Endpoints n/s uid=e",
			map[string]int{"a": 5, "c": 4, "v": 1, "kept": 1},
		},
		{
			"a volume with another owner", "rbac.authorization.k8s.io/v1 ClusterRole r\nv1 PersistentVolumeClaim n/c uid=c\nv1 PersistentVolume v phase=Bound claim=n/c:c owners=r\n" +
				"v1 Secret n/b owners=v", map[string]int{"c": 3, "r": 3, "v": 2},
		},
		{
			"what a finalizer holds goes when it comes off", "v1 Secret n/a\nv1 Secret n/b owners=a fin=x.io/y\nv1 Secret n/c owners=a fin=kubernetes.io/pvc-protection",
			map[string]int{"a": 3, "b": 1, "c": 1},
		},
		{
			"an owner of a kind that is not watched", "v1 Event n/e uid=e\nv1 Service n/s uid=s owners=events.k8s.io/v1:Event:e:e\nv1 Endpoints n/s uid=x",
			map[string]int{"e": 3},
		},
		{
			"one that goes with its own", "v1 Secret n/a\nv1 Event n/e uid=e owners=a\nv1 Secret n/b owners=events.k8s.io/v1:Event:e:e\nv1 Event n/alone owners=a",
			map[string]int{"a": 3, "e": 2},
		},
		{
			"what is not settled", "v1 Secret n/a\nv1 Secret n/b owners=a,v1:ConfigMap:ghost:ghost\nv1 Secret n/c owners=b\nv1 Secret n/d\nv1 Secret n/e owners=d",
			map[string]int{"a": 3, "b": 2, "c": 2, "d": 2, "e": 1},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			objects, err := scenario.ParseWorld(test.world, scenario.Names{})
			if err != nil {
				t.Fatal(err)
			}
			snap, err := snapshot.New(objects, scenario.Resources(), snapshot.CoversEverything(), snapshot.Source{})
			if err != nil {
				t.Fatal(err)
			}
			collector, _ := plan.Open(snap, engine.Upstream)
			c := newCeilings(reach.New(snap, collector.Graph()), snap, newScale(snap, collector.Graph()))
			for i, o := range snap.Objects {
				if want, ok := test.want[o.Name]; ok && c.of(i).Objects != want {
					t.Errorf("%s: %d, want %d", o.Name, c.of(i).Objects, want)
				}
			}
		})
	}
}
