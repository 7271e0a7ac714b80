package reach_test

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

func parsed(t *testing.T, text string) *snapshot.Snapshot {
	t.Helper()
	objects, err := scenario.ParseWorld(text, scenario.Names{})
	if err != nil {
		t.Fatal(err)
	}
	snap, err := snapshot.New(objects, scenario.Resources(), snapshot.CoversEverything(), snapshot.Source{})
	if err != nil {
		t.Fatal(err)
	}
	return snap
}

// inside returns which objects are in a part, by name.
func inside(snap *snapshot.Snapshot) map[string]bool {
	names := map[string]bool{}
	for _, o := range snap.Objects {
		names[o.Name] = true
	}
	return names
}

// TestParts: a part has the objects that decide, and leaves out the others: siblings, and other
// dependents of an owner that stays.
func TestParts(t *testing.T) {
	snap := parsed(t, `
v1 Namespace n
v1 ConfigMap n/root uid=root
v1 ConfigMap n/sibling owners=root
v1 ConfigMap n/target owners=root
v1 ConfigMap n/leaf owners=target,keeper
v1 ConfigMap n/keeper uid=keeper
v1 ConfigMap n/kept owners=keeper
v1 ConfigMap n/other`)
	m := mapped(snap)
	names := inside(m.Part(snap.Find("v1", "ConfigMap", "n", "target")))
	for name, want := range map[string]bool{
		"n": true, "root": true, "target": true, "leaf": true, "keeper": true, "sibling": false, "kept": false, "other": false,
	} {
		if names[name] != want {
			t.Errorf("%s in the part: %v, want %v", name, names[name], want)
		}
	}
	if all := m.Part(snap.Find("v1", "Namespace", "", "n")); len(all.Objects) != len(snap.Objects) {
		t.Errorf("%d objects are in the part of their namespace, want all %d", len(all.Objects), len(snap.Objects))
	}
}

// TestPartsThatStir: if an owner may not stay, its part has everything that may be deleted with it,
// and all objects that refer to an unseen owner.
func TestPartsThatStir(t *testing.T) {
	snap := parsed(t, `
v1 ConfigMap n/root uid=root owners=v1:ConfigMap:ghost:ghost
v1 ConfigMap n/sibling owners=root
v1 ConfigMap n/target owners=root
v1 ConfigMap m/far owners=v1:Secret:ghost:ghost
v1 ConfigMap n/other`)
	names := inside(mapped(snap).Part(snap.Find("v1", "ConfigMap", "n", "target")))
	for name, want := range map[string]bool{"root": true, "sibling": true, "far": true, "other": false} {
		if names[name] != want {
			t.Errorf("%s in the part: %v, want %v", name, names[name], want)
		}
	}
}

// TestPartsOfNodes: whether any node stays decides whether a pod has lost its own. The owner of a
// node decides about the node.
func TestPartsOfNodes(t *testing.T) {
	snap := parsed(t, `
v1 Node n1 owners=role
rbac.authorization.k8s.io/v1 ClusterRole role uid=role
v1 Pod n/lost node=n2 phase=Running`)
	if names := inside(mapped(snap).Part(snap.Find("v1", "Pod", "n", "lost"))); !names["n1"] || !names["role"] {
		t.Errorf("the part is %v", names)
	}
}

// TestAbove: the objects whose delete may reach this one are listed nearest first.
func TestAbove(t *testing.T) {
	snap := parsed(t, `
v1 Namespace n
v1 Node n1
apps/v1 Deployment n/web uid=web
apps/v1 ReplicaSet n/web-1 uid=web-1 owners=web
v1 Pod n/web-1-x owners=web-1 node=n1
v1 Pod n/web-1-y owners=web-1 node=n1
v1 ConfigMap n/other`)
	var got []string
	for _, o := range mapped(snap).Ancestors(snap.Find("v1", "Pod", "n", "web-1-x")) {
		got = append(got, o.Kind)
	}
	want := []string{"ReplicaSet", "Namespace", "Node", "Deployment"}
	if len(got) != len(want) {
		t.Fatalf("%v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("%v, want %v", got, want)
		}
	}
}

// TestAbout: the part about an object has its owners and the objects that decide about them, but
// not its siblings. It has one pod of each sort for which the rest of a namespace waits.
func TestAbout(t *testing.T) {
	snap := parsed(t, `
v1 Namespace n
v1 Node n1
apps/v1 ReplicaSet n/web uid=web
v1 Pod n/web-x owners=web node=n1 phase=Running
v1 Pod n/web-y owners=web node=n1 phase=Running
v1 Pod n/web-z owners=web node=n1 phase=Running
v1 Pod n/held owners=web node=n1 phase=Running fin=example.com/hold
v1 ConfigMap n/other`)
	m := mapped(snap)
	namespace, target := snap.FindKind(object.Namespace, "", "n"), snap.FindKind(object.Pod, "n", "web-z")
	set := snap.Find("apps/v1", "ReplicaSet", "n", "web")
	for _, tt := range []struct {
		deleted *object.Object
		want    map[string]bool
	}{
		{set, map[string]bool{"n": true, "n1": true, "web": true, "web-x": false, "web-y": false, "web-z": true, "held": false, "other": false}},
		{namespace, map[string]bool{"n": true, "n1": true, "web": true, "web-x": true, "web-y": false, "web-z": true, "held": true, "other": false}},
	} {
		names := inside(m.About(target, tt.deleted))
		for name, want := range tt.want {
			if names[name] != want {
				t.Errorf("a delete of %s: %s in the part: %v, want %v", tt.deleted.Name, name, names[name], want)
			}
		}
	}
}
