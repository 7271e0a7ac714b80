package deleters

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

var configMaps = object.Resource{Version: "v1", Name: "configmaps", Kind: "ConfigMap", Namespaced: true, Verbs: object.AllVerbs}

// shown returns a store that has seen config maps, each in a version, and one deletion.
func shown(versions map[string]string) *store {
	s := newStore(func(apiVersion, kind string) (object.Resource, error) {
		if kind != configMaps.Kind {
			return object.Resource{}, &object.UnknownKindError{APIVersion: apiVersion, Kind: kind}
		}
		return configMaps, nil
	})
	for name, version := range versions {
		o := configMap(name, "")
		o.ResourceVersion = version
		s.record(object.Event{Type: object.Added, Object: o})
	}
	s.record(object.Event{Type: object.Added, Object: configMap("gone", "")})
	s.record(object.Event{Type: object.Deleted, Object: configMap("gone", "")})
	return s
}

// The store has reached a list if nothing in the list is new to it, and no other object in it is
// older than the list.
func TestReached(t *testing.T) {
	for name, c := range map[string]struct {
		has, list map[string]string
		version   string
		want      bool
	}{
		"nothing":                     {nil, nil, "9", true},
		"the same":                    {map[string]string{"a": "5"}, map[string]string{"a": "5"}, "9", true},
		"an older version":            {map[string]string{"a": "4"}, map[string]string{"a": "5"}, "9", false},
		"a later version":             {map[string]string{"a": "10"}, map[string]string{"a": "9"}, "9", true},
		"one that was not seen":       {nil, map[string]string{"a": "5"}, "9", false},
		"one that has gone since":     {nil, map[string]string{"gone": "5"}, "9", true},
		"one that came since":         {map[string]string{"a": "10"}, nil, "9", true},
		"one that has gone before":    {map[string]string{"a": "5"}, nil, "9", false},
		"versions that are no number": {map[string]string{"a": "x"}, map[string]string{"a": "y"}, "z", false},
	} {
		l := listed{resource: configMaps.GroupResource(), versions: map[types.UID]string{}, version: c.version}
		for name, version := range c.list {
			l.versions[named(name).UID] = version
		}
		if got := shown(c.has).hasReached(l); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// For a list of one namespace only the objects of that namespace count.
func TestReachedInNamespace(t *testing.T) {
	s := shown(map[string]string{"a": "5"})
	elsewhere := listed{resource: configMaps.GroupResource(), namespace: "other", versions: map[types.UID]string{}, version: "9"}
	if !s.hasReached(elsewhere) {
		t.Error("what is in another namespace counts")
	}
	elsewhere.namespace = "shop"
	if s.hasReached(elsewhere) {
		t.Error("what is there does not count")
	}
}

// An object with the name of a deleted one is another object. A late deletion event of the first
// one does not remove it.
func TestSameName(t *testing.T) {
	s := shown(nil)
	again := configMap("a", "")
	again.UID = "another"
	s.record(object.Event{Type: object.Added, Object: again})
	s.record(object.Event{Type: object.Deleted, Object: configMap("a", "")})
	if found := s.find(configMaps.GroupResource(), "shop", "a"); found == nil || found.UID != "another" {
		t.Errorf("there is %v", found)
	}
	if ref, gone := s.deletedRef(named("a").UID); !gone || ref.Name != "a" {
		t.Errorf("the first one: %v, gone %v", ref, gone)
	}
}

// A kind that is not served has no objects, and its late events are dropped.
func TestDropped(t *testing.T) {
	s := shown(map[string]string{"a": "5"})
	generation, changed := s.now()
	s.kind(kube.KindState{Resource: configMaps, State: kube.Dropped})
	select {
	case <-changed:
	default:
		t.Error("nobody is woken")
	}
	if after, _ := s.now(); after == generation {
		t.Error("it is no change")
	}
	unserved := &object.Object{Ref: object.Ref{APIVersion: "v1", Kind: "Nothing", Name: "x", UID: "x"}}
	s.record(object.Event{Type: object.Modified, Object: unserved})
	if all := s.all(everything); len(all) > 0 {
		t.Errorf("there are %v", all)
	}
	if list := s.list(schema.GroupResource{Resource: "configmaps"}, "", everything); len(list) > 0 {
		t.Errorf("there are %v", list)
	}
}
