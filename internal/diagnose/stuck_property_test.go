package diagnose_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/diagnose"
	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// drawBodies draws evidence about controllers: workloads, pods, permissions, leases, and
// managedFields of the objects of a world.
func drawBodies(t *rapid.T, objects []*object.Object) []string {
	account := rapid.SampledFrom([]string{"op", "other", "default"})
	group := rapid.SampledFrom([]string{"*", "", "example.com", "apps"})
	verb := rapid.SampledFrom([]string{"*", "update", "get", "patch"})
	program := rapid.SampledFrom([]string{"manager", "operator-x", "kubectl-edit"})
	bodies := []string{`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"cluster-admin"},"rules":[{"verbs":["*"],"apiGroups":["*"],"resources":["*"]}]}`}
	for i := range rapid.IntRange(0, 3).Draw(t, "roles") {
		bodies = append(bodies,
			fmt.Sprintf(`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"r%d"},"rules":[{"verbs":[%q],"apiGroups":[%q],"resources":["*"]}]}`,
				i, verb.Draw(t, "verb"), group.Draw(t, "group")),
			fmt.Sprintf(`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRoleBinding","metadata":{"name":"r%d"},"roleRef":{"kind":"ClusterRole","name":"r%d"},"subjects":[{"kind":%q,"namespace":"ops","name":%q}]}`,
				i, i, rapid.SampledFrom([]string{"ServiceAccount", "User", "Group"}).Draw(t, "subject"), account.Draw(t, "account")))
	}
	for i := range rapid.IntRange(0, 3).Draw(t, "pods") {
		bodies = append(bodies, fmt.Sprintf(
			`{"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"ops","name":"p%d"},"spec":{"serviceAccountName":%q,"containers":[{"name":%q}]},"status":{"phase":%q}}`,
			i, account.Draw(t, "account"), program.Draw(t, "program"), rapid.SampledFrom([]string{"Running", "Pending", "Failed"}).Draw(t, "phase")))
	}
	for i := range rapid.IntRange(0, 2).Draw(t, "workloads") {
		bodies = append(bodies, fmt.Sprintf(
			`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"namespace":"ops","name":"d%d"},"spec":{"replicas":%d,"template":{"spec":{"serviceAccountName":%q,"containers":[{"name":%q}]}}}}`,
			i, rapid.IntRange(0, 1).Draw(t, "replicas"), account.Draw(t, "account"), program.Draw(t, "program")))
	}
	if rapid.Bool().Draw(t, "lease") {
		bodies = append(bodies, fmt.Sprintf(
			`{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"namespace":"kube-system","name":"kube-controller-manager"},"spec":{"holderIdentity":"m","renewTime":%q,"leaseDurationSeconds":15}}`,
			rapid.SampledFrom([]string{"2020-01-01T00:00:00Z", "2030-01-01T00:00:00Z", "2030-01-01T01:06:30Z"}).Draw(t, "renewed")))
	}
	for _, o := range objects {
		if o.BeingDeleted() && len(o.Finalizers()) > 0 {
			fields, _ := json.Marshal(map[string]any{"f:metadata": map[string]any{"f:finalizers": map[string]any{fmt.Sprintf("v:%q", o.Finalizers()[0]): map[string]any{}}}})
			bodies = append(bodies, fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"namespace":%q,"name":%q,"uid":%q,"deletionTimestamp":"2026-05-01T00:00:00Z","managedFields":[{"manager":%q,"operation":"Update","fieldsV1":%s}]}}`,
				o.APIVersion, o.Kind, o.Namespace, o.Name, o.UID, program.Draw(t, "writer"), fields))
		}
	}
	return bodies
}

func seenOf(bodies []string, unread []health.Part) *health.Evidence {
	seen := &health.Evidence{}
	for _, b := range bodies {
		_ = seen.Add("", "", []byte(b)) // an error makes the part incomplete
	}
	for _, p := range health.Parts() {
		why := ""
		if slices.Contains(unread, p) {
			why = "forbidden"
		}
		seen.Mark(p, "", why)
	}
	return seen
}

// neededParts are the parts that must all be read for the verdict Gone.
var neededParts = []health.Part{
	health.Pods, health.Deployments, health.StatefulSets, health.DaemonSets,
	health.Roles, health.RoleBindings, health.ClusterRoles, health.ClusterBindings, health.Leases,
}

// TestStuckOfDrawnWorlds: every object that is being deleted has an end. Codes are documented and
// have their severity. Chains start at the object and end in the code. Unread evidence never leads to
// the verdict Gone. Neither the order of the evidence nor a second run changes a byte.
func TestStuckOfDrawnWorlds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := scenario.DrawWorld(t, scenario.Wild)
		coverage := snapshot.CoversEverything()
		if rapid.Bool().Draw(t, "blind") {
			coverage = &snapshot.Coverage{}
		}
		snap := w.Snapshot(t, coverage)
		// Drawn deletions start in the year 2030.
		now := 1893456000 + rapid.SampledFrom([]int64{-10, 60, 400, 4000}).Draw(t, "after")
		bodies := drawBodies(t, snap.Objects)
		unread := rapid.SliceOfN(rapid.SampledFrom(neededParts), 0, 2).Draw(t, "unread")
		d, err := diagnose.Stuck(t.Context(), snap, seenOf(bodies, unread), diagnose.StuckQuestion{Now: now})
		if err != nil {
			t.Fatal(err)
		}
		ended := map[object.Ref]bool{}
		for _, f := range d.Findings {
			ended[f.Object] = true
			assertFinding(t, f)
			if f.Verdict == report.FinalizerControllerGone && len(unread) > 0 {
				t.Fatalf("%v were not read, and yet: %+v", unread, f)
			}
		}
		for _, o := range snap.Objects {
			if o.BeingDeleted() != ended[o.Ref] {
				t.Fatalf("%s: being deleted %v, in the findings %v", o.Ref, o.BeingDeleted(), ended[o.Ref])
			}
		}
		shuffled := slices.Clone(bodies)
		rand.New(rand.NewPCG(1, rapid.Uint64().Draw(t, "seed"))).Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		again, err := diagnose.Stuck(t.Context(), snap, seenOf(shuffled, unread), diagnose.StuckQuestion{Now: now})
		if err != nil {
			t.Fatal(err)
		}
		a, _ := json.Marshal(d)
		b, _ := json.Marshal(again)
		if !bytes.Equal(a, b) {
			t.Fatalf("the order of the evidence matters:\n%s\n%s", a, b)
		}
	})
}

func assertFinding(t *rapid.T, f report.Finding) {
	if m := reason.Stuck.Of(reason.Code(f.Code)); m == nil || m.Severity != f.Severity || f.Message == "" || len(f.Remedies) == 0 || f.Since == "" || f.ForSeconds == nil {
		t.Fatalf("not whole: %+v", f)
	}
	if len(f.Chain) == 0 || f.Chain[0].Ref != f.Object || f.Chain[len(f.Chain)-1].Waits != f.Code {
		t.Fatalf("the chain of %s: %+v", f.Code, f.Chain)
	}
	for _, p := range f.Proof {
		if reason.Proof.Of(reason.Code(p.Reason)) == nil || p.Message == "" {
			t.Fatalf("the proof %+v", p)
		}
	}
}
