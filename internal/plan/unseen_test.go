package plan_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// TestMoreChangesNothing checks that a complete plan of a part of a world agrees with the plan of
// the whole. A delete has no other effects there. A collection has the same effects on seen
// objects, and may find more garbage. References to objects of other namespaces are excluded: the
// collector does not look up such owners, but a foreground deletion waits for all objects that
// refer to its UID, and so may last longer than the plan says.
func TestMoreChangesNothing(t *testing.T) {
	complete, incomplete := map[plan.Verb]int{}, map[plan.Verb]int{}
	met := func() bool {
		return complete["delete"] > 0 && incomplete["delete"] > 0 && complete[plan.Collect] > 0 && incomplete[plan.Collect] > 0
	}
	scenario.CheckUntil(t, met, func(t *rapid.T) {
		whole, part := scenario.DrawBlind(t)
		if len(part.Objects) == 0 || len(part.Gaps) == 0 || scenario.Crossed(whole) {
			return
		}
		o := rapid.SampledFrom(part.Objects).Draw(t, "object")
		seed, options := plan.CollectSeed(), plan.Options{Record: plan.RecordRequests}
		switch rapid.IntRange(0, 5).Draw(t, "question") {
		case 0:
		case 1:
			options.Rules = engine.Strict
		default:
			policy := rapid.SampledFrom([]engine.Policy{engine.Background, engine.ForegroundPolicy, engine.OrphanPolicy}).Draw(t, "policy")
			seed, options.OnlyNear = plan.DeleteSeed(policy, o.Ref), true
		}
		options.Controller = drawController(t)
		got := planned(t, part, seed, options)
		if !got.Complete {
			incomplete[seed.Verb]++
			return
		}
		complete[seed.Verb]++
		want := planned(t, whole, seed, options)
		seen := func(e report.Effect) bool {
			return part.Find(e.Object.APIVersion, e.Object.Kind, e.Object.Namespace, e.Object.Name) != nil
		}
		if diff := cmp.Diff(changes(want, got, seen), changes(got, want, seen)); diff != "" {
			t.Fatalf("%s %s %s (-whole +part):\n%s\ngaps %v in\n%s", seed.Verb, options.Rules, o.Ref, diff, part.Gaps, scenario.World{Objects: whole.Objects})
		}
	})
	t.Logf("complete %v, incomplete %v", complete, incomplete)
}

func planned(t *rapid.T, snap *snapshot.Snapshot, seed plan.Seed, o plan.Options) *report.Plan {
	result, err := plan.Simulate(t.Context(), snap, seed, o)
	if err != nil {
		t.Fatal(err)
	}
	return result.Plan
}

// changes returns the changes that a complete plan promises. A change that happens anyway counts if
// the other plan treats it as a consequence of the request.
func changes(p, other *report.Plan, seen func(report.Effect) bool) map[string]report.Outcome {
	caused := map[object.Ref]bool{}
	for _, e := range other.Effects {
		caused[e.Object] = !e.AlreadyHappening
	}
	list := map[string]report.Outcome{}
	for _, e := range p.Effects {
		asked := !e.AlreadyHappening || caused[e.Object]
		if p.Seed.Verb == "collect" {
			asked = seen(e)
		}
		if asked && e.Outcome != report.Kept {
			list[e.Object.String()] = e.Outcome
		}
	}
	return list
}

// TestMoments checks a dump that was taken over several moments. A node, an account, a claim or a
// Job that is missing from it may have been created after its kind was listed, so that nothing is
// deleted for its absence. An object that names the successor of a deleted object may be deleted
// with it.
func TestMoments(t *testing.T) {
	const early, now = "2026-05-01T10:00:00Z", "2026-05-01T11:59:00Z"
	item := func(apiVersion, kind, name, created, more string) string {
		return fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"name":%q,"namespace":"shop","uid":%q,"resourceVersion":"1","creationTimestamp":%q%s}`, apiVersion, kind, name, name, created, more)
	}
	pod := func(name, created, owner string) string {
		controller := ""
		if kind, uid, ok := strings.Cut(owner, "/"); ok {
			controller = fmt.Sprintf(`,"ownerReferences":[{"apiVersion":"apps/v1","kind":%q,"name":"o","uid":%q,"controller":true}]`, kind, uid)
		}
		return item("v1", "Pod", name, created, controller+`},"spec":{"nodeName":"n","volumes":[]},"status":{"phase":"Running"}`)
	}
	token := func(name, created string) string {
		return item("v1", "Secret", name, created, `,"annotations":{"kubernetes.io/service-account.name":"a","kubernetes.io/service-account.uid":"gone"}},"type":"kubernetes.io/service-account-token"`)
	}
	set := item("apps/v1", "DaemonSet", "o", early, "}")
	account := item("v1", "ServiceAccount", "b", early, "}")
	volume := func(deleted string) string {
		return `{"apiVersion":"v1","kind":"PersistentVolume","metadata":{"name":"v","uid":"v","resourceVersion":"1","creationTimestamp":"` + early + `","deletionTimestamp":"` + deleted +
			`","deletionGracePeriodSeconds":0,"finalizers":["kubernetes.io/pv-protection"]},"spec":{"claimRef":{"namespace":"shop","name":"c","uid":"c"},"persistentVolumeReclaimPolicy":"Retain"},"status":{"phase":"Bound"}}`
	}
	claim := item("v1", "PersistentVolumeClaim", "other", early, "}")
	for _, tt := range []struct {
		name    string
		objects []string
		delete  string
		want    string
	}{
		{"a pod on a node that may be new", []string{pod("p", now, "")}, "", ""},
		{"a pod that may have waited for its node", []string{pod("p", early, "")}, "", ""},
		{"a pod that was made for its node just now", []string{set, pod("p", now, "DaemonSet/o")}, "", ""},
		{"a pod that was made for its node long ago", []string{set, pod("p", early, "DaemonSet/o"), pod("q", now, "")}, "", "Deleted p Deleted q"},
		{"a node that goes", []string{pod("p", now, "")}, "Node/other", "Deleted other Deleted p"},
		{"a token of an account that may be new", []string{account, token("t", now)}, "", ""},
		{"a token of an account that was there long ago", []string{account, token("t", early)}, "", "Deleted t"},
		{"a volume of a claim that may be new", []string{claim, volume(now)}, "", "Unknown v"},
		{"a volume of a claim that was there long ago", []string{claim, volume(early)}, "", "Deleted v"},
		{"the successor of an owner", []string{item("apps/v1", "ReplicaSet", "o", early, "}"), pod("p", now, "ReplicaSet/new")}, "ReplicaSet/o", "Deleted o Unknown p"},
		{"an owner of the same name that was gone long ago", []string{item("apps/v1", "ReplicaSet", "o", now, "}"), pod("p", early, "ReplicaSet/old")}, "ReplicaSet/o", "Deleted o"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "dump.json")
			node := "other"
			if strings.HasPrefix(tt.delete, "Node/") {
				node = "n"
			}
			list := `{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Node","metadata":{"name":"` + node + `","uid":"other","creationTimestamp":"` + early +
				`"},"status":{"conditions":[{"type":"Ready","status":"True","lastHeartbeatTime":"2026-05-01T12:00:00Z"}]}},` +
				`{"apiVersion":"v1","kind":"Node","metadata":{"name":"third","uid":"third","creationTimestamp":"` + early + `"}},` + strings.Join(tt.objects, ",") + "]}"
			if err := os.WriteFile(path, []byte(list), 0o600); err != nil {
				t.Fatal(err)
			}
			snap, err := snapshot.ReadFiles([]string{path}, snapshot.Options{})
			if err != nil {
				t.Fatal(err)
			}
			seed := plan.CollectSeed()
			if kind, name, ok := strings.Cut(tt.delete, "/"); ok {
				for _, o := range snap.Objects {
					if o.Kind == kind && (o.Name == name || kind == "Node" && o.Name == "n") {
						seed = plan.DeleteSeed(engine.Background, o.Ref)
					}
				}
			}
			result, err := plan.Simulate(t.Context(), snap, seed, plan.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, e := range result.Plan.Effects {
				if tt.delete == "" || !e.AlreadyHappening {
					got = append(got, string(e.Outcome)+" "+string(e.Object.UID))
				}
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("%q, not %q", strings.Join(got, " "), tt.want)
			}
		})
	}
}
