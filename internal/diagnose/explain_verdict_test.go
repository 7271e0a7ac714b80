package diagnose_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/diagnose"
	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// TestDeadlocks: a deadlock is reported with the path to it and the costs of a second delete. (spec
// §3.16, S028, S029)
func TestDeadlocks(t *testing.T) {
	const waiting = "v1 ConfigMap n/top uid=top fin=foregroundDeletion deleting grace=0\n"
	const command = "kubectl delete configmap top -n n --cascade="
	const ends = "background: ends the waiting and lets the object go now; its dependents are collected afterwards"
	const keeps = "orphan: ends the waiting and lets the object go; dependents that are not being deleted yet are kept"
	for _, test := range []struct {
		name, world, want string
		remedies          []string
	}{
		{
			"it blocks itself", "v1 ConfigMap n/top uid=top owners=top! fin=foregroundDeletion deleting grace=0\n",
			"WaitsForItself [top] cm/top is its own owner and blocks its own deletion", []string{ends, keeps},
		},
		{
			"a circle", "v1 ConfigMap n/top uid=top owners=other! fin=foregroundDeletion deleting grace=0\n" +
				"v1 ConfigMap n/other uid=other owners=top! fin=foregroundDeletion deleting grace=0",
			"CycleOfWaiting [top] cm/top and cm/other are all being deleted in the foreground and wait for one another",
			[]string{ends + "; these go, too: cm/other", keeps + "; these go, too: cm/other"},
		},
		{
			"a dependent without a namespace", waiting + "rbac.authorization.k8s.io/v1 ClusterRole role uid=role owners=top!",
			"OwnerRefInvalidNamespace [top role] clusterrole.rbac.authorization.k8s.io/role blocks, is in no namespace and names an owner in one: the garbage collector gives up on it, so it is never deleted",
			[]string{ends, keeps + "; these stay, without this owner: clusterrole.rbac.authorization.k8s.io/role"},
		},
		{
			"behind another one", waiting + "v1 ConfigMap n/middle uid=middle owners=top! fin=foregroundDeletion deleting grace=0\n" +
				"rbac.authorization.k8s.io/v1 ClusterRole role uid=role owners=middle!",
			"OwnerRefInvalidNamespace [top middle role] clusterrole.rbac.authorization.k8s.io/role blocks, is in no namespace and names an owner in one: the garbage collector gives up on it, so it is never deleted",
			[]string{ends, keeps},
		},
		{"a finalizer", waiting + "v1 ConfigMap n/held uid=held owners=top! fin=x.io/y deleting grace=0", "", []string{"say", ends, keeps}},
		{"it goes", waiting + "v1 ConfigMap n/leaf uid=leaf owners=top!", "", nil},
		{
			"nobody can be released", "v1 ConfigMap n/top uid=top fin=orphan deleting grace=0\nv1 ConfigMap n/a uid=a\nv1 ConfigMap n/b uid=b\n" +
				"v1 ConfigMap n/leaf uid=leaf owners=top,a^,b^",
			"", []string{"background: deletes the object now without orphaning: the dependents that were to be kept are collected"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := protectedObject(t, test.world)
			if got := deadlockText(e.Deadlock); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			var remedies []string
			for _, r := range e.Remedies {
				policy, again := strings.CutPrefix(r.Command, command)
				if !again {
					remedies = append(remedies, "say")
					continue
				}
				remedies = append(remedies, policy+": "+r.Effect)
			}
			if diff := cmp.Diff(test.remedies, remedies); diff != "" {
				t.Errorf("remedies (-want +got):\n%s", diff)
			}
		})
	}
}

func deadlockText(d *report.Deadlock) string {
	if d == nil {
		return ""
	}
	var names []string
	for _, r := range d.Path {
		names = append(names, r.Name)
	}
	return d.Reason + " [" + strings.Join(names, " ") + "] " + d.Message
}

// TestLate: explain says the same as a plan about an overdue deletion. It does not say that the
// object goes, nor that a third-party finalizer holds it.
func TestLate(t *testing.T) {
	const deleted, noon = 1777633200, 1777636800 // 2026-05-01T11:00:00Z and an hour later
	for body, want := range map[string]string{
		`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"shop","name":"owner","uid":"u","deletionTimestamp":"2026-05-01T11:00:00Z","finalizers":["foregroundDeletion"]}}`:                      "CollectorNotWorking",
		`{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"namespace":"shop","name":"data","uid":"u","deletionTimestamp":"2026-05-01T11:00:00Z","finalizers":["kubernetes.io/pvc-protection"]}}`: "ControllerNotWorking",
	} {
		snap, err := snapshot.ReadFiles([]string{"-"}, snapshot.Options{Stdin: strings.NewReader(body), TreatMissingAsAbsent: true})
		if err != nil {
			t.Fatal(err)
		}
		for now, late := range map[int64]bool{deleted + 2: false, noon: true, 0: false} {
			x, err := diagnose.Explain(t.Context(), snap, snap.Objects[0].Ref, diagnose.ExplanationOptions{Health: health.New(snap, nil, now)})
			if err != nil {
				t.Fatal(err)
			}
			if got := x.Reason == want; got != late || late && x.Verdict == report.HeldByFinalizer {
				t.Errorf("%s at %d: %s %s %s", snap.Objects[0].Name, now, x.Verdict, x.Reason, x.Message)
			}
			if again := len(x.Remedies) > 0 && strings.Contains(x.Remedies[0].Command, "--cascade=background"); again != (late && want == "CollectorNotWorking") {
				t.Errorf("%s at %d: %+v", snap.Objects[0].Name, now, x.Remedies)
			}
		}
	}
}

// contradicts reports whether an explanation says both that an object stays and that the collector
// deletes it next.
func contradicts(e *report.Explanation) bool {
	return strings.HasPrefix(e.Next, "DELETE") && (e.Verdict == report.Live || e.Message == "nothing takes it")
}

// TestRefusedGarbage: an object that the collector tries to delete forever is garbage, and the
// explanation names what refuses. The API server keeps its own priority classes. (S047)
func TestRefusedGarbage(t *testing.T) {
	const class = `{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"system-node-critical","uid":"u",
		"ownerReferences":[{"apiVersion":"v1","kind":"Namespace","name":"gone","uid":"g"}]}}`
	snap, err := snapshot.ReadFiles([]string{"-"}, snapshot.Options{Stdin: strings.NewReader(class), TreatMissingAsAbsent: true})
	if err != nil {
		t.Fatal(err)
	}
	e, err := diagnose.Explain(t.Context(), snap, snap.Objects[0].Ref, diagnose.ExplanationOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if contradicts(e) || e.Verdict != report.Garbage || e.Reason != "RequestRefused" {
		t.Errorf("%s, %s: %s; next %s", e.Verdict, e.Reason, e.Message, e.Next)
	}
}

// TestRefusedContent: an object that a policy keeps in a namespace that is being deleted waits for the
// policy, and no delete of another object takes it.
func TestRefusedContent(t *testing.T) {
	snap, seen := worldOf(t, `
apiVersion: v1
kind: Namespace
metadata: {name: shop, uid: u-ns, deletionTimestamp: "2026-05-01T11:59:00Z"}
spec: {finalizers: [kubernetes]}
status: {phase: Terminating}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: left, namespace: shop, uid: u-l}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: other, namespace: shop, uid: u-o, finalizers: [example.com/lock]}
---`+strings.Replace(denying, "EXPRESSION", `'oldObject == null || oldObject.metadata.name != "left"'`, 1))
	e, err := diagnose.Explain(t.Context(), snap, object.ConfigMap.Ref("shop", "left"), diagnose.ExplanationOptions{Health: health.New(snap, seen, 1777636800)})
	if err != nil {
		t.Fatal(err)
	}
	const want = "ns/shop, which is being deleted, cannot take it: ValidatingAdmissionPolicy 'guard' with binding 'all' denied request: not this one"
	if e.Message != want || len(e.TakenBy) > 0 {
		t.Errorf("%q, taken by %v\nwant %q", e.Message, e.TakenBy, want)
	}
}

// TestRefusedDelete: an explanation says whether the delete of an object is refused, and that it may be.
func TestRefusedDelete(t *testing.T) {
	snap, seen := worldOf(t, `
apiVersion: v1
kind: ConfigMap
metadata: {name: kept, namespace: shop, uid: u-k}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: sized, namespace: shop, uid: u-s}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: free, namespace: shop, uid: u-f}
---`+strings.Replace(denying, "EXPRESSION", `'oldObject.metadata.name == "free" || oldObject.metadata.name == "sized" && !has(oldObject.data)'`, 1))
	for name, want := range map[string]string{
		"kept":  "true ValidatingAdmissionPolicy 'guard' with binding 'all' denied request: not this one",
		"sized": "false ValidatingAdmissionPolicy 'guard' with binding 'all' may refuse it: its expression could not be evaluated: ",
		"free":  "",
	} {
		e, err := diagnose.Explain(t.Context(), snap, object.ConfigMap.Ref("shop", name), diagnose.ExplanationOptions{Health: health.New(snap, seen, 1777636800)})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if e.Refusal != nil {
			got = fmt.Sprint(e.Refusal.Certain, " ", e.Refusal.Message)
		}
		if !strings.HasPrefix(got, want) || got != "" && want == "" {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// TestGarbageThatStays: objects that the collector would delete, and does not: the server refuses, or
// no event makes the collector look at them.
func TestGarbageThatStays(t *testing.T) {
	for world, want := range map[string]string{
		"v1 Event n/e uid=e owners=v1:ConfigMap:ghost:ghost fin=orphan\nv1 Secret n/s owners=events.k8s.io/v1:Event:e:e":// S176
		"RequestRefused its only owner cm/ghost does not exist; the API server refuses to delete it: ",
		"v1 Secret n/s owners=events.k8s.io/v1:Event:e:e\nv1 Event n/e uid=e fin=foregroundDeletion deleting grace=0": "WaitingOwner its owner event.events.k8s.io/e is being deleted in the foreground; it goes at the latest when the owner is gone",
	} {
		e := protectedObject(t, world)
		if got := e.Reason + " " + e.Message; e.Verdict != report.Garbage || !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s %s\nwant %s", world, e.Verdict, got, want)
		}
	}
}

// TestNoContradiction: no explanation says that an object stays and also shows a request that deletes
// it.
func TestNoContradiction(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		snap := scenario.DrawCluster(t, scenario.DrawVariety(t)).DrawSnapshot(t, 6)
		o := rapid.SampledFrom(snap.Objects).Draw(t, "object")
		if e := explained(t, snap, o.Ref); contradicts(e) {
			t.Fatalf("%s is %s: %s; next %s", o.Ref, e.Verdict, e.Message, e.Next)
		}
	})
}
