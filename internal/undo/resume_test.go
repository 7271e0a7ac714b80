package undo

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
)

// TestResume: what an earlier undo made is not made twice, and what it did not come
// to refers to what it made.
func TestResume(t *testing.T) {
	deployment, set := refOf("Deployment.apps web"), refOf("ReplicaSet.apps web-1")
	c := clusterOf(another("Deployment.apps web"), another("ConfigMap taken"))
	list := []Saved{
		saved("Deployment.apps web", ""), saved("ReplicaSet.apps web-1", "", controllerOf(deployment)),
		saved("Pod web-1-a", "", controllerOf(set)), saved("ConfigMap taken", ""),
		{Object: refOf("Secret kept"), Raw: saved("Secret kept", "", ownerOf(deployment)).Raw, Changed: true},
	}
	kept := live("Secret kept")
	c.objects[placeOf(kept.Ref)] = kept
	p := Resume(list, c.lookup, map[types.UID]types.UID{deployment.UID: "another", "u-gone": "x"})
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

	// Once everything is there again, nothing is left to do.
	kept.Owners = append(kept.Owners, *patch.Owners...)
	c.objects[placeOf(set)] = another("ReplicaSet.apps web-1")
	again := Resume(list, c.lookup, map[types.UID]types.UID{deployment.UID: "another", set.UID: "another"})
	if len(again.Steps) != 0 {
		t.Errorf("left to do: %v", lines(again))
	}
}

// TestResumeAfterAnotherDelete: what was made and is gone again is made once more;
// what somebody else has put in its place stays.
func TestResumeAfterAnotherDelete(t *testing.T) {
	a := refOf("ConfigMap a")
	list := []Saved{saved("ConfigMap a", ""), saved("ConfigMap b", "", ownerOf(a))}
	made := map[types.UID]types.UID{a.UID: "first"}
	if diff := cmp.Diff([]string{"1 Create v1 ConfigMap shop/a", "2 Create v1 ConfigMap shop/b +a(new)"}, lines(Resume(list, clusterOf().lookup, made))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	taken := clusterOf(another("ConfigMap a"))
	if diff := cmp.Diff([]string{"1 Create v1 ConfigMap shop/b OwnerIsAnother:a", "TakenByAnother v1 ConfigMap shop/a another"}, lines(Resume(list, taken.lookup, made))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
