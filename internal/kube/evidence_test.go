package kube

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// whole returns a list of whole objects, as the server writes lists of built-in kinds.
func whole(r object.Resource, token string, items ...any) http.HandlerFunc {
	return answerJSON(map[string]any{
		"kind": r.Kind + "List", "apiVersion": r.APIVersion(),
		"metadata": map[string]any{"resourceVersion": "7", "continue": token}, "items": items,
	})
}

type manifestOf = map[string]any

func item(name string) manifestOf {
	return manifestOf{"metadata": manifestOf{"namespace": "shop", "name": name}}
}

// Anything but a complete list of whole objects is an error, and never an empty list.
func TestBodiesFaults(t *testing.T) {
	at := Place{Resource: pods, Namespace: "shop"}
	const path = "/api/v1/namespaces/shop/pods"
	good := `{"kind":"PodList","apiVersion":"v1","metadata":{},"items":[{"metadata":{"namespace":"shop","name":"a"}}]}`
	text := func(s string) http.HandlerFunc { return answer200(jsonType, []byte(s)) }
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"a page of a proxy":         {answer200("text/html", []byte("<html>ok</html>")), `its type is "text/html"`},
		"protobuf":                  {answer200(protobufType, []byte("k8s\x00")), "its type is"},
		"nothing":                   {text(""), "broke off"},
		"null":                      {text("null"), "not the requested list"},
		"an array":                  {text("[]"), "not the requested list"},
		"an empty object":           {text("{}"), `it is a "" of ""`},
		"no items":                  {text(`{"kind":"PodList","apiVersion":"v1","metadata":{}}`), `it is a "PodList"`},
		"items that are none":       {text(`{"kind":"PodList","apiVersion":"v1","items":{}}`), "not an array"},
		"an item that is none":      {text(`{"kind":"PodList","apiVersion":"v1","items":[3]}`), "not the requested list"},
		"another kind":              {text(`{"kind":"SecretList","apiVersion":"v1","items":[]}`), `it is a "SecretList"`},
		"a list of metadata":        {text(`{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","items":[]}`), "it is a"},
		"an item of another kind":   {text(`{"kind":"PodList","apiVersion":"v1","items":[{"kind":"Secret","apiVersion":"v1","metadata":{"namespace":"shop","name":"a"}}]}`), `it holds a "Secret"`},
		"an item from elsewhere":    {text(strings.Replace(good, `"shop"`, `"other"`, 1)), `namespace "other"`},
		"a list that ends early":    {text(good[:len(good)-2]), "broke off after 1 objects"},
		"an item that ends early":   {text(good[:len(good)-9]), "broke off after 0 objects"},
		"more than a list":          {text(good + good), "something follows"},
		"a connection that breaks":  {cutOff(jsonType, []byte(good[:len(good)-3])), "broke off"},
		"the same page forever":     {whole(pods, "more", item("a")), "the next page is the same"},
		"forbidden":                 {refuse(403, metav1.StatusReasonForbidden), "Forbidden it is"},
		"a path that is not served": {http.NotFound, "does not serve this path"},
	} {
		t.Run(name, func(t *testing.T) {
			s, client := serve(t)
			s.on(path, c.answer)
			err := client.bodies(context.Background(), at, Selection{}, func([]byte) error { return nil })
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			if asked := s.requests(path); len(asked) > 2 {
				t.Errorf("what fails is asked for again: %q", asked)
			}
		})
	}
}

// Whole objects come page by page, and from the beginning if the server has forgotten the first
// page.
func TestBodiesPages(t *testing.T) {
	s, c := serve(t)
	s.on("/api/v1/pods", whole(pods, "t1", item("a")), refuse(410, metav1.StatusReasonExpired), whole(pods, "t2", item("b")), whole(pods, "", item("c")))
	var names []string
	err := c.bodies(context.Background(), Place{Resource: pods}, Selection{Fields: "spec.nodeName=n"}, func(raw []byte) error {
		var o metav1.PartialObjectMetadata
		if err := json.Unmarshal(raw, &o); err != nil {
			return err
		}
		names = append(names, o.Name)
		return nil
	})
	if err != nil || !slices.Equal(names, []string{"a", "b", "c"}) {
		t.Errorf("%v, %v", names, err)
	}
	const all = "GET /api/v1/pods?"
	want := []string{
		all + "fieldSelector=spec.nodeName%3Dn&limit=500", all + "continue=t1&fieldSelector=spec.nodeName%3Dn&limit=500",
		all + "fieldSelector=spec.nodeName%3Dn&limit=500", all + "continue=t2&fieldSelector=spec.nodeName%3Dn&limit=500",
	}
	if diff := cmp.Diff(want, s.requests("pods")); diff != "" {
		t.Error(diff)
	}
}

// terminating returns an object that waits for finalizers.
func terminating(r object.Resource, namespace, name string, finalizers ...string) *object.Object {
	o := &object.Object{Ref: object.Ref{APIVersion: r.APIVersion(), Kind: r.Kind, Namespace: namespace, Name: name, UID: types.UID("uid-" + name)}}
	life := o.Edit()
	life.DeletionTimestamp, life.Finalizers = 1, finalizers
	return o
}

// servesEvidence makes a server list every part as empty.
func servesEvidence(s *scripted) {
	for _, p := range health.Parts() {
		r := health.ResourceOf(p)
		s.on(pathOf(p, ""), whole(r, ""))
		if r.Namespaced {
			for _, ns := range []string{"shop", "ops", "kube-system", "default"} {
				s.on(pathOf(p, ns), whole(r, ""))
			}
		}
	}
}

func pathOf(p health.Part, namespace string) string {
	return "/" + strings.Join(Place{health.ResourceOf(p), namespace}.path(), "/")
}

// gather reads the evidence of a server after discovery.
func gather(t *testing.T, c *Client, about ...*object.Object) *health.Evidence {
	t.Helper()
	if _, err := c.Discover(context.Background()); err != nil {
		t.Fatal(err)
	}
	w, err := c.Evidence(context.Background(), about, about, false)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// asked returns the paths of the lists that were read, without selectors.
func (s *scripted) listed() []string {
	var paths []string
	for _, r := range s.requests("limit=") {
		path, _, _ := strings.Cut(strings.TrimPrefix(r, "GET "), "?")
		paths = append(paths, path)
	}
	slices.Sort(paths)
	return paths
}

// Only parts that can matter are read.
func TestEvidenceIsLittle(t *testing.T) {
	always := []health.Part{health.APIServices, health.ValidatingWebhooks, health.MutatingWebhooks, health.Policies, health.PolicyBindings, health.Leases, health.Namespaces}
	actors := []health.Part{health.Pods, health.Deployments, health.StatefulSets, health.DaemonSets,
		health.Roles, health.RoleBindings, health.ClusterRoles, health.ClusterBindings}
	alive := terminating(configMaps, "shop", "alive")
	alive.Edit().DeletionTimestamp = 0
	for name, c := range map[string]struct {
		about []*object.Object
		parts []health.Part
		// events is the namespace whose events are read.
		events string
	}{
		"nothing":                 {nil, nil, ""},
		"nothing is deleted":      {[]*object.Object{alive}, nil, ""},
		"a finalizer":             {[]*object.Object{terminating(configMaps, "shop", "a", "kubernetes.io/pvc-protection")}, slices.Concat(always, actors), "shop"},
		"the garbage collector's": {[]*object.Object{terminating(configMaps, "shop", "a", "orphan")}, slices.Concat(always, actors, []health.Part{health.Definitions}), "shop"},
		"a pod":                   {[]*object.Object{terminating(pods, "shop", "a")}, append(always, health.Nodes), "shop"},
		"a pod's finalizer":       {[]*object.Object{terminating(pods, "shop", "a", "example.com/x")}, slices.Concat(always, actors, []health.Part{health.Nodes}), "shop"},
		"a volume":                {[]*object.Object{terminating(object.PV.Resource(), "", "a", "example.com/x")}, slices.Concat(always, actors, []health.Part{health.Attachments}), "default"},
		"a node":                  {[]*object.Object{terminating(object.Node.Resource(), "", "a", "example.com/x")}, slices.Concat(always, actors, []health.Part{health.Attachments, health.Budgets}), "default"},
		"a custom resource":       {[]*object.Object{terminating(widgets, "shop", "a", "example.com/x")}, slices.Concat(always, actors, []health.Part{health.Definitions}), "shop"},
		"a namespace":             {[]*object.Object{terminating(namespaces, "", "shop")}, slices.Concat(always, actors, []health.Part{health.Definitions}), "default"},
	} {
		t.Run(name, func(t *testing.T) {
			s, client := serve(t)
			servesEvidence(s)
			w := gather(t, client, c.about...)
			var want []string
			if c.events != "" {
				want = append(want, pathOf(health.Events, c.events))
			}
			for _, p := range c.parts {
				want = append(want, pathOf(p, ""))
				if !w.CompletenessOf(p, "").Whole {
					t.Errorf("%s is not whole", p)
				}
			}
			slices.Sort(want)
			if diff := cmp.Diff(want, s.listed()); diff != "" {
				t.Errorf("-want +asked\n%s", diff)
			}
			if len(c.parts) == 0 && w.CompletenessOf(health.Leases, "").Whole {
				t.Error("what nobody asked for counts as read")
			}
		})
	}
}

// TestEvidenceOfDrains: cordoned nodes are read with one list, and budgets only if there are any.
func TestEvidenceOfDrains(t *testing.T) {
	nodes, budgets := health.ResourceOf(health.Nodes), health.ResourceOf(health.Budgets)
	for cordoned, want := range map[bool][]string{
		true:  {"GET /api/v1/nodes?fieldSelector=spec.unschedulable%3Dtrue&limit=500", "GET /apis/policy/v1/poddisruptionbudgets?limit=500"},
		false: {"GET /api/v1/nodes?fieldSelector=spec.unschedulable%3Dtrue&limit=500"},
	} {
		s, c := serve(t)
		var found []any
		if cordoned {
			found = append(found, manifestOf{"metadata": manifestOf{"name": "n1"}, "spec": manifestOf{"unschedulable": true}})
		}
		s.on(pathOf(health.Nodes, ""), whole(nodes, "", found...))
		s.on(pathOf(health.Budgets, ""), whole(budgets, "", manifestOf{"metadata": manifestOf{"name": "b", "namespace": "shop"}}))
		w, err := c.Evidence(t.Context(), nil, nil, true)
		if err != nil {
			t.Fatal(err)
		}
		if len(w.Nodes) != len(found) || len(w.Budgets) != len(found) {
			t.Errorf("%+v, %+v", w.Nodes, w.Budgets)
		}
		if diff := cmp.Diff(want, append(s.requests("nodes"), s.requests("poddisruptionbudgets")...)); diff != "" {
			t.Errorf("cordoned %v: %s", cordoned, diff)
		}
	}
}

// A part that cannot be read is unknown, with the reason. The other parts are complete.
func TestEvidenceForbidden(t *testing.T) {
	s, c := serve(t)
	servesEvidence(s)
	s.on(pathOf(health.Roles, ""), refuse(403, metav1.StatusReasonForbidden))
	s.on(pathOf(health.Events, "shop"), refuse(403, metav1.StatusReasonForbidden))
	s.on(pathOf(health.Leases, ""), answer200(jsonType, []byte(`{"kind":"LeaseList","apiVersion":"coordination.k8s.io/v1","items":[`)))
	s.on("/apis/example.com/v1/namespaces/shop/widgets/a", refuse(403, metav1.StatusReasonForbidden))
	s.on("/apis/example.com/v1/namespaces/shop/widgets/gone", missing(widgets, "gone"))
	w := gather(t, c, terminating(widgets, "shop", "a", "example.com/x"), terminating(widgets, "shop", "gone", "example.com/x"))
	for _, c := range []struct {
		part      health.Part
		namespace string
		why       string
	}{
		{health.Roles, "", "Forbidden it is"}, {health.Leases, "", "broke off"}, {health.Events, "shop", "Forbidden it is"}, {health.Slices, "shop", health.NotRead},
	} {
		if got := w.CompletenessOf(c.part, c.namespace); got.Whole || !strings.Contains(got.Why, c.why) {
			t.Errorf("%s: %+v, want %q", c.part, got, c.why)
		}
	}
	if !w.CompletenessOf(health.ClusterRoles, "").Whole {
		t.Error("the cluster roles were read, and do not count")
	}
	if len(w.Terminating) != 1 || w.Terminating[0].Ref.Name != "a" || !strings.Contains(w.Terminating[0].Unread, "Forbidden it is") {
		t.Errorf("%+v", w.Terminating)
	}
}

// Of Secrets and ConfigMaps only metadata is requested and accepted.
func TestEvidenceOfSecrets(t *testing.T) {
	const path = "/api/v1/namespaces/shop/configmaps/a"
	meta := manifestOf{"namespace": "shop", "name": "a", "uid": "uid-a", "deletionTimestamp": "2026-01-01T00:00:00Z",
		"managedFields": []any{manifestOf{"manager": "op", "operation": "Update", "fieldsV1": manifestOf{"f:metadata": manifestOf{"f:finalizers": manifestOf{`v:"example.com/x"`: manifestOf{}}}}}}}
	s, c := serve(t)
	servesEvidence(s)
	var accepts []string
	kind := partialKind
	s.on(path, func(w http.ResponseWriter, r *http.Request) {
		accepts = append(accepts, r.Header.Get("Accept"))
		answerJSON(manifestOf{"apiVersion": metaVersion, "kind": kind, "metadata": meta})(w, r)
	})
	o := terminating(configMaps, "shop", "a", "example.com/x")
	w := gather(t, c, o)
	if len(w.Terminating) != 1 || w.Terminating[0].Ref != o.Ref || len(w.Terminating[0].Writers) != 1 {
		t.Errorf("%+v", w.Terminating)
	}
	if !slices.Equal(accepts, []string{jsonType + metadataOnly}) {
		t.Errorf("asked for %q", accepts)
	}
	kind = "ConfigMap"
	if w := gather(t, c, o); len(w.Terminating) != 1 || !strings.Contains(w.Terminating[0].Unread, `it is a "ConfigMap"`) {
		t.Errorf("a whole one is taken: %+v", w.Terminating)
	}
}

// A finished pod is not listed, but the pod itself shows the writer of its finalizer.
func TestEvidenceOfFinishedPods(t *testing.T) {
	s, c := serve(t)
	servesEvidence(s)
	s.on("/api/v1/namespaces/shop/pods/p", answerJSON(manifestOf{"apiVersion": "v1", "kind": "Pod", "metadata": manifestOf{
		"namespace": "shop", "name": "p", "uid": "uid-p", "deletionTimestamp": "2026-01-01T00:00:00Z",
	}}))
	w := gather(t, c, terminating(pods, "shop", "p", "example.com/x"))
	if len(w.Terminating) != 1 || w.Terminating[0].Unread != "" {
		t.Errorf("%+v", w.Terminating)
	}
}

// Many objects of a kind are read with one list, and none is left out.
func TestEvidenceOfMany(t *testing.T) {
	s, c := serve(t)
	servesEvidence(s)
	var about []*object.Object
	var items []any
	for i := range 100 {
		name := fmt.Sprintf("a%02d", i)
		about = append(about, terminating(widgets, "shop", name, "example.com/a"), terminating(configMaps, "shop", name, "example.com/a"))
		if i != 7 { // this one is gone by now
			items = append(items, manifestOf{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": manifestOf{"namespace": "shop", "name": name, "uid": "uid-" + name, "deletionTimestamp": "2026-01-01T00:00:00Z"}})
		}
	}
	items = append(items, manifestOf{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": manifestOf{"namespace": "shop", "name": "alive", "uid": "uid-alive"}})
	s.on("/apis/example.com/v1/namespaces/shop/widgets", whole(widgets, "", items...))
	w := gather(t, c, about...)
	read, unread := 0, map[string]int{}
	for _, o := range w.Terminating {
		if o.Unread == "" {
			read++
		} else {
			unread[o.Ref.Kind]++
		}
	}
	// The first ConfigMaps are read one by one, and fail here.
	if read != 99 || unread["Widget"] != 0 || unread["ConfigMap"] != 100 {
		t.Errorf("%d were read, %v not", read, unread)
	}
	if n, data := len(s.requests("/widgets")), s.requests("/configmaps"); n != 1 || len(data) != maxSingleReads || strings.Contains(data[0], "?") {
		t.Errorf("%d requests for widgets, %d for ConfigMaps, as %q", n, len(data), data[0])
	}
	if n := len(s.requests("involvedObject.uid")); n != 2*maxSingleReads {
		t.Errorf("%d times events were read", n)
	}

	// Objects of several namespaces are read with one list.
	about = append(about, terminating(widgets, "other", "o", "example.com/a"))
	s.on("/apis/example.com/v1/widgets", whole(widgets, "more", items[:3]...), refuse(403, metav1.StatusReasonForbidden))
	w = gather(t, c, about...)
	read = 0
	seen := map[object.Ref]bool{}
	for _, o := range w.Terminating {
		if seen[o.Ref] {
			t.Errorf("twice: %v", o.Ref)
		}
		seen[o.Ref] = true
		if o.Ref.Kind == "Widget" && o.Unread == "" {
			read++
		} else if o.Ref.Kind == "Widget" && !strings.Contains(o.Unread, "Forbidden it is") {
			t.Errorf("%+v", o)
		}
	}
	if read != 3 {
		t.Errorf("%d were read", read)
	}
}

// The writers of finalizers, events and services without endpoints are all sorted.
func TestEvidenceGathered(t *testing.T) {
	s, c := serve(t)
	servesEvidence(s)
	s.on("/apis/example.com/v1/namespaces/shop/widgets/a", answerJSON(manifestOf{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": manifestOf{
		"namespace": "shop", "name": "a", "uid": "uid-a", "deletionTimestamp": "2026-01-01T00:00:00Z",
		"managedFields": []any{manifestOf{"manager": "op", "operation": "Update", "fieldsV1": manifestOf{"f:metadata": manifestOf{"f:finalizers": manifestOf{`v:"example.com/x"`: manifestOf{}}}}}},
	}}))
	s.on(pathOf(health.Events, "shop"), whole(health.ResourceOf(health.Events), "", manifestOf{
		"metadata": manifestOf{"namespace": "shop", "name": "e"}, "involvedObject": manifestOf{"kind": "Widget", "namespace": "shop", "name": "a", "uid": "uid-a"}, "reason": "Failed",
	}))
	s.on(pathOf(health.ValidatingWebhooks, ""), whole(health.ResourceOf(health.ValidatingWebhooks), "", manifestOf{
		"metadata": manifestOf{"name": "hooks"}, "webhooks": []any{manifestOf{"name": "h", "clientConfig": manifestOf{"service": manifestOf{"namespace": "ops", "name": "hook"}}}},
	}))
	account := func(name string) manifestOf {
		return manifestOf{"metadata": manifestOf{"namespace": "ops", "name": name}, "spec": manifestOf{"template": manifestOf{"spec": manifestOf{"serviceAccountName": name}}}}
	}
	s.on(pathOf(health.StatefulSets, ""), whole(health.ResourceOf(health.StatefulSets), "", account("s")))
	s.on(pathOf(health.Deployments, ""), whole(health.ResourceOf(health.Deployments), "", account("d")))
	s.on(pathOf(health.DaemonSets, ""), whole(health.ResourceOf(health.DaemonSets), "", account("x")))
	w := gather(t, c, terminating(widgets, "shop", "a", "example.com/x"))
	if len(w.Terminating) != 1 || len(w.Terminating[0].Writers) != 1 || w.Terminating[0].Writers[0].Name != "op" {
		t.Errorf("%+v", w.Terminating)
	}
	if len(w.Events) != 1 || w.Events[0].Reason != "Failed" {
		t.Errorf("%+v", w.Events)
	}
	var accounts []string
	for _, o := range w.Workloads {
		accounts = append(accounts, o.Ref.Kind+" "+o.ServiceAccount)
	}
	if diff := cmp.Diff([]string{"DaemonSet x", "Deployment d", "StatefulSet s"}, accounts); diff != "" {
		t.Error(diff)
	}
	if !w.CompletenessOf(health.Slices, "ops").Whole || w.CompletenessOf(health.Slices, "shop").Whole {
		t.Error("the endpoints of the webhook, and no others, have to be read")
	}
	if asked := s.requests("/pods?"); len(asked) != 1 || !strings.Contains(asked[0], "phase%21%3DSucceeded") {
		t.Errorf("finished pods are read: %q", asked)
	}
}
