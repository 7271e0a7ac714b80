package undo

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// TestResume: objects of an earlier undo are not created twice, and the remaining ones refer to
// them.
func TestResume(t *testing.T) {
	deployment, set := refOf("Deployment.apps web"), refOf("ReplicaSet.apps web-1")
	c := clusterOf(another("Deployment.apps web"), another("ConfigMap taken"))
	list := []Saved{
		saved("Deployment.apps web", ""), saved("ReplicaSet.apps web-1", "", controllerOf(deployment)),
		saved("Pod web-1-a", "", controllerOf(set)), saved("ConfigMap taken", ""),
		{Object: refOf("Secret kept"), Raw: saved("Secret kept", "", ownerOf(deployment)).Raw, Changed: true},
	}
	kept := live("Secret kept")
	c.objects[kept.Ref.Coordinates()] = kept
	p := Resume(list, Cluster{Lookup: c.lookup}, map[types.UID]types.UID{deployment.UID: "another", "u-gone": "x"})
	if diff := cmp.Diff([]string{
		"1 Create apps/v1 ReplicaSet shop/web-1 +web",
		"2 Restore v1 Secret shop/kept +web",
		"MadeBefore apps/v1 Deployment shop/web another",
		"TakenByAnother v1 ConfigMap shop/taken another",
		"ControllerMakesIt v1 Pod shop/web-1-a ",
	}, lines(p)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	var m Mapping
	body, dropped, err := p.Steps[0].Body(&m)
	if err != nil || len(dropped) > 0 || !strings.Contains(string(body), `"uid":"another"`) || strings.Contains(string(body), string(deployment.UID)) {
		t.Errorf("%s %v %v", body, dropped, err)
	}
	m.Made(&p.Steps[0], "new-set")
	patch, _, err := p.Steps[1].Patch(&m)
	if err != nil || !strings.Contains(string(patch.Body()), `"uid":"another"`) {
		t.Errorf("%s %v", patch.Body(), err)
	}

	// Once everything exists again, no step is left.
	kept.Owners = append(kept.Owners, *patch.Owners...)
	there := another("ReplicaSet.apps web-1")
	there.Owners = []object.OwnerReference{controllerOf(deployment)}
	there.Owners[0].UID = "another"
	c.objects[set.Coordinates()] = there
	again := Resume(list, Cluster{Lookup: c.lookup}, map[types.UID]types.UID{deployment.UID: "another", set.UID: "another"})
	if len(again.Steps) != 0 {
		t.Errorf("left to do: %v", lines(again))
	}
}

// TestResumeAfterAnotherDelete: objects of an earlier undo that were deleted again are recreated;
// an object that another client created in their place stays.
func TestResumeAfterAnotherDelete(t *testing.T) {
	a := refOf("ConfigMap a")
	list := []Saved{saved("ConfigMap a", ""), saved("ConfigMap b", "", ownerOf(a))}
	made := map[types.UID]types.UID{a.UID: "first"}
	if diff := cmp.Diff([]string{"1 Create v1 ConfigMap shop/a", "2 Create v1 ConfigMap shop/b +a(new)"}, lines(Resume(list, Cluster{Lookup: clusterOf().lookup}, made))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	taken := clusterOf(another("ConfigMap a"))
	if diff := cmp.Diff([]string{"1 Create v1 ConfigMap shop/b OwnerIsAnother:a", "TakenByAnother v1 ConfigMap shop/a another"}, lines(Resume(list, Cluster{Lookup: taken.lookup}, made))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestRecreatedOwners: with AcceptRecreatedOwners, a live object with the name of an owner counts as the owner, whether the
// owner is in the backup or not, unless it is being deleted. Objects that it creates itself are not
// created.
func TestRecreatedOwners(t *testing.T) {
	a, out, going := refOf("Cart.example.com a"), refOf("Cart.example.com out"), refOf("Cart.example.com going")
	set, deployment, old := refOf("ReplicaSet.apps web"), refOf("Deployment.apps d"), refOf("ReplicaSet.apps d-1")
	pod := controllerOf(set)
	list := []Saved{
		saved("Cart.example.com a", ""), saved("ConfigMap b", "", ownerOf(a), ownerOf(out)), saved("ConfigMap c", "", ownerOf(going)),
		saved("ReplicaSet.apps web", ""), saved("Pod web-1", "", pod),
		saved("ReplicaSet.apps d-1", "", controllerOf(deployment)), saved("Pod d-1-1", "", controllerOf(old)),
		saved("Pod left", "", controllerOf(refOf("ReplicaSet.apps nowhere"))), saved("Pod bare", ""),
	}
	leaving := another("Cart.example.com going")
	leaving.Edit().DeletionTimestamp = 1
	now := clusterOf(another("Cart.example.com a"), another("Cart.example.com out"), leaving, another("ReplicaSet.apps web"), another("Deployment.apps d"))
	plan := Resume(list, Cluster{Lookup: now.lookup, AcceptRecreatedOwners: true}, nil)
	if diff := cmp.Diff([]string{
		"1 Create v1 ConfigMap shop/b +a +out !OwnerMadeAgain", "2 Create v1 ConfigMap shop/c OwnerIsAnother:going", "3 Create v1 Pod shop/bare",
		"ControllerMakesIt apps/v1 ReplicaSet shop/d-1 ", "TakenByAnother apps/v1 ReplicaSet shop/web another",
		"TakenByAnother example.com/v1 Cart shop/a another", "ControllerMakesIt v1 Pod shop/d-1-1 ", "ControllerMissing v1 Pod shop/left ", "ControllerMakesIt v1 Pod shop/web-1 ",
	}, lines(plan)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for _, r := range plan.Steps[0].References {
		if r.UID != "another" {
			t.Errorf("%s refers to %s", plan.Steps[0].Object, r.UID)
		}
	}
}

// TestDeletedTwice: an object deleted twice is restored in its second version, and dependents of
// the first one refer to that.
func TestDeletedTwice(t *testing.T) {
	generation := func(text, uid, version string, owners ...object.OwnerReference) Saved {
		ref := refOf(text)
		ref.UID = types.UID(uid)
		s := savedAs(ref, "", owners...)
		s.Raw = bytes.Replace(s.Raw, []byte(`"resourceVersion":"7"`), []byte(`"resourceVersion":"`+version+`"`), 1)
		return s
	}
	first, second := refOf("ReplicaSet.apps web"), refOf("ReplicaSet.apps web")
	deployment := refOf("Deployment.apps d")
	first.UID, second.UID, deployment.UID = "a-first", "z-second", "d1"
	list := []Saved{
		generation("ReplicaSet.apps web", "a-first", "99"), generation("ReplicaSet.apps web", "z-second", "100"),
		generation("Pod web-1", "p1", "98", controllerOf(first)), generation("Pod web-2", "p2", "98", controllerOf(second)),
		generation("Deployment.apps d", "d1", "50"), generation("Deployment.apps d", "d2", "60"),
		generation("ReplicaSet.apps d-1", "r1", "49", controllerOf(deployment)),
		generation("ConfigMap c", "c1", "97", ownerOf(first)), generation("ConfigMap both", "c2", "97", ownerOf(first), ownerOf(second)),
	}
	for range 2 {
		plan := Resume(list, Cluster{Lookup: clusterOf().lookup, AcceptRecreatedOwners: true}, nil)
		if diff := cmp.Diff([]string{
			"1 Create apps/v1 Deployment shop/d", "2 Create apps/v1 ReplicaSet shop/web",
			"3 Create v1 ConfigMap shop/both +web(new) !OwnerMadeAgain", "4 Create v1 ConfigMap shop/c +web(new) !OwnerMadeAgain",
			"ListedTwice apps/v1 Deployment shop/d ", "ControllerMakesIt apps/v1 ReplicaSet shop/d-1 ", "ListedTwice apps/v1 ReplicaSet shop/web ", "ControllerMakesIt v1 Pod shop/web-1 ", "ControllerMakesIt v1 Pod shop/web-2 ",
		}, lines(plan)); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		for _, s := range plan.Steps {
			if s.N == 2 && s.Object.UID != second.UID || s.N > 2 && s.References[0].UID != second.UID {
				t.Errorf("step %d: %s is of %s", s.N, s.Object, s.Object.UID)
			}
		}
		slices.Reverse(list)
	}
	// Repeated: none of the skipped objects needs attention.
	c := clusterOf(another("ReplicaSet.apps web"), another("Deployment.apps d"), another("ConfigMap c"), another("ConfigMap both"))
	again := map[types.UID]types.UID{"z-second": "another", "d2": "another", "c1": "another", "c2": "another"}
	for _, x := range Resume(list, Cluster{Lookup: c.lookup, AcceptRecreatedOwners: true}, again).Skipped {
		if x.Reason == reason.TakenByAnother {
			t.Errorf("%s: %s", x.Object, x.Reason)
		}
	}
}

// TestLivingDependents: existing dependents of an owner that is recreated, or exists again, refer
// to the new owner and no longer to the deleted one.
func TestLivingDependents(t *testing.T) {
	first, last, heir, before := refOf("Cart.example.com c"), refOf("Cart.example.com c"), refOf("Cart.example.com h"), refOf("Cart.example.com b")
	first.UID, last.UID = "a-first", "z-last"
	newer := savedAs(last, "")
	newer.Raw = bytes.Replace(newer.Raw, []byte(`"resourceVersion":"7"`), []byte(`"resourceVersion":"8"`), 1)
	list := []Saved{savedAs(first, ""), newer, saved("Cart.example.com h", ""), saved("Cart.example.com b", "")}
	now := clusterOf(another("Cart.example.com h"))
	now.objects[before.Coordinates()] = &object.Object{Ref: before}
	now.objects[before.Coordinates()].UID = "b-again"
	for name, owner := range map[string]object.Ref{"of-first": first, "of-last": last, "of-heir": heir, "of-before": before} {
		x := saved("ConfigMap "+name, "", controllerOf(owner))
		x.Changed = true
		o := live("ConfigMap " + name)
		o.Owners = []object.OwnerReference{controllerOf(owner)}
		list, now.objects[x.Object.Coordinates()] = append(list, x), o
	}
	plan := Resume(list, Cluster{Lookup: now.lookup, AcceptRecreatedOwners: true}, map[types.UID]types.UID{before.UID: "b-again"})
	var m Mapping
	got := map[string]types.UID{}
	for i := range plan.Steps {
		s := &plan.Steps[i]
		if s.Verb == Create {
			m.Made(s, "made")
			continue
		}
		patch, _, err := s.Patch(&m)
		if err != nil || len(*patch.Owners) != 1 {
			t.Fatalf("%s: %+v, %v", s.Object, patch, err)
		}
		got[s.Object.Name] = (*patch.Owners)[0].UID
	}
	if diff := cmp.Diff(map[string]types.UID{"of-first": "made", "of-last": "made", "of-heir": "another", "of-before": "b-again"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestResumeGivesReferencesBack: an object that an earlier undo created without a reference to a
// missing owner gets it once the owner exists.
func TestResumeGivesReferencesBack(t *testing.T) {
	cart := refOf("Cart.example.com c")
	list := []Saved{saved("Cart.example.com c", `{"status":{"items":2}}`), saved("ConfigMap below", "", ownerOf(cart))}
	c := clusterOf(another("ConfigMap below"))
	again := map[types.UID]types.UID{"u-below": "another"}
	now := Cluster{Lookup: c.lookup}
	if diff := cmp.Diff([]string{
		"1 Create example.com/v1 Cart shop/c", "2 Status example.com/v1 Cart shop/c", "3 Restore v1 ConfigMap shop/below +c(new)",
	}, lines(Resume(list, now, again))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	// If the earlier undo was killed before it restored the status, that step is left for the
	// owner; if it was not, or a status was written since, none is.
	c.objects[cart.Coordinates()] = another("Cart.example.com c")
	again[cart.UID] = "another"
	for written, want := range map[bool][]string{
		false: {"1 Status example.com/v1 Cart shop/c", "2 Restore v1 ConfigMap shop/below +c"},
		true:  {"1 Restore v1 ConfigMap shop/below +c", "MadeBefore example.com/v1 Cart shop/c another"},
	} {
		now.Content = func(object.Ref) ([]byte, error) {
			if written {
				return []byte(`{"status":{"items":3}}`), nil
			}
			return []byte(`{"status":{}}`), nil
		}
		if diff := cmp.Diff(want, lines(Resume(list, now, again))); diff != "" {
			t.Errorf("written %v: -want +got:\n%s", written, diff)
		}
	}
}

// TestNamespaceTerminates: no object is created in a namespace that is being deleted.
func TestNamespaceTerminates(t *testing.T) {
	space := live("Namespace a")
	space.Edit().DeletionTimestamp = 1
	list := []Saved{saved("Namespace a", ""), saved("ConfigMap a/c", ""), saved("ConfigMap b/d", ""), saved("Event a/e", "")}
	if diff := cmp.Diff([]string{
		"1 Create v1 ConfigMap b/d", "NamespaceTerminates v1 ConfigMap a/c ", "PastEvent v1 Event a/e ", "StillTerminating v1 Namespace a u-a",
	}, lines(Make(list, clusterOf(space).lookup))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
