package object

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func served(group, version, name, kind string, namespaced bool, verbs Verbs) Resource {
	return Resource{Group: group, Version: version, Name: name, Kind: kind, Namespaced: namespaced, Verbs: verbs}
}

func resources(list ...Resource) *Resources {
	rs := &Resources{}
	for _, r := range list {
		rs.Add(r)
	}
	return rs
}

// A resource is watched if the preferred version offers delete, list and watch,
// and if it is no Event.
//
// Covers: S186, S188
func TestMonitored(t *testing.T) {
	rs := resources(
		served("", "v1", "pods", "Pod", true, AllVerbs),
		served("", "v1", "events", "Event", true, AllVerbs),
		served("events.k8s.io", "v1", "events", "Event", true, AllVerbs),
		served("autoscaling", "v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler", true, AllVerbs),
		served("autoscaling", "v1", "horizontalpodautoscalers", "HorizontalPodAutoscaler", true, AllVerbs),
		served("", "v1", "bindings", "Binding", true, Create),
		served("example.com", "v1", "unwatched", "Unwatched", true, AllVerbs&^Watch),
		served("example.com", "v1", "unlisted", "Unlisted", true, AllVerbs&^List),
		served("example.com", "v1", "undeletable", "Undeletable", true, AllVerbs&^Delete),
		served("example.com", "v1", "unread", "Unread", true, Delete|List|Watch),
	)
	got := map[string]bool{}
	for _, r := range rs.All() {
		got[r.APIVersion()+" "+r.Name] = rs.Monitored(r)
	}
	want := map[string]bool{
		"v1 pods": true, "v1 events": false, "events.k8s.io/v1 events": false,
		"autoscaling/v2 horizontalpodautoscalers": true, "autoscaling/v1 horizontalpodautoscalers": false,
		"v1 bindings": false, "example.com/v1 unwatched": false, "example.com/v1 unlisted": false,
		"example.com/v1 undeletable": false, "example.com/v1 unread": true,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// The mapped kinds are those of a real REST mapper: the kind, the kind in lower case, and list
// kinds with an unserved path.
func TestFor(t *testing.T) {
	rs := resources(
		served("", "v1", "configmaps", "ConfigMap", true, AllVerbs),
		served("", "v1", "nodes", "Node", false, AllVerbs),
		served("apps", "v1", "deployments", "Deployment", true, AllVerbs),
	)
	for _, tt := range []struct {
		apiVersion, kind, name string
		served, namespaced     bool
	}{
		{"v1", "ConfigMap", "configmaps", true, true},
		{"v1", "configmap", "configmaps", true, true},
		{"v1", "ConfigMapList", "configmaplists", false, true},
		{"v1", "NodeList", "nodelists", false, false},
		{"v1", "List", "lists", false, false},
		{"apps/v1", "List", "lists", false, false},
		{"v1", "CONFIGMAP", "", false, false},
		{"v1", "configmaps", "", false, false},
		{"apps/v1beta1", "Deployment", "", false, false},
		{"extensions/v1beta1", "Deployment", "", false, false},
		{"a/b/c", "Deployment", "", false, false},
		{"", "ConfigMap", "", false, false},
	} {
		r, err := rs.For(tt.apiVersion, tt.kind)
		if tt.name == "" {
			if _, ok := errors.AsType[*UnknownKindError](err); !ok {
				t.Errorf("%s %s: got %+v, %v, want an UnknownKindError", tt.apiVersion, tt.kind, r, err)
			}
			continue
		}
		if err != nil || r.Name != tt.name || r.Served() != tt.served || r.Namespaced != tt.namespaced {
			t.Errorf("%s %s: got %+v, %v", tt.apiVersion, tt.kind, r, err)
		}
	}
}

// A kind with the name of another one's list is mapped to its own resource.
func TestForPrefersARealKindOverAGuessedOne(t *testing.T) {
	for _, rs := range []*Resources{
		resources(served("x", "v1", "as", "A", true, AllVerbs), served("x", "v1", "alists", "AList", true, AllVerbs)),
		resources(served("x", "v1", "alists", "AList", true, AllVerbs), served("x", "v1", "as", "A", true, AllVerbs)),
	} {
		if r, err := rs.For("x/v1", "AList"); err != nil || !r.Served() {
			t.Errorf("got %+v, %v", r, err)
		}
	}
}

func TestVerbs(t *testing.T) {
	v := VerbsOf([]string{"watch", "get", "proxy", "delete"})
	if diff := cmp.Diff([]string{"delete", "get", "watch"}, v.Names()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if v.Has(List) || !v.Has(Get|Watch) {
		t.Errorf("%v", v.Names())
	}
}
