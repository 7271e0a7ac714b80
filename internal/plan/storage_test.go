package plan_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// dataPlan returns the plan of the delete of the first object of a world. Objects of the kinds in
// hidden are not covered.
func dataPlan(t *testing.T, text string, hidden ...string) *report.Plan {
	t.Helper()
	objects, err := scenario.ParseWorld(text, scenario.Names{})
	if err != nil {
		t.Fatal(err)
	}
	target, coverage := objects[0].Ref, &snapshot.Coverage{}
	for _, r := range scenario.Resources().All() {
		if !slices.Contains(hidden, r.Kind) {
			coverage.Add(r.GroupResource(), "")
		}
	}
	snap, err := snapshot.New(objects, scenario.Resources(), coverage, snapshot.Source{})
	if err != nil {
		t.Fatal(err)
	}
	result, err := plan.Simulate(t.Context(), snap, plan.DeleteSeed(engine.Background, target), plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return result.Plan
}

// TestStorage checks what happens to the storage behind deleted claims and volumes.
func TestStorage(t *testing.T) {
	const claim = "v1 PersistentVolumeClaim s/data uid=c\n"
	for _, test := range []struct {
		name, world, hidden, want string
	}{
		{"deleted with the PVC", claim + "v1 PersistentVolume pv phase=Bound claim=s/data:c reclaim=Delete by=csi.example.com csi", "", "data pv Delete Deleted"},
		{"a volume that nobody is known to have provisioned", claim + "v1 PersistentVolume pv phase=Bound claim=s/data:c reclaim=Delete", "", "data pv Delete Unknown"},
		{"kept", claim + "v1 PersistentVolume pv phase=Bound claim=s/data:c reclaim=Retain", "", "data pv Retain Kept"},
		{"wiped", claim + "v1 PersistentVolume pv phase=Bound claim=s/data:c reclaim=Recycle", "", "data pv Recycle Deleted"},
		{"a policy that is not shown", claim + "v1 PersistentVolume pv phase=Bound claim=s/data:c", "", "data pv  Unknown"},
		{"a policy of nobody", claim + "v1 PersistentVolume pv phase=Bound claim=s/data:c reclaim=Burn", "", "data pv Burn Unknown"},
		{"reserved for a claim of that name", claim + "v1 PersistentVolume pv claim=s/data: reclaim=Delete", "", "data pv Delete Deleted"},
		{"of a claim of that name that was before", claim + "v1 PersistentVolume pv phase=Released claim=s/data:old reclaim=Delete", "", ""},
		{"of a PVC elsewhere", claim + "v1 PersistentVolume pv phase=Bound claim=t/data:d reclaim=Delete", "", ""},
		{"no volume", claim, "", ""},
		{"volumes that cannot be listed", claim, "PersistentVolume", "data -  Unknown"},
		{"a volume that shows nothing", claim + "v1 PersistentVolume pv", "", "data -  Unknown"},
		{"a volume alone, with a provisioner", "v1 PersistentVolume pv phase=Available reclaim=Delete fin=external-provisioner.volume.kubernetes.io/finalizer", "", "- pv Delete Deleted"},
		{"a volume alone, with nobody", "v1 PersistentVolume pv phase=Available reclaim=Delete", "", "- pv Delete Unknown"},
		{"a volume alone that is retained", "v1 PersistentVolume pv phase=Released claim=s/data:c reclaim=Retain", "", "- pv Retain Kept"},
		{"a volume alone that shows nothing", "v1 PersistentVolume pv", "", "- pv  Unknown"},
		{"the claim stays", "v1 ConfigMap s/a uid=a\nv1 ConfigMap s/b uid=b\n" + strings.TrimSpace(claim) + " owners=a,b\nv1 PersistentVolume pv phase=Bound claim=s/data:c reclaim=Delete", "", ""},
		{"claim and volume of one owner", "v1 Node n uid=n\nv1 PersistentVolume pv phase=Bound claim=s/data:c reclaim=Delete owners=n fin=kubernetes.io/pv-controller\n" + strings.TrimSpace(claim) + " owners=n", "", "data pv Delete Deleted"},
		{"and nobody is known to delete it before the volume is gone", "v1 Node n uid=n\nv1 PersistentVolume pv phase=Bound claim=s/data:c reclaim=Delete owners=n\n" + strings.TrimSpace(claim) + " owners=n", "", "data pv Delete Unknown"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, x := range dataPlan(t, test.world, test.hidden).Storage {
				name := func(r *report.Ref) string {
					if r == nil {
						return "-"
					}
					return r.Name
				}
				if x.Message == "" {
					t.Errorf("nothing is said of %s", name(x.Volume))
				}
				got = append(got, fmt.Sprintf("%s %s %s %s", name(x.Claim), name(x.Volume), x.ReclaimPolicy, x.Outcome))
			}
			if diff := cmp.Diff(test.want, strings.Join(got, "; ")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestData checks which kinds are marked as data.
func TestData(t *testing.T) {
	p := dataPlan(t, `v1 ConfigMap s/a uid=a
v1 Secret s/b owners=a
v1 PersistentVolumeClaim s/c owners=a
example.com/v1 Widget s/d owners=a
v1 Pod s/e owners=a
`)
	got := map[string]report.Data{}
	for _, c := range p.Summary.ByKind {
		if c.Data != "" {
			got[c.Kind] = c.Data
		}
	}
	want := map[string]report.Data{"Secret": report.SecretData, "PersistentVolumeClaim": report.VolumeData, "Widget": report.CustomData}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestImmortalNamespaces checks that nothing is deleted with a namespace that the API server never
// deletes, whatever was seen.
func TestImmortalNamespaces(t *testing.T) {
	for _, name := range []string{"default", "kube-system", "kube-public"} {
		p := dataPlan(t, "v1 Namespace "+name+" phase=Active spec=kubernetes\nv1 ConfigMap "+name+"/a\n", "Secret", "Pod")
		if len(p.Effects) != 1 || p.Effects[0].Outcome != report.Kept || p.Effects[0].Reason != string(reason.RequestRefused) {
			t.Errorf("%s: %+v", name, p.Effects)
		}
		if !p.Complete || len(p.Gaps) > 0 {
			t.Errorf("%s: that nothing goes rests on no gap: %v", name, p.Gaps)
		}
	}
	if p := dataPlan(t, "v1 Namespace kube-node-lease phase=Active spec=kubernetes\nv1 ConfigMap kube-node-lease/a\n", "Secret", "Pod"); p.Complete {
		t.Error("any other namespace goes, and what it contains is not known")
	}
}
