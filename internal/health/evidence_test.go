package health_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// read adds the documents of a file.
func read(t *testing.T, name string) *health.Evidence {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	w := &health.Evidence{}
	for i, doc := range strings.Split(string(text), "\n---\n") {
		raw, err := yaml.YAMLToJSON([]byte(doc))
		if err != nil {
			t.Fatalf("document %d: %v", i+1, err)
		}
		if err := w.Add("", "", raw); err != nil {
			t.Fatalf("document %d: %v", i+1, err)
		}
	}
	return w
}

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC).Unix()

func ref(apiVersion, kind, namespace, name string) object.Ref {
	return object.Ref{APIVersion: apiVersion, Kind: kind, Namespace: namespace, Name: name}
}

func TestWhatIsKept(t *testing.T) {
	w := read(t, "world.yaml")
	for name, c := range map[string]struct{ got, want any }{
		"namespaces": {w.Namespaces, []health.Conditioned{{
			Ref: ref("v1", "Namespace", "", "shop"),
			Conditions: []health.Condition{{
				Type: "NamespaceContentRemaining", Status: "True", Reason: "SomeResourcesRemain", Message: "some are left", Since: noon,
			}},
		}}},
		"nodes": {w.Nodes, []health.Node{{Name: "n1", Ready: health.Condition{Type: "Ready", Status: "Unknown", Reason: "NodeStatusUnknown"}}}},
		"pods": {w.Pods, []health.Pod{{
			Ref: ref("v1", "Pod", "ops", "op-1"), ServiceAccount: "op", Controller: object.Ref{APIVersion: "apps/v1", Kind: "ReplicaSet", Namespace: "ops", Name: "op", UID: "rs"},
			Node: "n1", Phase: "Running", Waiting: "CrashLoopBackOff", Mirror: true, Programs: []string{"manager", "op", "widget-operator"},
		}}},
		"services": {w.Services, []health.Service{{"ops", "hook", false}, {"ops", "far", true}}},
		"backends": {w.Backends, []health.Backend{
			{Namespace: "ops", Service: "hook", Ready: 2}, {Namespace: "ops", Service: "hook", Ready: 1, Legacy: true},
		}},
		"workloads": {w.Workloads, []health.Workload{
			{Ref: ref("apps/v1", "Deployment", "ops", "op"), ServiceAccount: "default", Wanted: 1},
			{Ref: ref("apps/v1", "StatefulSet", "ops", "op"), ServiceAccount: "op", Wanted: 0, BeingDeleted: true},
			{Ref: ref("apps/v1", "DaemonSet", "ops", "op"), ServiceAccount: "old", Wanted: 3, Ready: 2},
		}},
		"roles": {w.Roles, []health.Role{{ref("rbac.authorization.k8s.io/v1", "ClusterRole", "", "op"), []health.Rule{
			{Verbs: []string{"*"}, Groups: []string{"example.com"}, Resources: []string{"widgets"}, Names: []string{"one"}},
		}}}},
		"bindings": {w.Bindings, []health.Binding{{ref("rbac.authorization.k8s.io/v1", "RoleBinding", "shop", "op"), "ClusterRole", "op",
			[]health.Subject{{"ServiceAccount", "ops", "op"}, {"Group", "", "system:masters"}}}}},
		"leases": {w.Leases, []health.Lease{{"kube-system", "kube-controller-manager", "me", noon, 15}}},
		"api services": {w.APIServices, []health.APIService{{"v1.metrics", "metrics", "v1", &health.ServiceRef{Namespace: "ops", Name: "hook"},
			health.Condition{Type: "Available", Status: "False", Reason: "MissingEndpoints", Message: "none"}}}},
		"definitions": {w.Definitions, []health.Definition{
			{Ref: ref("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "widgets.example.com"), Group: "example.com", Plural: "widgets",
				Conversion: &health.Client{Service: &health.ServiceRef{Namespace: "ops", Name: "hook"}}},
			{Ref: ref("apiextensions.k8s.io/v1beta1", "CustomResourceDefinition", "", "olds.example.com"), Group: "example.com", Plural: "olds",
				Conversion: &health.Client{URL: "https://far"}},
		}},
		"webhooks": {w.Webhooks, []health.Webhook{{
			APIVersion: "admissionregistration.k8s.io/v1", Kind: "ValidatingWebhookConfiguration", Configuration: "v", Name: "v.example.com", Client: health.Client{URL: "https://far"},
			Namespaces: metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Exists"}}},
			Rules:      []health.WebhookRule{{Operations: []string{"UPDATE"}, Groups: []string{"*"}, Versions: []string{"*"}, Resources: []string{"*/*"}, Scope: "*"}},
		}, {APIVersion: "admissionregistration.k8s.io/v1", Kind: "ValidatingWebhookConfiguration", Configuration: "v", Name: "w.example.com", Ignored: true}}},
		"events": {w.Events, []health.Event{
			{About: object.Ref{APIVersion: "v1", Kind: "Pod", Namespace: "shop", Name: "web", UID: "u"}, Warning: true, Reason: "FailedKillPod", Note: "no answer", From: "kubelet", Last: noon},
			{About: ref("v1", "Pod", "shop", "api"), Reason: "Killing", Note: "stopping", From: "kubelet", Last: noon},
		}},
		"terminating": {w.Terminating, []health.Terminating{
			{Ref: ref("apps/v1", "StatefulSet", "ops", "op")},
			{Ref: object.Ref{APIVersion: "example.com/v1", Kind: "Widget", Namespace: "shop", Name: "w", UID: "u-w"}, Writers: []health.Writer{{
				Name: "widget-operator", Operation: "Update", Subresource: "status", Time: noon, Finalizers: []string{"a/b", "example.com/\"x\""},
			}}, Conditions: []health.Condition{{Type: "Synced", Status: "False", Reason: "Failed", Message: "no route"}}},
			{Ref: ref("example.com/v1", "Widget", "shop", "odd")},
		}},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestKindOfTheList: the items of an API server's lists do not say their kind.
func TestKindOfTheList(t *testing.T) {
	w := &health.Evidence{}
	if err := w.Add("v1", "Service", []byte(`{"metadata":{"namespace":"a","name":"b"}}`)); err != nil {
		t.Fatal(err)
	}
	if len(w.Services) != 1 {
		t.Errorf("services: %v", w.Services)
	}
}

// TestAddTwice: dumps hold the same object in several files.
func TestAddTwice(t *testing.T) {
	w := &health.Evidence{}
	for _, raw := range []string{
		`{"apiVersion":"v1","kind":"Event","metadata":{"namespace":"a","name":"b"},"message":"one"}`,
		`{"apiVersion":"events.k8s.io/v1","kind":"Event","metadata":{"namespace":"a","name":"b"},"note":"one"}`,
	} {
		if err := w.Add("", "", []byte(raw)); err != nil {
			t.Fatal(err)
		}
	}
	if len(w.Events) != 1 {
		t.Errorf("events: %v", w.Events)
	}
}

// TestBrokenObject: a part with an unreadable object stays incomplete.
func TestBrokenObject(t *testing.T) {
	for _, raw := range []string{`{"spec":7,"metadata":{"name":"x","namespace":"a"}}`, `{"metadata":{}}`, `{"metadata":`, `[]`, `null`} {
		w := &health.Evidence{}
		if err := w.Add("v1", "Pod", []byte(raw)); err == nil {
			t.Errorf("%s: no error", raw)
		}
		w.Mark(health.Pods, "", "")
		if s := w.CompletenessOf(health.Pods, ""); s.Whole || s.Why == "" {
			t.Errorf("%s: %+v", raw, s)
		}
	}
}

func TestCompleteness(t *testing.T) {
	w := &health.Evidence{}
	w.Mark(health.Pods, "shop", "")
	w.Mark(health.Leases, "", "")
	w.Mark(health.Leases, "ops", "forbidden")
	w.Mark(health.Nodes, "", "forbidden")
	w.Mark(health.Nodes, "", "")
	for _, c := range []struct {
		part      health.Part
		namespace string
		want      health.Completeness
	}{
		{health.Pods, "shop", health.Completeness{Whole: true}},
		{health.Pods, "ops", health.Completeness{Why: health.NotRead}},
		{health.Pods, "", health.Completeness{Why: health.NotRead}},
		{health.Leases, "shop", health.Completeness{Whole: true}},
		{health.Leases, "ops", health.Completeness{Why: "forbidden"}},
		{health.Leases, "", health.Completeness{Why: "forbidden"}},
		{health.Nodes, "", health.Completeness{Why: "forbidden"}},
		{health.Events, "", health.Completeness{Why: health.NotRead}},
	} {
		if got := w.CompletenessOf(c.part, c.namespace); got != c.want {
			t.Errorf("%s in %q: %+v, want %+v", c.part, c.namespace, got, c.want)
		}
	}
	if s := (*health.Evidence)(nil).CompletenessOf(health.Pods, ""); s.Whole {
		t.Error("a world that is not there has read everything")
	}
}

// TestParts: every part has a resource and is found by its kind.
func TestParts(t *testing.T) {
	for _, p := range health.Parts() {
		r := health.ResourceOf(p)
		if got, ok := health.PartOf(r.APIVersion(), r.Kind); !ok || got != p || string(p) != r.GroupResource().String() {
			t.Errorf("%s: served as %+v, found as %s", p, r, got)
		}
	}
}

// TestMarksDoNotHeal: one incomplete piece keeps a part incomplete, whatever else is marked in any
// order.
func TestMarksDoNotHeal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &health.Evidence{}
		places := rapid.SampledFrom([]string{"", "a", "b"})
		broken := map[string]bool{}
		for range rapid.IntRange(1, 8).Draw(t, "marks") {
			place, why := places.Draw(t, "place"), rapid.SampledFrom([]string{"", "forbidden"}).Draw(t, "why")
			w.Mark(health.Pods, place, why)
			broken[place] = broken[place] || why != ""
		}
		for _, place := range []string{"", "a", "b"} {
			if broken[place] && w.CompletenessOf(health.Pods, place).Whole {
				t.Fatalf("%q is whole", place)
			}
		}
		if len(broken) > 0 && (broken["a"] || broken["b"]) && w.CompletenessOf(health.Pods, "").Whole {
			t.Fatal("everywhere is whole, a part is not")
		}
	})
}

func FuzzAdd(f *testing.F) {
	f.Add("v1", "Pod", []byte(`{"metadata":{"name":"x","deletionTimestamp":"2026-05-01T12:00:00Z"},"status":{"conditions":{}}}`))
	f.Add("example.com/v1", "Widget", []byte(`{"metadata":{"name":"x","deletionTimestamp":"now","managedFields":[{"fieldsV1":{"f:metadata":{"f:finalizers":{"v:\"a\"":{},"v:":{}}}}}]}}`))
	f.Fuzz(func(t *testing.T, apiVersion, kind string, raw []byte) {
		w := &health.Evidence{}
		err := w.Add(apiVersion, kind, raw)
		part, known := health.PartOf(apiVersion, kind)
		if known {
			w.Mark(part, "", "")
			if err != nil && w.CompletenessOf(part, "").Whole {
				t.Fatalf("%v, and yet it is whole", err)
			}
		}
	})
}

// An unreadable object is recorded with the reason and without writers.
func TestUnread(t *testing.T) {
	w := &health.Evidence{}
	w.Unread(object.Ref{Kind: "Widget", Name: "a"}, "forbidden")
	if len(w.Terminating) != 1 || w.Terminating[0].Unread != "forbidden" || w.Terminating[0].Writers != nil {
		t.Errorf("%+v", w.Terminating)
	}
}
