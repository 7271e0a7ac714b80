package kube

import (
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// openAPI returns the OpenAPI document of widgets, whose PATCH has these parameters.
func openAPI(parameters ...string) map[string]any {
	list := make([]any, len(parameters))
	for i, name := range parameters {
		list[i] = map[string]any{"name": name, "in": "query"}
	}
	return map[string]any{"openapi": "3.0.0", "paths": map[string]any{
		"/apis/example.com/v1/namespaces/{namespace}/widgets/{name}": map[string]any{"patch": map[string]any{
			"parameters":                      list,
			"x-kubernetes-group-version-kind": map[string]string{"group": "example.com", "version": "v1", "kind": "Widget"},
		}},
	}}
}

// Dry run is used only if the server documents it. Otherwise the server would carry out the
// request.
func TestDryRuns(t *testing.T) {
	index := map[string]any{"paths": map[string]any{"apis/example.com/v1": map[string]string{"serverRelativeURL": "/openapi/v3/apis/example.com/v1"}}}
	for name, x := range map[string]struct {
		index, document any
		want            bool
	}{
		"it says so":            {index, openAPI("dryRun", "fieldValidation"), true},
		"it does not":           {index, openAPI("fieldValidation"), false},
		"it has none":           {index, openAPI(), false},
		"no such version":       {map[string]any{"paths": map[string]any{}}, nil, false},
		"no documents":          {nil, nil, false},
		"nothing of the kind":   {index, map[string]any{"openapi": "3.0.0", "paths": map[string]any{}}, false},
		"what is no document":   {index, "none", false},
		"no index, a document":  {nil, openAPI("dryRun"), false},
		"the index is no index": {"none", openAPI("dryRun"), false},
	} {
		t.Run(name, func(t *testing.T) {
			s, c := serve(t)
			if x.index != nil {
				s.on("/openapi/v3", answerJSON(x.index))
			}
			if x.document != nil {
				s.on("/openapi/v3/apis/example.com/v1", answerJSON(x.document))
			}
			for range 2 {
				if got := c.DryRuns(t.Context(), widgets); got != x.want {
					t.Errorf("got %t, want %t", got, x.want)
				}
			}
			asked := 0
			for _, path := range s.asked {
				if strings.HasPrefix(path, "GET /openapi/v3?") {
					asked++
				}
			}
			if asked != 1 {
				t.Errorf("asked %d times: %q", asked, s.asked)
			}
		})
	}
}

// Built-in kinds need no request.
func TestDryRunsOfBuiltins(t *testing.T) {
	s, c := serve(t)
	for _, r := range []object.Resource{pods, configMaps, {Group: "apps"}, {Group: "rbac.authorization.k8s.io"}, {Group: "apiextensions.k8s.io"}} {
		if !c.DryRuns(t.Context(), r) {
			t.Errorf("%s: no dry run", r.GroupResource())
		}
	}
	if len(s.asked) > 0 {
		t.Errorf("asked: %q", s.asked)
	}
}

// A kind that is not built in is custom, whatever its name looks like, if it can be changed; also
// while its CRD is being deleted.
func TestDiscoversCustom(t *testing.T) {
	s, c := serve(t)
	gateways := object.Resource{Group: "gateway.networking.k8s.io", Version: "v1", Name: "gateways", Kind: "Gateway", Namespaced: true, Verbs: object.AllVerbs}
	gadgets := object.Resource{Group: "going.example.com", Version: "v1", Name: "gadgets", Kind: "Gadget", Verbs: object.Get | object.List | object.Watch | object.Delete | object.DeleteCollection}
	metrics := object.Resource{Group: "metrics.k8s.io", Version: "v1beta1", Name: "pods", Kind: "PodMetrics", Namespaced: true, Verbs: object.Get | object.List}
	roles := object.Resource{Group: "rbac.authorization.k8s.io", Version: "v1", Name: "roles", Kind: "Role", Namespaced: true, Verbs: object.AllVerbs}
	s.serves(nil, namespaces, pods, widgets, gateways, gadgets, metrics, roles)
	d, err := c.Discover(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range d.Resources.All() {
		if want := r.Kind == "Widget" || r.Kind == "Gateway" || r.Kind == "Gadget"; r.Custom != want {
			t.Errorf("%s is custom: %t", r.GroupResource(), r.Custom)
		}
	}
}

// TestDiscoveryRefused: without permission for discovery the error has the message of the server.
func TestDiscoveryRefused(t *testing.T) {
	for want, answer := range map[string]http.HandlerFunc{
		`User "ann" cannot impersonate resource "users"`: refuse(http.StatusForbidden, metav1.StatusReasonForbidden, func(s *metav1.Status) {
			s.Message, s.Details = `forbidden: User "ann" cannot impersonate resource "users"`, &metav1.StatusDetails{Kind: "users"}
		}),
		"User \"ann\" cannot get path \"/api\"\nThe ClusterRole system:discovery permits it": refuse(http.StatusForbidden, metav1.StatusReasonForbidden, func(s *metav1.Status) {
			s.Message, s.Details = `forbidden: User "ann" cannot get path "/api"`, nil
		}),
		"you must be logged in to the server": refuse(http.StatusUnauthorized, metav1.StatusReasonUnauthorized),
	} {
		s, c := serve(t)
		for _, path := range []string{"/api", "/apis", "/version"} {
			s.on(path, answer)
		}
		if _, err := c.Discover(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("it says %v, want %q", err, want)
		}
	}
}
