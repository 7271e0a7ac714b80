package apisim

import (
	"fmt"
	"maps"
	"strconv"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

func testResources() *object.Resources {
	rs := &object.Resources{}
	for _, r := range []object.Resource{
		{Version: "v1", Name: "configmaps", Kind: "ConfigMap", Namespaced: true},
		{Version: "v1", Name: "pods", Kind: "Pod", Namespaced: true},
		{Version: "v1", Name: "replicationcontrollers", Kind: "ReplicationController", Namespaced: true},
		{Group: "apiextensions.k8s.io", Version: "v1", Name: "customresourcedefinitions", Kind: "CustomResourceDefinition"},
		{Group: "example.com", Version: "v2", Name: "widgets", Kind: "Widget", Namespaced: true, Custom: true},
		{Group: "example.com", Version: "v1", Name: "widgets", Kind: "Widget", Namespaced: true, Custom: true},
	} {
		r.Verbs = object.AllVerbs
		rs.Add(r)
	}
	return rs
}

var (
	someRef = rapid.Custom(func(t *rapid.T) object.Ref {
		ref := rapid.SampledFrom([]object.Ref{
			{APIVersion: "v1", Kind: "ConfigMap", Namespace: "n"},
			{APIVersion: "v1", Kind: "Pod", Namespace: "n"},
			{APIVersion: "v1", Kind: "ReplicationController", Namespace: "n"},
			{APIVersion: "example.com/v1", Kind: "Widget", Namespace: "n"},
			{APIVersion: "example.com/v2", Kind: "Widget", Namespace: "n"},
			{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"},
		}).Draw(t, "kind")
		ref.Name = rapid.SampledFrom([]string{"a", "b"}).Draw(t, "name")
		return ref
	})
	someFinalizers = rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"x/y", "z/w", object.Orphan, object.Foreground}), 0, 3, rapid.ID)
	somePod        = rapid.SampledFrom([]*object.PodFacts{nil, {}, {NodeName: "n1", Phase: "Running"}, {NodeName: "n1", Phase: "Failed"}})
	someOptions    = rapid.Custom(func(t *rapid.T) metav1.DeleteOptions {
		var o metav1.DeleteOptions
		if p := rapid.SampledFrom([]metav1.DeletionPropagation{"", "Orphan", "Foreground", "Background"}).Draw(t, "policy"); p != "" {
			o.PropagationPolicy = &p
		}
		if g := rapid.Int64Range(-2, 40).Draw(t, "grace"); g > -2 {
			o.GracePeriodSeconds = &g
		}
		if rapid.IntRange(0, 9).Draw(t, "dry") == 0 {
			o.DryRun = []string{metav1.DryRunAll}
		}
		return o
	})
)

// model checks the invariants of a server after every request.
type model struct {
	server  *Server
	last    uint64
	writes  uint64
	version map[types.UID]*object.Object
}

func newModel(t *rapid.T) *model {
	m := &model{version: map[types.UID]*object.Object{}}
	var objects []*object.Object
	for i, ref := range rapid.SliceOfNDistinct(someRef, 0, 6, func(r object.Ref) string { return r.Kind + r.Name }).Draw(t, "world") {
		ref.UID = types.UID("given-" + strconv.Itoa(i))
		o := &object.Object{Ref: ref, ResourceVersion: strconv.Itoa(i + 1), Generation: int64(i % 2)}
		life := o.Edit()
		life.Finalizers = someFinalizers.Draw(t, "finalizers")
		if ref.Kind == "Pod" {
			if pod := somePod.Draw(t, "pod"); pod != nil {
				life.Facts = pod
			}
		}
		objects = append(objects, o)
	}
	m.server = New(objects, testResources())
	for _, o := range m.server.Objects() {
		m.version[o.UID] = o
		m.last = max(m.last, revisionOf(o))
	}
	return m
}

// check consumes the events since the last request.
func (m *model) check(t *rapid.T) {
	for _, e := range m.server.Events() {
		o := e.Object
		rv := revisionOf(o)
		if rv <= m.last {
			t.Fatalf("%s %s: resourceVersion %d is not above %d", e.Type, o.Ref, rv, m.last)
		}
		m.last = rv
		m.writes++
		before := m.version[o.UID]
		if (before == nil) != (e.Type == object.Added) {
			t.Fatalf("%s %s, which was %v before", e.Type, o.Ref, before)
		}
		if before != nil && before.BeingDeleted() && !o.BeingDeleted() {
			t.Fatalf("%s %s is no longer being deleted", e.Type, o.Ref)
		}
		if e.Type == object.Modified && e.Old != before {
			t.Fatalf("%s %s: the event shows another object as the old one", e.Type, o.Ref)
		}
		m.version[o.UID] = o
		if e.Type == object.Deleted {
			delete(m.version, o.UID)
		}
	}
	if got := m.server.Writes(); got != m.writes {
		t.Fatalf("%d writes, but %d events", got, m.writes)
	}
	objects := m.server.Objects()
	if len(objects) != len(m.version) {
		t.Fatalf("%d objects are stored, %d according to the events", len(objects), len(m.version))
	}
	for _, o := range objects {
		if m.version[o.UID] != o {
			t.Fatalf("%s is not what the events say", o.Ref)
		}
		if o.BeingDeleted() && len(o.Finalizers()) == 0 && (o.GracePeriod() == nil || *o.GracePeriod() == 0) {
			t.Fatalf("%s is being deleted, but nothing holds it", o.Ref)
		}
	}
}

func (m *model) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"": m.check,
		"delete": func(t *rapid.T) {
			_ = m.server.Delete(t.Context(), someRef.Draw(t, "ref"), someOptions.Draw(t, "options"))
		},
		"collection": func(t *rapid.T) {
			r, err := m.server.Resource("example.com/v1", "Widget")
			if err != nil {
				t.Fatal(err)
			}
			_ = m.server.DeleteCollection(t.Context(), r, "", nil, someOptions.Draw(t, "options"))
		},
		"patch": func(t *rapid.T) {
			finalizers := someFinalizers.Draw(t, "finalizers")
			p := object.Patch{Type: object.Merge, Finalizers: &finalizers, Labels: map[string]string{"a": rapid.SampledFrom([]string{"b", "c"}).Draw(t, "label")}}
			_ = m.server.Patch(t.Context(), someRef.Draw(t, "ref"), p)
		},
		"update": func(t *rapid.T) {
			o := &object.Object{Ref: someRef.Draw(t, "ref")}
			o.Edit().Finalizers = someFinalizers.Draw(t, "finalizers")
			_, _ = m.server.Update(t.Context(), o)
		},
		"create": func(t *rapid.T) {
			o := &object.Object{Ref: someRef.Draw(t, "ref")}
			o.Edit().Finalizers = someFinalizers.Draw(t, "finalizers")
			_, _ = m.server.Create(t.Context(), o)
		},
		"tick": func(t *rapid.T) { m.server.Advance(rapid.Int64Range(0, 20).Draw(t, "seconds")) },
		"nothing": func(t *rapid.T) {
			before := m.server.Writes()
			_ = m.server.Patch(t.Context(), someRef.Draw(t, "ref"), object.Patch{Type: object.Merge})
			if m.server.Writes() != before {
				t.Fatal("an empty patch was written")
			}
		},
		"clone": func(t *rapid.T) {
			before := fmt.Sprintf("%+v", m.server.Objects())
			other := &model{server: m.server.Clone(), last: m.last, writes: m.writes, version: maps.Clone(m.version)}
			for range 3 {
				ref := someRef.Draw(t, "ref")
				_ = other.server.Delete(t.Context(), ref, metav1.DeleteOptions{})
				_, _ = other.server.Create(t.Context(), &object.Object{Ref: ref})
				other.check(t)
			}
			if after := fmt.Sprintf("%+v", m.server.Objects()); after != before {
				t.Fatalf("a clone's requests changed the original:\n%s\n%s", before, after)
			}
		},
	}
}

// Invariants of a server under any requests: resourceVersions only increase, the stored objects
// match the events, a deletion is never reverted, an object without obstacles is deleted, and a
// request without a change writes nothing.
func TestServerProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newModel(t)
		t.Repeat(m.actions())
	})
}

// A server never changes the objects that it was given, nor those that it returns.
func TestObjectsAreNeverChanged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newModel(t)
		type copied struct {
			now  *object.Object
			then object.Object
			life object.Lifecycle
		}
		var all []copied
		for _, o := range m.server.Objects() {
			all = append(all, copied{o, *o, *o.Lifecycle})
		}
		actions := m.actions()
		actions["events"] = func(*rapid.T) {
			for _, o := range m.server.Objects() {
				all = append(all, copied{now: o, then: *o})
			}
		}
		t.Repeat(actions)
		for _, c := range all {
			if !object.Equal(c.now, &c.then) || c.life.Finalizers != nil && fmt.Sprint(c.life.Finalizers) != fmt.Sprint(c.now.Finalizers()) {
				t.Fatalf("%s was changed from %+v to %+v", c.now.Ref, c.then, *c.now)
			}
		}
	})
}
