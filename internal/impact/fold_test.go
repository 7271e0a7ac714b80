package impact_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/internal/impact"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// folds are the objects of a fold that stand for others, and for how many, by name.
func folds(t *testing.T, f *impact.Fold, objects []*object.Object) map[string]int {
	t.Helper()
	stand, sum := map[string]int{}, 0
	for i, o := range objects {
		n := f.Times(i)
		if sum += n; n > 1 {
			stand[o.Name] = n
		}
		if n != 1 && !f.Limb(i) {
			t.Errorf("%s is in no limb, and stands for %d", o.Name, n)
		}
	}
	if sum != len(objects) {
		t.Errorf("%d objects stand for %d", len(objects), sum)
	}
	return stand
}

// TestFold: one stands for those that are the same but for their names, below the same owner.
func TestFold(t *testing.T) {
	const set = "apps/v1 ReplicaSet n/rs uid=rs\n"
	for _, test := range []struct {
		name, world string
		want        map[string]int
	}{
		{"pods", set + "v1 Node n1\nv1 Node n2\nv1 Pod n/a owners=rs node=n1 phase=Running claims=\nv1 Pod n/b owners=rs node=n2 phase=Running claims= labels=x=y", map[string]int{"a": 2}},
		{"pods that are not scheduled", set + "v1 Pod n/a owners=rs node=n1 claims=\nv1 Pod n/b owners=rs node= claims=", nil},
		{"pods in other phases", set + "v1 Pod n/a owners=rs phase=Running claims=\nv1 Pod n/b owners=rs phase=Failed claims=", nil},
		{"pods of which it is not known what they use", set + "v1 Pod n/a owners=rs phase=Running\nv1 Pod n/b owners=rs phase=Running", nil},
		{"a pod that is being deleted", set + "v1 Pod n/a owners=rs claims= deleting grace=0\nv1 Pod n/b owners=rs claims= deleting grace=0", nil},
		{"other references", set + "v1 Secret n/a owners=rs\nv1 Secret n/b owners=rs!\nv1 Secret n/c owners=rs^\nv1 Secret n/d owners=rs!", map[string]int{"b": 2}},
		{"finalizers", set + "v1 Secret n/a owners=rs fin=x.io/y\nv1 Secret n/b owners=rs fin=x.io/z\nv1 Secret n/c owners=rs fin=x.io/y", map[string]int{"a": 2}},
		{"namespaces", "v1 Secret n/a\nv1 Secret n/b\nv1 Secret m/c\nv1 Secret m/d\nv1 Secret m/e", map[string]int{"a": 2, "c": 3}},
		{"two owners", set + "v1 Secret n/o\nv1 Secret n/a owners=rs,o\nv1 Secret n/b owners=rs,o", nil},
		{"another owner", set + "apps/v1 StatefulSet n/o\nv1 Secret n/a owners=rs\nv1 Secret n/b owners=o", nil},
		{"an owner that was not seen", "v1 Secret n/a owners=v1:Secret:x:x\nv1 Secret n/b owners=v1:Secret:x:x", nil},
		{
			"pods with claims", set + strings.Join([]string{pod("a"), pod("b"), "v1 Pod n/other owners=rs phase=Running claims=", "v1 PersistentVolumeClaim n/c"}, "\n"),
			map[string]int{"a": 2, "a-c": 2, "a-v": 2},
		},
		{"claims that are used otherwise", set + pod("a") + "\n" + strings.Replace(pod("b"), "~b-c", "b-c", 1), nil},
		{"a claim that others use", set + pod("a") + "\n" + pod("b") + "\nv1 Pod n/user claims=b-c", nil},
		{"pods that may use any claim", set + pod("a") + "\n" + pod("b") + "\nv1 Pod n/user phase=Running", nil},
		{"a volume that stays", set + pod("a") + "\n" + pod("b") + " reclaim=Retain\n" + pod("d"), map[string]int{"a": 2, "a-c": 2, "a-v": 2}},
		{"a volume of another claim", set + pod("a") + "\n" + strings.Replace(pod("b"), "n/b-c:b-c", "n/b-c:old", 1) + "\n" + pod("d"), map[string]int{"a": 2, "a-c": 2, "a-v": 2}},
		{"a pod with devices", set + "v1 Pod n/a owners=rs claims=\nv1 Pod n/b owners=rs claims=\nresource.k8s.io/v1 ResourceClaim n/r reserved=pods:b:b", nil},
		{
			"as many below as there are", "v1 ConfigMap n/o uid=o\nbatch/v1 Job n/j uid=j owners=o finished\nbatch/v1 Job n/k uid=k owners=o finished\nbatch/v1 Job n/l uid=l owners=o finished\n" +
				"v1 Pod n/j1 owners=j claims=\nv1 Pod n/j2 owners=j claims=\nv1 Pod n/k1 owners=k claims=",
			map[string]int{"j": 2, "j1": 3},
		},
		{"one that is named by mistake", set + "v1 Secret n/a owners=rs\nv1 Secret n/b owners=rs\nv1 Secret n/c owners=v1:Secret:b:old", nil},
		{"one that an Event refers to", set + "v1 Secret n/a owners=rs\nv1 Secret n/b owners=rs\nv1 Event n/e owners=b", nil},
		{"Events", "v1 Event n/e\nv1 Event n/f", map[string]int{"e": 2}},
		{"an Event that somebody refers to", "v1 Event n/e uid=e\nv1 Event n/f\nv1 Secret n/s owners=events.k8s.io/v1:Event:e:e", nil},
		{"what goes by its name", "v1 Service n/a\nv1 Service n/b\nv1 ServiceAccount n/a\nv1 ServiceAccount n/b\nv1 Node a\nv1 Node b\nv1 Namespace a\nv1 Namespace b", nil},
		{"tokens", "v1 ServiceAccount n/s uid=s\nv1 Secret n/a token=s:s\nv1 Secret n/b token=s:s", nil},
		{"a uid that is there twice", "v1 Secret n/a uid=u\nv1 Secret n/b uid=u\nv1 Secret n/c\nv1 Secret n/d", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			snap := parsed(t, test.world)
			stand := folds(t, mapped(snap).Positions().Fold(), snap.Objects)
			if diff := cmp.Diff(test.want, stand, cmp.Transformer("", func(m map[string]int) []string {
				var list []string
				for _, name := range slices.Sorted(maps.Keys(m)) {
					list = append(list, fmt.Sprint(name, m[name]))
				}
				return list
			})); diff != "" {
				t.Errorf("who stands for how many (-want +got):\n%s", diff)
			}
		})
	}
}

// pod is one with a claim that it brings, and the volume of that.
func pod(name string) string {
	return strings.ReplaceAll(`v1 Pod n/X owners=rs phase=Running claims=~X-c
v1 PersistentVolumeClaim n/X-c uid=X-c owners=X^
v1 PersistentVolume X-v phase=Bound claim=n/X-c:X-c`, "X", name)
}

// TestFoldOfManyBelow: one below which there are many stands for itself, and those below it
// are folded.
func TestFoldOfManyBelow(t *testing.T) {
	objects, err := scenario.ParseWorld("v1 ConfigMap n/a\nv1 ConfigMap n/b", scenario.Names{})
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Builder{}
	for _, o := range objects {
		fmt.Fprintln(&text, "v1 ConfigMap n/"+o.Name)
		for i := range 100 {
			fmt.Fprintf(&text, "v1 Secret n/%s%02d owners=%s\n", o.Name, i, o.Name)
		}
	}
	snap := parsed(t, text.String())
	stand := folds(t, mapped(snap).Positions().Fold(), snap.Objects)
	if diff := cmp.Diff(map[string]int{"a00": 100, "b00": 100}, stand); diff != "" {
		t.Errorf("who stands for how many (-want +got):\n%s", diff)
	}
}
