package kube

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// TestRecords: records that are read for a snapshot and written as lines give the same evidence as
// Evidence, for complete, forbidden and truncated lists, and contain no data.
func TestRecords(t *testing.T) {
	s, c := serve(t)
	servesEvidence(s)
	s.on(pathOf(health.Roles, ""), refuse(403, metav1.StatusReasonForbidden))
	s.on(pathOf(health.DaemonSets, ""), answer200(jsonType, []byte(`{"kind":"DaemonSetList","apiVersion":"apps/v1","items":[`)))
	s.on(pathOf(health.Deployments, ""), whole(health.ResourceOf(health.Deployments), "", manifestOf{
		"metadata": manifestOf{"namespace": "ops", "name": "op"},
		"spec": manifestOf{"template": manifestOf{"spec": manifestOf{"serviceAccountName": "op", "containers": []any{
			manifestOf{"name": "op", "image": "registry/op:1", "env": []any{manifestOf{"name": "PASSWORD", "value": "hidden"}}}}}}},
	}))
	s.on(pathOf(health.ValidatingWebhooks, ""), whole(health.ResourceOf(health.ValidatingWebhooks), "", manifestOf{
		"metadata": manifestOf{"name": "hooks"}, "webhooks": []any{manifestOf{"name": "h", "clientConfig": manifestOf{"caBundle": "hidden", "service": manifestOf{"namespace": "ops", "name": "hook"}}}},
	}))
	meta := manifestOf{"namespace": "shop", "name": "a", "uid": "uid-a", "deletionTimestamp": "2026-01-01T00:00:00Z"}
	s.on("/apis/example.com/v1/namespaces/shop/widgets/a", answerJSON(manifestOf{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": meta,
		"spec": manifestOf{"password": "hidden"}, "status": manifestOf{"conditions": []any{manifestOf{"type": "Ready", "status": "False", "message": "it waits"}}}}))
	s.on("/apis/example.com/v1/namespaces/shop/widgets/refused", refuse(403, metav1.StatusReasonForbidden))
	s.on("/api/v1/namespaces/shop/configmaps/a", answerJSON(manifestOf{"apiVersion": metaVersion, "kind": partialKind, "metadata": meta}))
	about := []*object.Object{
		terminating(widgets, "shop", "a", "example.com/x"), terminating(widgets, "shop", "refused", "example.com/x"),
		terminating(configMaps, "shop", "a", "example.com/x"), terminating(pods, "shop", "p", "example.com/x"), terminating(namespaces, "", "shop"),
	}
	want, err := c.Evidence(t.Context(), about, about, false)
	if err != nil {
		t.Fatal(err)
	}
	records, err := c.Records(t.Context(), about, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got health.Evidence
	for _, r := range records {
		line, err := r.Line()
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(line), "hidden") {
			t.Errorf("data is in %s", line)
		}
		again, err := health.ParseLine(line)
		if err != nil {
			t.Fatal(err)
		}
		got.Take(again)
	}
	if diff := cmp.Diff(want.Shown, got.Sorted().Shown); diff != "" {
		t.Errorf("-read +kept\n%s", diff)
	}
	if len(want.Workloads) != 1 || len(want.Terminating) < 3 {
		t.Errorf("%d workloads, %d objects", len(want.Workloads), len(want.Terminating))
	}
	for _, part := range health.Parts() {
		for _, ns := range []string{"", "shop", "ops"} {
			if w, g := want.CompletenessOf(part, ns), got.CompletenessOf(part, ns); w != g && w.Why != health.NotRead {
				t.Errorf("%s in %q: read %+v, kept %+v", part, ns, w, g)
			}
		}
	}
}

// TestEvidenceInOlderVersions: admission policies are read from a server that has v1beta1 or
// v1alpha1 only. A binding of v1.26 has no actions, and denies.
func TestEvidenceInOlderVersions(t *testing.T) {
	for _, version := range []string{"v1beta1", "v1alpha1"} {
		s, c := serve(t)
		policies, bindings := health.ResourceOf(health.Policies), health.ResourceOf(health.PolicyBindings)
		policies.Version, bindings.Version = version, version
		s.serves(nil, policies, bindings)
		servesEvidence(s)
		if _, err := c.Discover(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.on("/"+strings.Join(Place{Resource: policies}.path(), "/"), whole(policies, "", manifestOf{"metadata": manifestOf{"name": "p"}, "spec": manifestOf{
			"validations": []any{manifestOf{"expression": `request.userInfo.username == "ann"`}}}}))
		s.on("/"+strings.Join(Place{Resource: bindings}.path(), "/"), whole(bindings, "", manifestOf{"metadata": manifestOf{"name": "b"}, "spec": manifestOf{"policyName": "p"}}))
		o := terminating(widgets, "shop", "a", "example.com/x")
		w, err := c.Evidence(t.Context(), []*object.Object{o}, []*object.Object{o}, false)
		if err != nil {
			t.Fatal(err)
		}
		if len(w.Policies) != 1 || len(w.PolicyBindings) != 1 || !w.PolicyBindings[0].Denies || !w.CompletenessOf(health.Policies, "").Whole {
			t.Errorf("%s: %+v, %+v", version, w.Policies, w.PolicyBindings)
		}
	}
}

// TestEvidenceOfUsages: Usages of Crossplane are read if any object of the cluster is marked as in
// use, even if it is not being deleted.
func TestEvidenceOfUsages(t *testing.T) {
	for value, want := range map[string]int{"true": 1, "false": 0} {
		s, c := serve(t)
		servesEvidence(s)
		used := &object.Object{Ref: object.Ref{APIVersion: "example.com/v1", Kind: "Widget", Namespace: "shop", Name: "used", UID: "uid-used"}}
		used.Labels = object.LabelsOf(map[string]string{"crossplane.io/in-use": value})
		o := terminating(namespaces, "", "shop")
		if _, err := c.Evidence(t.Context(), []*object.Object{o}, []*object.Object{o, used}, false); err != nil {
			t.Fatal(err)
		}
		for _, part := range []health.Part{health.Usages, health.ClusterUsages, health.LegacyUsages} {
			if n := len(s.requests(pathOf(part, ""))); n != want {
				t.Errorf("%s: %s was asked for %d times", value, part, n)
			}
		}
	}
}
