package evidence_test

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

	"github.com/kubectl-gc/kubectl-gc/internal/evidence"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// read adds the documents of a file.
func read(t *testing.T, name string) *evidence.World {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	w := &evidence.World{}
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
		"namespaces": {w.Namespaces, []evidence.Conditioned{{
			Ref: ref("v1", "Namespace", "", "shop"),
			Conditions: []evidence.Condition{{
				Type: "NamespaceContentRemaining", Status: "True", Reason: "SomeResourcesRemain", Message: "some are left", Since: noon,
			}},
		}}},
		"nodes": {w.Nodes, []evidence.Node{{Name: "n1", Ready: evidence.Condition{Type: "Ready", Status: "Unknown", Reason: "NodeStatusUnknown"}}}},
		"pods": {w.Pods, []evidence.Pod{{
			Ref: ref("v1", "Pod", "ops", "op-1"), ServiceAccount: "op", Controller: object.Ref{APIVersion: "apps/v1", Kind: "ReplicaSet", Namespace: "ops", Name: "op", UID: "rs"},
			Node: "n1", Phase: "Running", Waiting: "CrashLoopBackOff", Mirror: true, Programs: []string{"manager", "op", "widget-operator"},
		}}},
		"services": {w.Services, []evidence.Service{{"ops", "hook", false}, {"ops", "far", true}}},
		"backends": {w.Backends, []evidence.Backend{
			{Namespace: "ops", Service: "hook", Ready: 2}, {Namespace: "ops", Service: "hook", Ready: 1, Legacy: true},
		}},
		"workloads": {w.Workloads, []evidence.Workload{
			{Ref: ref("apps/v1", "Deployment", "ops", "op"), ServiceAccount: "default", Wanted: 1},
			{Ref: ref("apps/v1", "StatefulSet", "ops", "op"), ServiceAccount: "op", Wanted: 0, BeingDeleted: true},
			{Ref: ref("apps/v1", "DaemonSet", "ops", "op"), ServiceAccount: "old", Wanted: 3, Ready: 2},
		}},
		"roles": {w.Roles, []evidence.Role{{ref("rbac.authorization.k8s.io/v1", "ClusterRole", "", "op"), []evidence.Rule{
			{Verbs: []string{"*"}, Groups: []string{"example.com"}, Resources: []string{"widgets"}, Names: []string{"one"}},
		}}}},
		"bindings": {w.Bindings, []evidence.Binding{{ref("rbac.authorization.k8s.io/v1", "RoleBinding", "shop", "op"), "ClusterRole", "op",
			[]evidence.Subject{{"ServiceAccount", "ops", "op"}, {"Group", "", "system:masters"}}}}},
		"leases": {w.Leases, []evidence.Lease{{"kube-system", "kube-controller-manager", "me", noon, 15}}},
		"api services": {w.APIServices, []evidence.APIService{{"v1.metrics", "metrics", "v1", &evidence.ServiceRef{Namespace: "ops", Name: "hook"},
			evidence.Condition{Type: "Available", Status: "False", Reason: "MissingEndpoints", Message: "none"}}}},
		"definitions": {w.Definitions, []evidence.Definition{
			{Ref: ref("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "widgets.example.com"), Group: "example.com", Plural: "widgets",
				Conversion: &evidence.Client{Service: &evidence.ServiceRef{Namespace: "ops", Name: "hook"}}},
			{Ref: ref("apiextensions.k8s.io/v1beta1", "CustomResourceDefinition", "", "olds.example.com"), Group: "example.com", Plural: "olds",
				Conversion: &evidence.Client{URL: "https://far"}},
		}},
		"webhooks": {w.Webhooks, []evidence.Webhook{{
			APIVersion: "admissionregistration.k8s.io/v1", Kind: "ValidatingWebhookConfiguration", Configuration: "v", Name: "v.example.com", Client: evidence.Client{URL: "https://far"},
			Namespaces: metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Exists"}}},
			Rules:      []evidence.WebhookRule{{Operations: []string{"UPDATE"}, Groups: []string{"*"}, Versions: []string{"*"}, Resources: []string{"*/*"}, Scope: "*"}},
		}, {APIVersion: "admissionregistration.k8s.io/v1", Kind: "ValidatingWebhookConfiguration", Configuration: "v", Name: "w.example.com", Ignored: true}}},
		"events": {w.Events, []evidence.Event{
			{About: object.Ref{APIVersion: "v1", Kind: "Pod", Namespace: "shop", Name: "web", UID: "u"}, Warning: true, Reason: "FailedKillPod", Note: "no answer", From: "kubelet", Last: noon},
			{About: ref("v1", "Pod", "shop", "api"), Reason: "Killing", Note: "stopping", From: "kubelet", Last: noon},
		}},
		"terminating": {w.Terminating, []evidence.Terminating{
			{Ref: ref("apps/v1", "StatefulSet", "ops", "op")},
			{Ref: object.Ref{APIVersion: "example.com/v1", Kind: "Widget", Namespace: "shop", Name: "w", UID: "u-w"}, Writers: []evidence.Writer{{
				Name: "widget-operator", Operation: "Update", Subresource: "status", Time: noon, Finalizers: []string{"a/b", "example.com/\"x\""},
			}}, Conditions: []evidence.Condition{{Type: "Synced", Status: "False", Reason: "Failed", Message: "no route"}}},
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
	w := &evidence.World{}
	if err := w.Add("v1", "Service", []byte(`{"metadata":{"namespace":"a","name":"b"}}`)); err != nil {
		t.Fatal(err)
	}
	if len(w.Services) != 1 {
		t.Errorf("services: %v", w.Services)
	}
}

// TestAddTwice: dumps hold the same object in several files.
func TestAddTwice(t *testing.T) {
	w := &evidence.World{}
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
		w := &evidence.World{}
		if err := w.Add("v1", "Pod", []byte(raw)); err == nil {
			t.Errorf("%s: no error", raw)
		}
		w.Mark(evidence.Pods, "", "")
		if s := w.Sight(evidence.Pods, ""); s.Whole || s.Why == "" {
			t.Errorf("%s: %+v", raw, s)
		}
	}
}

func TestSight(t *testing.T) {
	w := &evidence.World{}
	w.Mark(evidence.Pods, "shop", "")
	w.Mark(evidence.Leases, "", "")
	w.Mark(evidence.Leases, "ops", "forbidden")
	w.Mark(evidence.Nodes, "", "forbidden")
	w.Mark(evidence.Nodes, "", "")
	for _, c := range []struct {
		part      evidence.Part
		namespace string
		want      evidence.Sight
	}{
		{evidence.Pods, "shop", evidence.Sight{Whole: true}},
		{evidence.Pods, "ops", evidence.Sight{Why: evidence.NotRead}},
		{evidence.Pods, "", evidence.Sight{Why: evidence.NotRead}},
		{evidence.Leases, "shop", evidence.Sight{Whole: true}},
		{evidence.Leases, "ops", evidence.Sight{Why: "forbidden"}},
		{evidence.Leases, "", evidence.Sight{Why: "forbidden"}},
		{evidence.Nodes, "", evidence.Sight{Why: "forbidden"}},
		{evidence.Events, "", evidence.Sight{Why: evidence.NotRead}},
	} {
		if got := w.Sight(c.part, c.namespace); got != c.want {
			t.Errorf("%s in %q: %+v, want %+v", c.part, c.namespace, got, c.want)
		}
	}
	if s := (*evidence.World)(nil).Sight(evidence.Pods, ""); s.Whole {
		t.Error("a world that is not there has read everything")
	}
}

// TestParts: every part has a resource and is found by its kind.
func TestParts(t *testing.T) {
	for _, p := range evidence.Parts() {
		r := evidence.ResourceOf(p)
		if got, ok := evidence.PartOf(r.APIVersion(), r.Kind); !ok || got != p || string(p) != r.GroupResource().String() {
			t.Errorf("%s: served as %+v, found as %s", p, r, got)
		}
	}
}

// TestMarksDoNotHeal: one incomplete piece keeps a part incomplete, whatever else is marked in any
// order.
func TestMarksDoNotHeal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &evidence.World{}
		places := rapid.SampledFrom([]string{"", "a", "b"})
		broken := map[string]bool{}
		for range rapid.IntRange(1, 8).Draw(t, "marks") {
			place, why := places.Draw(t, "place"), rapid.SampledFrom([]string{"", "forbidden"}).Draw(t, "why")
			w.Mark(evidence.Pods, place, why)
			broken[place] = broken[place] || why != ""
		}
		for _, place := range []string{"", "a", "b"} {
			if broken[place] && w.Sight(evidence.Pods, place).Whole {
				t.Fatalf("%q is whole", place)
			}
		}
		if len(broken) > 0 && (broken["a"] || broken["b"]) && w.Sight(evidence.Pods, "").Whole {
			t.Fatal("everywhere is whole, a part is not")
		}
	})
}

func FuzzAdd(f *testing.F) {
	f.Add("v1", "Pod", []byte(`{"metadata":{"name":"x","deletionTimestamp":"2026-05-01T12:00:00Z"},"status":{"conditions":{}}}`))
	f.Add("example.com/v1", "Widget", []byte(`{"metadata":{"name":"x","deletionTimestamp":"now","managedFields":[{"fieldsV1":{"f:metadata":{"f:finalizers":{"v:\"a\"":{},"v:":{}}}}}]}}`))
	f.Fuzz(func(t *testing.T, apiVersion, kind string, raw []byte) {
		w := &evidence.World{}
		err := w.Add(apiVersion, kind, raw)
		part, known := evidence.PartOf(apiVersion, kind)
		if known {
			w.Mark(part, "", "")
			if err != nil && w.Sight(part, "").Whole {
				t.Fatalf("%v, and yet it is whole", err)
			}
		}
	})
}
