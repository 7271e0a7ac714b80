package reading

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// TestDumpOfSeveralMoments: between two lists of a dump owners are deleted and made again,
// and others come, with what they own. Nothing that has an owner is called garbage, in 200
// dumps. Where what is not in the dump is taken for absent, much of it is.
func TestDumpOfSeveralMoments(t *testing.T) {
	apply(t, "apiVersion: v1\nkind: Namespace\nmetadata: {name: moments}\n")
	const configMaps, secrets = "/api/v1/namespaces/moments/configmaps", "/api/v1/namespaces/moments/secrets"
	r := rand.New(rand.NewPCG(14, 4))
	owners := map[string]string{} // uids by name
	made := 0
	own := func(name string) { owners[name] = post(t, configMaps, name, "", "") }
	depend := func() {
		name := fmt.Sprintf("o%d", r.IntN(6))
		if uid := owners[name]; uid != "" {
			made++
			post(t, secrets, fmt.Sprintf("d%d", made), name, uid)
		}
	}
	change := func() {
		switch name := fmt.Sprintf("o%d", r.IntN(6)); {
		case owners[name] == "":
			own(name)
		case r.IntN(2) == 0:
			remove(t, configMaps+"/"+name)
			own(name)
		default:
			remove(t, configMaps+"/"+name)
			delete(owners, name)
		}
		depend()
		depend()
	}
	wrong := 0
	for range 200 {
		dir := t.TempDir()
		change()
		for i, path := range []string{configMaps, secrets} {
			list, err := plane.Do(t.Context(), "GET", path, "", nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.json", i)), list, 0o600); err != nil {
				t.Fatal(err)
			}
			for range r.IntN(3) {
				change()
			}
		}
		lives := map[string]bool{}
		for _, uid := range owners {
			lives[uid] = true
		}
		if gone := deleted(t, dir, lives, false); len(gone) > 0 {
			t.Errorf("called garbage, and the owner exists: %v", gone)
		}
		wrong += len(deleted(t, dir, lives, true))
		if _, err := plane.Do(t.Context(), "DELETE", secrets, "", nil); err != nil {
			t.Fatal(err)
		}
	}
	if wrong == 0 {
		t.Error("no dump showed two moments, so nothing was tried")
	}
	t.Logf("%d objects would have been called garbage", wrong)
}

// TestDumpOfSeveralMomentsOfOthers: the same of what is deleted without an owner: between two
// lists a node comes with its pods, and an account with its token. Nothing of them goes, in
// 60 dumps.
func TestDumpOfSeveralMomentsOfOthers(t *testing.T) {
	apply(t, "apiVersion: v1\nkind: Namespace\nmetadata: {name: others}\n---\napiVersion: v1\nkind: Node\nmetadata: {name: first}\n---\n"+
		"apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: first, namespace: others}\n")
	const nodes, accounts, in = "/api/v1/nodes", "/api/v1/namespaces/others/serviceaccounts", "/api/v1/namespaces/others/"
	wrong := 0
	for n := range 60 {
		dir, name := t.TempDir(), fmt.Sprintf("x%d", n)
		for i, path := range []string{nodes, accounts, in + "pods", in + "secrets"} {
			list, err := plane.Do(t.Context(), "GET", path, "", nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.json", i)), list, 0o600); err != nil {
				t.Fatal(err)
			}
			if path == accounts {
				apply(t, "apiVersion: v1\nkind: Node\nmetadata: {name: "+name+"}\n")
				uid := post(t, accounts, name, "", "")
				apply(t, "apiVersion: v1\nkind: Pod\nmetadata: {name: "+name+", namespace: others}\nspec: {nodeName: "+name+", serviceAccountName: "+name+
					", automountServiceAccountToken: false, containers: [{name: c, image: i}]}\n---\n"+
					"apiVersion: v1\nkind: Secret\ntype: kubernetes.io/service-account-token\nmetadata: {name: "+name+", namespace: others, annotations: {kubernetes.io/service-account.name: "+name+
					", kubernetes.io/service-account.uid: "+uid+"}}\n")
			}
		}
		if names := gone(t, dir, false); len(names) > 0 {
			t.Errorf("deleted, though the node or the account is there: %v", names)
		}
		wrong += len(gone(t, dir, true))
	}
	if wrong < 60 {
		t.Errorf("only %d objects would have been called deleted, so little was tried", wrong)
	}
	t.Logf("%d objects would have been called deleted", wrong)
}

// gone are the names of all that a collection of a dump deletes.
func gone(t *testing.T, dir string, missingIsAbsent bool) (names []string) {
	t.Helper()
	for _, o := range collected(t, dir, missingIsAbsent) {
		names = append(names, o.Kind+" "+o.Name)
	}
	return names
}

// deleted are the objects that a collection of a dump would delete, and that have an owner
// which exists.
func deleted(t *testing.T, dir string, lives map[string]bool, missingIsAbsent bool) (names []string) {
	t.Helper()
	for _, o := range collected(t, dir, missingIsAbsent) {
		if len(o.Owners) > 0 && lives[string(o.Owners[0].UID)] {
			names = append(names, o.Name)
		}
	}
	return names
}

// collected are the objects that a collection of a dump deletes.
func collected(t *testing.T, dir string, missingIsAbsent bool) (list []*object.Object) {
	t.Helper()
	snap, err := snapshot.ReadFiles([]string{dir}, snapshot.Options{TreatMissingAsAbsent: missingIsAbsent})
	if err != nil {
		t.Fatal(err)
	}
	result, err := plan.Simulate(t.Context(), snap, plan.CollectSeed(), plan.Options{Record: plan.RecordRequests})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range result.Plan.Effects {
		if e.Outcome == report.Deleted {
			list = append(list, snap.Find(e.Object.APIVersion, e.Object.Kind, e.Object.Namespace, e.Object.Name))
		}
	}
	return list
}

// post creates an object, with an owner where one is named, and returns its uid.
func post(t *testing.T, path, name, owner, ownerUID string) string {
	t.Helper()
	metadata := map[string]any{"name": name}
	if owner != "" {
		metadata["ownerReferences"] = []map[string]any{{"apiVersion": "v1", "kind": "ConfigMap", "name": owner, "uid": ownerUID}}
	}
	body, err := json.Marshal(map[string]any{"metadata": metadata})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := plane.Do(t.Context(), "POST", path, "application/json", body)
	if err != nil {
		t.Fatal(err)
	}
	var created struct{ Metadata struct{ UID string } }
	if err := json.Unmarshal(answer, &created); err != nil {
		t.Fatal(err)
	}
	return created.Metadata.UID
}

func remove(t *testing.T, path string) {
	t.Helper()
	if _, err := plane.Do(t.Context(), "DELETE", path, "", nil); err != nil {
		t.Fatal(err)
	}
}
