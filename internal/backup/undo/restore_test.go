package undo

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// TestRestore: an object that was only changed gets back its references to existing owners, with
// its UID and resourceVersion.
func TestRestore(t *testing.T) {
	changed := func(s Saved) Saved { s.Changed = true; return s }
	kept, gone, fresh := refOf("ConfigMap kept"), refOf("ConfigMap gone"), refOf("ConfigMap fresh")
	c := clusterOf(live("ConfigMap kept"), live("Pod a", ownerOf(kept)), live("Pod b"), live("Pod c", controllerOf(kept)), live("Pod d"))
	p := want(t, c, []Saved{
		changed(saved("Pod a", `{"metadata":{"finalizers":["x.io/a"]}}`, ownerOf(kept), ownerOf(gone), ownerOf(fresh))),
		changed(saved("Pod b", "", ownerOf(gone))),
		changed(saved("Pod c", "", controllerOf(fresh))),
		saved("Pod d", "", ownerOf(kept)),
		saved("ConfigMap fresh", ""),
	},
		"1 Create v1 ConfigMap shop/fresh",
		"2 Restore v1 Pod shop/a +fresh(new) OwnerGone:gone !FinalizersNotRestored",
		"ReferencesLost v1 Pod shop/b u-b OwnerGone:gone",
		"ReferencesLost v1 Pod shop/c u-c ControllerTaken:fresh",
		"StillAlive v1 Pod shop/d u-d",
	)
	var m Mapping
	if _, _, err := p.Steps[1].Patch(&m); err == nil {
		t.Error("restored before the owner is there")
	}
	m.Made(&p.Steps[0], "new-uid")
	patch, _, err := p.Steps[1].Patch(&m)
	if err != nil {
		t.Fatal(err)
	}
	const body = `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"kept","uid":"u-kept"},` +
		`{"apiVersion":"v1","kind":"ConfigMap","name":"fresh","uid":"new-uid"}],"resourceVersion":"40","uid":"u-a"}}`
	if got := string(patch.Body()); got != body || patch.Type != object.Merge || p.Steps[1].Live().UID != "u-a" {
		t.Errorf("the patch is %s", got)
	}
	if _, _, err := p.Steps[1].Body(&m); err == nil {
		t.Error("a restore has a body")
	}
	if _, _, err := p.Steps[0].Patch(&m); err == nil {
		t.Error("a create has a patch")
	}
}

// TestRestoreOfWhatWasNotDeleted: what a run should have deleted, and the server kept, has lost its references
// to what the run did delete. Whoever removed others, it was not the collector.
func TestRestoreOfWhatWasNotDeleted(t *testing.T) {
	kept, fresh, taken, gone := refOf("ConfigMap kept"), refOf("ConfigMap fresh"), refOf("ConfigMap taken"), refOf("ConfigMap gone")
	another := live("ConfigMap taken")
	another.UID = "u-another"
	c := clusterOf(live("ConfigMap kept"), another, live("Service a"), live("Service b"), live("Service c"))
	want(t, c, []Saved{
		saved("Service a", "", ownerOf(fresh), ownerOf(kept), ownerOf(gone)), saved("Service b", "", ownerOf(taken)), saved("Service c", "", ownerOf(gone)),
		saved("ConfigMap fresh", ""), saved("ConfigMap taken", ""),
	},
		"1 Create v1 ConfigMap shop/fresh",
		"2 Restore v1 Service shop/a +fresh(new)",
		"TakenByAnother v1 ConfigMap shop/taken u-another",
		"ReferencesLost v1 Service shop/b u-b OwnerIsAnother:taken",
		"StillAlive v1 Service shop/c u-c",
	)
}

// TestRestoreOfWhatTheCollectorHasNotSeen: right after a delete, the collector may not have
// finished. An object that still refers to a deleted owner gets a reference to the recreated one
// instead; otherwise it would be deleted, or lose the reference.
func TestRestoreOfWhatTheCollectorHasNotSeen(t *testing.T) {
	kept, fresh := refOf("ConfigMap kept"), refOf("ConfigMap fresh")
	changed := saved("Pod a", "", ownerOf(kept), controllerOf(fresh))
	changed.Changed = true
	c := clusterOf(live("ConfigMap kept"), live("Pod a", ownerOf(kept), controllerOf(fresh)), live("Pod b", ownerOf(fresh)), live("Pod c", ownerOf(kept)))
	p := want(t, c, []Saved{changed, saved("Pod b", "", ownerOf(fresh)), saved("Pod c", "", ownerOf(kept)), saved("ConfigMap fresh", "")},
		"1 Create v1 ConfigMap shop/fresh",
		"2 Restore v1 Pod shop/a +fresh(new)",
		"3 Restore v1 Pod shop/b +fresh(new)",
		"StillAlive v1 Pod shop/c u-c",
	)
	var m Mapping
	m.Made(&p.Steps[0], "new-uid")
	patch, _, err := p.Steps[1].Patch(&m)
	if err != nil {
		t.Fatal(err)
	}
	const body = `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"kept","uid":"u-kept"},` +
		`{"apiVersion":"v1","kind":"ConfigMap","name":"fresh","uid":"new-uid","controller":true}],"resourceVersion":"40","uid":"u-a"}}`
	if got := string(patch.Body()); got != body {
		t.Errorf("the patch is %s", got)
	}
}

// TestRestoreOfWhatTheCollectorTakes: an object is not there for long if its owners are gone, and none of them comes
// back. One owner that exists, or may exist, keeps it.
func TestRestoreOfWhatTheCollectorTakes(t *testing.T) {
	gone, kept, taken, unread := refOf("ConfigMap gone"), refOf("ConfigMap kept"), refOf("ConfigMap taken"), refOf("ConfigMap unread")
	another := live("ConfigMap taken")
	another.UID = "u-another"
	c := clusterOf(
		live("ConfigMap kept"), another, live("Pod a", ownerOf(gone)), live("Pod b", ownerOf(taken), ownerOf(gone)), live("Pod c", ownerOf(gone), ownerOf(kept)),
		live("Pod d", ownerOf(unread)), live("Secret e", ownerOf(gone)), live("Pod f"),
	)
	c.closed[unread.Coordinates()] = true
	want(t, c, []Saved{
		saved("Pod a", "", ownerOf(gone)), saved("Pod b", "", ownerOf(taken), ownerOf(gone)), saved("Pod c", "", ownerOf(gone), ownerOf(kept)),
		saved("Pod d", "", ownerOf(unread)), {Object: refOf("Secret e")}, saved("Pod f", ""), saved("ConfigMap taken", ""),
	},
		"TakenByAnother v1 ConfigMap shop/taken u-another",
		"OwnersGone v1 Pod shop/a u-a",
		"OwnersGone v1 Pod shop/b u-b",
		"StillAlive v1 Pod shop/c u-c",
		"StillAlive v1 Pod shop/d u-d",
		"StillAlive v1 Pod shop/f u-f",
		"OwnersGone v1 Secret shop/e u-e",
	)
}
