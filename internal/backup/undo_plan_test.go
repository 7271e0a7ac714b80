package backup

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// TestSameCluster: a backup is restored only in its own cluster. If the UID is unknown, a remaining
// namespace or object proves it; without any proof, the user must confirm it. A known other cluster
// is always refused.
func TestSameCluster(t *testing.T) {
	shop := object.Ref{APIVersion: "v1", Kind: "Namespace", Name: "shop", UID: "u-shop"}
	renewed := shop
	renewed.UID = "u-before"
	lost, stays := one("v1", "ConfigMap", "lost"), one("v1", "ConfigMap", "stays")
	const refused, unknown = report.ClusterProof("refused"), report.ClusterProof("unknown")
	for _, tt := range []struct {
		name       string
		made, here types.UID
		witness    []object.Ref
		saved      *object.Object
		options    UndoPlanOptions
		want       report.ClusterProof
	}{
		{"the same", "c", "c", nil, lost, UndoPlanOptions{}, report.ProofClusterUID},
		{"another", "c", "d", []object.Ref{shop}, stays, UndoPlanOptions{AssumeSameCluster: true, JustSaved: true}, refused},
		{"a namespace that is still there", "", "c", []object.Ref{shop}, lost, UndoPlanOptions{JustSaved: true}, report.ProofNamespace},
		{"not known here", "c", "", []object.Ref{shop}, lost, UndoPlanOptions{}, report.ProofNamespace},
		{"a namespace that was made anew", "", "", []object.Ref{renewed}, lost, UndoPlanOptions{}, unknown},
		{"an object that is still there", "", "c", nil, stays, UndoPlanOptions{}, report.ProofObject},
		{"an object beside it that is still there", "", "", []object.Ref{stays.Ref}, lost, UndoPlanOptions{}, report.ProofObject},
		{"an owner that is still there", "", "c", nil, one("v1", "ConfigMap", "below", to(stays)), UndoPlanOptions{}, report.ProofObject},
		{"nothing", "", "c", nil, lost, UndoPlanOptions{}, unknown},
		{"nothing, but it was just saved", "", "", nil, lost, UndoPlanOptions{JustSaved: true}, report.ProofJustSaved},
		{"nothing, and somebody says so", "", "c", nil, lost, UndoPlanOptions{AssumeSameCluster: true}, report.ProofAssumed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, client := testCluster(t, stays)
			dir := backupOf(t, Head{Cluster: Cluster{UID: tt.made, Server: "https://made"}, Witnesses: tt.witness}, tt.saved)
			u, err := PlanUndo(t.Context(), client, kube.Identity{ClusterUID: tt.here, Server: "https://here"}, dir, tt.options)
			_, isUnknown := errors.AsType[*UnknownClusterError](err)
			got := unknown
			switch {
			case err == nil:
				got = u.Document().SameCluster
			case !isUnknown:
				got = refused
			case !strings.Contains(err.Error(), "https://made") || !strings.Contains(err.Error(), "https://here"):
				t.Error(err)
			}
			if got != tt.want {
				t.Errorf("%s, %v; want %s", got, err, tt.want)
			}
		})
	}
}

// The confirmation of an undo includes that nothing proves the cluster.
func TestAssumedClusterIsInTheDigest(t *testing.T) {
	_, client := testCluster(t)
	dir := backupOf(t, Head{Witnesses: []object.Ref{{APIVersion: "v1", Kind: "Namespace", Name: "shop", UID: "u-shop"}}}, one("v1", "ConfigMap", "lost"))
	known, err := PlanUndo(t.Context(), client, kube.Identity{ClusterUID: "c"}, dir, UndoPlanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	bare := backupOf(t, Head{}, one("v1", "ConfigMap", "lost"))
	assumed, err := PlanUndo(t.Context(), client, kube.Identity{ClusterUID: "c"}, bare, UndoPlanOptions{AssumeSameCluster: true})
	if err != nil {
		t.Fatal(err)
	}
	if known.Document().Digest == assumed.Document().Digest {
		t.Error("the digest is the same")
	}
	saved, err := PlanUndo(t.Context(), client, kube.Identity{ClusterUID: "c"}, bare, UndoPlanOptions{JustSaved: true})
	if err != nil {
		t.Fatal(err)
	}
	if saved.Document().Digest != assumed.Document().Digest {
		t.Error("what was just saved cannot be confirmed by a later run that assumes the cluster")
	}
}

// backupOf makes a backup of one object with a head.
func backupOf(t *testing.T, head Head, o *object.Object) string {
	t.Helper()
	head.Command, head.PlanDigest, head.Created = "delete", "sha256:"+strings.Repeat("0", 64), time.Unix(1, 0)
	w, err := Create(filepath.Join(t.TempDir(), "backups"), head)
	if err != nil {
		t.Fatal(err)
	}
	addObject(t, w, o, Deleted)
	closeBackup(t, w)
	return w.Path()
}

// TestPlanAsksLittle: planning reads the present objects with one list for each kind and namespace,
// whether they exist or not.
func TestPlanAsksLittle(t *testing.T) {
	saved := map[*object.Object]Action{one("old.example.com/v1", "Thing", "t"): Deleted}
	for i := range 30 {
		saved[one("v1", "ConfigMap", fmt.Sprintf("c%02d", i))] = Deleted
	}
	stays := one("v1", "ConfigMap", "c07")
	s, client := testCluster(t, stays)
	u := planned(t, client, backup(t, saved))
	if len(u.Document().Steps) != 30 || len(u.Document().Skipped) != 1 {
		t.Errorf("%d steps, %d skipped", len(u.Document().Steps), len(u.Document().Skipped))
	}
	asked := map[string]int{}
	for _, path := range s.asked {
		if strings.Contains(path, "/namespaces/shop") {
			asked[path]++
		}
	}
	want := map[string]int{
		"/api/v1/namespaces/shop/configmaps": 1, "/apis/old.example.com/v1/namespaces/shop/things": 1,
		"/api/v1/namespaces/shop": 1, // whether it is being deleted
	}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Errorf("-want +asked:\n%s", diff)
	}
}

// TestChanges: the document lists what a step does not write as it was saved.
func TestChanges(t *testing.T) {
	owner := one("old.example.com/v1", "Thing", "owner")
	below := one("v1", "ConfigMap", "below", to(owner))
	_, client := testCluster(t)
	doc := planned(t, client, backup(t, map[*object.Object]Action{owner: Deleted, below: Deleted})).Document()
	var got []string
	for _, s := range doc.Steps {
		for _, c := range s.Changes {
			got = append(got, s.Verb+" "+s.Object.Name+" "+c.Field+" "+c.Reason+" "+c.Message)
		}
	}
	want := []string{"Restore below metadata.ownerReferences OwnerHasNewUID the owner has a new uid: thing.old.example.com/owner"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
