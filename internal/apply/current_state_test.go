package apply

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/test/facade"
)

// TestLookAtUnserved reads an object of a kind that is no longer served as it was at discovery. The
// object is gone only if discovery is complete and has no version of the kind, and the CRD is gone
// as planned.
func TestLookAtUnserved(t *testing.T) {
	named := func(version string) object.Resource {
		return object.Resource{
			Group: "example.com", Version: version, Name: "widgets", Kind: "Widget", Namespaced: true,
			Verbs: object.Get | object.List | object.Watch | object.Delete | object.PatchVerb, Custom: true,
		}
	}
	config := object.Resource{Version: "v1", Name: "configmaps", Kind: "ConfigMap", Namespaced: true, Verbs: object.Get | object.List}
	crd := object.CRD.Resource()
	crd.Verbs = config.Verbs
	definition := object.CRD.Ref("", "widgets.example.com")
	definition.UID = "crd"
	widget := object.Ref{APIVersion: "example.com/v1beta1", Kind: "Widget", Namespace: "shop", Name: "w", UID: "w"}

	for _, tt := range []struct {
		name string
		// served are the paths that answer, said are the resources in discovery.
		served, said []object.Resource
		stale        []string
		objects      []*object.Object
		gone, known  bool
		// going reports that the plan deletes the CRD of the kind.
		going bool
	}{
		{name: "the kind is not served any more", served: []object.Resource{config}, said: []object.Resource{config}},
		{name: "its definition is gone, as planned", served: []object.Resource{config, crd}, said: []object.Resource{config, crd}, going: true, gone: true, known: true},
		{
			name: "its definition is still there", served: []object.Resource{config, crd}, said: []object.Resource{config, crd}, going: true,
			objects: []*object.Object{{Ref: definition}},
		},
		{name: "its definition cannot be read", served: []object.Resource{config}, said: []object.Resource{config}, going: true},
		{name: "its path fails, and discovery has it", served: []object.Resource{config}, said: []object.Resource{config, named("v1beta1")}},
		{name: "its group cannot be discovered", served: []object.Resource{config}, said: []object.Resource{config, named("v1")}, stale: []string{"example.com/v1"}},
		{
			name: "it is there in another version", served: []object.Resource{config, named("v1")}, said: []object.Resource{config, named("v1")},
			objects: []*object.Object{{Ref: object.Ref{APIVersion: "example.com/v1", Kind: "Widget", Namespace: "shop", Name: "w", UID: "w"}}}, known: true,
		},
		{
			name: "it is gone in another version", served: []object.Resource{config, named("v1")}, said: []object.Resource{config, named("v1")},
			gone: true, known: true,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var now atomic.Pointer[facade.Server]
			now.Store(facade.New(nil, resources(config, named("v1beta1")), facade.Documents([]object.Resource{config, named("v1beta1")})))
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { now.Load().ServeHTTP(w, r) }))
			defer server.Close()
			client := connected(t, server.URL)
			if _, err := client.Discover(t.Context()); err != nil {
				t.Fatal(err)
			}
			now.Store(facade.New(tt.objects, resources(tt.served...), facade.Documents(tt.said, tt.stale...)))

			s := readStates(t.Context(), client, []object.Ref{widget}, func(object.Ref) (object.Ref, bool) { return definition, tt.going })[widget]
			if s.gone() != tt.gone || (s.err == nil) != tt.known {
				t.Errorf("gone: %v, want %v; error: %v", s.gone(), tt.gone, s.err)
			}
		})
	}
}

func resources(list ...object.Resource) *object.Resources {
	rs := &object.Resources{}
	for _, r := range list {
		rs.Add(r)
	}
	return rs
}

// connected returns a client of a server.
func connected(t *testing.T, url string) *kube.Client {
	t.Helper()
	client, err := kube.Connect(&rest.Config{Host: url}, kube.Options{Version: "test", Command: "look"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}
