package apisim

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

func ref(apiVersion, kind, namespace, name string) object.Ref {
	return object.Ref{APIVersion: apiVersion, Kind: kind, Namespace: namespace, Name: name}
}

func thing(r object.Ref, rv string) *object.Object {
	return &object.Object{Ref: r, ResourceVersion: rv}
}

func TestGetSharesWhatIsStored(t *testing.T) {
	preferred := thing(ref("example.com/v2", "Widget", "n", "a"), "1")
	other := thing(ref("example.com/v1", "Widget", "n", "b"), "2")
	s := New([]*object.Object{preferred, other}, testResources())

	got, err := s.Get(t.Context(), preferred.Ref)
	if err != nil || got != preferred {
		t.Errorf("got %v, %v; want the given object itself", got, err)
	}
	for _, version := range []string{"example.com/v1", "example.com/v2"} {
		got, err := s.Get(t.Context(), ref(version, "Widget", "n", "b"))
		if err != nil || got.APIVersion != version {
			t.Errorf("got %v, %v; want the object in %s", got, err, version)
		}
	}
	if other.APIVersion != "example.com/v1" {
		t.Error("the given object was changed")
	}
	for o := range s.List {
		if o.APIVersion != "example.com/v2" {
			t.Errorf("%s is not listed in the preferred version", o.Ref)
		}
	}
}

// Pods that share a Lifecycle share one when they are being deleted, too; others have their own.
func TestSiblingsShareTheirEnd(t *testing.T) {
	life, other := &object.Lifecycle{Facts: &object.PodFacts{NodeName: "n1"}}, &object.Lifecycle{Facts: &object.PodFacts{NodeName: "n2"}}
	var pods []*object.Object
	for _, p := range []struct {
		name string
		life *object.Lifecycle
	}{{"a", life}, {"b", other}, {"c", life}, {"d", life}, {"e", life}} {
		o := thing(ref("v1", "Pod", "n", p.name), "1")
		o.Lifecycle = p.life
		pods = append(pods, o)
	}
	s := New(pods, testResources())
	after := map[string]*object.Object{}
	for _, p := range []struct {
		name    string
		options metav1.DeleteOptions
	}{
		{"a", metav1.DeleteOptions{}},
		{"b", metav1.DeleteOptions{}},
		{"c", metav1.DeleteOptions{}},
		{"d", metav1.DeleteOptions{GracePeriodSeconds: new(int64(5))}},
		{"e", policy(metav1.DeletePropagationForeground)},
	} {
		at := ref("v1", "Pod", "n", p.name)
		if err := s.Delete(t.Context(), at, p.options); err != nil {
			t.Fatal(err)
		}
		after[p.name], _ = s.Get(t.Context(), at)
	}
	if after["a"].Lifecycle != after["c"].Lifecycle {
		t.Error("siblings do not share")
	}
	for name, want := range map[string]object.Lifecycle{
		"a": {DeletionTimestamp: s.Now() + 30, GracePeriod: new(int64(30)), Facts: life.Facts},
		"b": {DeletionTimestamp: s.Now() + 30, GracePeriod: new(int64(30)), Facts: other.Facts},
		"d": {DeletionTimestamp: s.Now() + 5, GracePeriod: new(int64(5)), Facts: life.Facts},
		"e": {DeletionTimestamp: s.Now() + 30, GracePeriod: new(int64(30)), Facts: life.Facts, Finalizers: []string{object.Foreground}},
	} {
		if diff := cmp.Diff(want, *after[name].Lifecycle); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if life.DeletionTimestamp != 0 {
		t.Error("the given Lifecycle was changed")
	}
}

func TestWatchShowsThePreferredVersion(t *testing.T) {
	s := New([]*object.Object{thing(ref("example.com/v1", "Widget", "n", "a"), "1")}, testResources())
	if err := s.Delete(t.Context(), ref("example.com/v1", "Widget", "n", "a"), policy(metav1.DeletePropagationForeground)); err != nil {
		t.Fatal(err)
	}
	events := s.Events()
	if len(events) != 1 || events[0].Object.APIVersion != "example.com/v2" || events[0].Old.APIVersion != "example.com/v2" {
		t.Errorf("got %+v", events)
	}
	if again := s.Events(); len(again) != 0 {
		t.Errorf("events were handed over twice: %+v", again)
	}
}

// An object of a kind that is not served stays in the list, so that it doesn't appear to be absent,
// but no request reaches it.
func TestUnservedObjects(t *testing.T) {
	objects := []*object.Object{
		thing(ref("gone.com/v1", "Thing", "n", "a"), "1"),
		thing(ref("gone.com/v2", "Thing", "n", "a"), "1"),
		thing(ref("v1", "ConfigMap", "n", "a"), "1"),
	}
	s := New(objects, testResources())
	if got := s.Objects(); len(got) != 3 {
		t.Errorf("got %d objects, want 3", len(got))
	}
	var unknown *object.UnknownKindError
	if _, err := s.Get(t.Context(), objects[0].Ref); !errors.As(err, &unknown) {
		t.Errorf("got %v, want an UnknownKindError", err)
	}
	if err := s.Delete(t.Context(), objects[0].Ref, metav1.DeleteOptions{}); !errors.As(err, &unknown) {
		t.Errorf("got %v, want an UnknownKindError", err)
	}
}

func TestObjectsAreSorted(t *testing.T) {
	var objects []*object.Object
	for _, r := range []object.Ref{
		ref("example.com/v2", "Widget", "a", "a"), ref("v1", "Pod", "a", "a"), ref("v1", "ConfigMap", "b", "a"),
		ref("v1", "ConfigMap", "a", "b"), ref("v1", "ConfigMap", "a", "a"),
		ref("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "z"),
	} {
		objects = append(objects, thing(r, "1"))
	}
	var got []string
	for o := range New(objects, testResources()).List {
		got = append(got, o.Ref.String())
	}
	want := []string{
		"v1 ConfigMap a/a", "v1 ConfigMap a/b", "v1 ConfigMap b/a", "v1 Pod a/a",
		"apiextensions.k8s.io/v1 CustomResourceDefinition z", "example.com/v2 Widget a/a",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// The clock starts after every timestamp of the world and revisions continue from the highest, so
// that no new event looks older than an existing object.
func TestStartOfClockAndRevisions(t *testing.T) {
	late := thing(ref("v1", "ConfigMap", "n", "a"), "41")
	late.Created = epoch + 5
	odd := thing(ref("v1", "ConfigMap", "n", "b"), "99999999999999999999")
	s := New([]*object.Object{late, odd}, testResources())
	if got := s.Now(); got != epoch+6 {
		t.Errorf("the clock shows %d, want %d", got, epoch+6)
	}
	if err := s.Delete(t.Context(), odd.Ref, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := s.Events()[0].Object.ResourceVersion; got != "42" {
		t.Errorf("the first write has resourceVersion %s, want 42", got)
	}
	s.Advance(-10)
	if got := s.Now(); got != epoch+6 {
		t.Errorf("the clock went back to %d", got)
	}
	if got := New(nil, testResources(), WithClock(7)).Now(); got != 7 {
		t.Errorf("the clock shows %d, want 7", got)
	}
}

func TestCreateMakesUpUIDs(t *testing.T) {
	o := thing(ref("v1", "ConfigMap", "n", "a"), "")
	o.UID = "mine"
	for _, tt := range []struct {
		options []Option
		want    string
	}{{nil, "uid-000001"}, {[]Option{WithGivenUIDs()}, "mine"}} {
		created, err := New(nil, testResources(), tt.options...).Create(t.Context(), o)
		if err != nil || string(created.UID) != tt.want || created.Created != epoch {
			t.Errorf("got %+v, %v; want UID %s", created, err, tt.want)
		}
	}
}

func TestTerminatingNamespaceCause(t *testing.T) {
	resources := testResources()
	resources.Add(object.Resource{Version: "v1", Name: "namespaces", Kind: "Namespace", Verbs: object.AllVerbs})
	ns := thing(ref("v1", "Namespace", "", "n"), "1")
	s := New([]*object.Object{ns}, resources)
	if err := s.Delete(t.Context(), ns.Ref, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	_, err := s.Create(t.Context(), thing(ref("v1", "ConfigMap", "n", "a"), ""))
	if !apierrors.HasStatusCause(err, "NamespaceTerminating") || !apierrors.IsForbidden(err) {
		t.Errorf("got %v", err)
	}
}

// Clients recognise errors by code and reason.
func TestAnswers(t *testing.T) {
	s := New([]*object.Object{thing(ref("example.com/v2", "Widget", "n", "a"), "1")}, testResources())
	_, notFound := s.Get(t.Context(), ref("v1", "ConfigMap", "n", "a"))
	_, noPath := s.Get(t.Context(), ref("v1", "PodList", "n", "a"))
	media := s.Patch(t.Context(), ref("example.com/v2", "Widget", "n", "a"), object.Patch{})
	stale := s.Patch(t.Context(), ref("example.com/v2", "Widget", "n", "a"), object.Patch{Type: object.Merge, ResourceVersion: "2"})
	wrong := s.Patch(t.Context(), ref("example.com/v2", "Widget", "n", "a"), object.Patch{Type: object.Merge, UID: "2"})
	for name, ok := range map[string]bool{
		"absent": apierrors.IsNotFound(notFound), "path": apierrors.IsNotFound(noPath), "media": apierrors.IsUnsupportedMediaType(media),
		"stale": apierrors.IsConflict(stale), "wrong": apierrors.IsInvalid(wrong),
	} {
		if !ok {
			t.Errorf("%s: not recognised", name)
		}
	}
	want := apierrors.NewNotFound(object.Pod.GroupResource(), `odd"name`)
	if diff := cmp.Diff(want, notFoundFor(`odd"name`)); diff != "" {
		t.Errorf("NotFound is not what apimachinery makes of it (-want +got):\n%s", diff)
	}
}

func notFoundFor(name string) error { return notFound(object.Pod.GroupResource(), name) }

func TestCancelledContext(t *testing.T) {
	s := New([]*object.Object{thing(ref("v1", "ConfigMap", "n", "a"), "1")}, testResources())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := ref("v1", "ConfigMap", "n", "a")
	_, get := s.Get(ctx, r)
	_, create := s.Create(ctx, thing(r, ""))
	_, update := s.Update(ctx, thing(r, ""))
	for name, err := range map[string]error{
		"get": get, "create": create, "update": update,
		"delete": s.Delete(ctx, r, metav1.DeleteOptions{}), "patch": s.Patch(ctx, r, object.Patch{}),
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if s.Writes() != 0 {
		t.Error("a cancelled request was carried out")
	}
}

// Concurrent clients: each object is deleted by one of them, the others get NotFound, and the watch
// shows one order.
func TestConcurrentClients(t *testing.T) {
	var objects []*object.Object
	for i := range 200 {
		objects = append(objects, thing(ref("v1", "ConfigMap", "n", fmt.Sprint(i)), fmt.Sprint(i+1)))
	}
	s := New(objects, testResources())
	var deleted atomic.Int64
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			for _, o := range objects {
				switch err := s.Delete(t.Context(), o.Ref, metav1.DeleteOptions{}); {
				case err == nil:
					deleted.Add(1)
				case !apierrors.IsNotFound(err):
					t.Error(err)
				}
			}
		})
	}
	clients.Wait()
	if deleted.Load() != 200 || len(s.Objects()) != 0 {
		t.Errorf("%d deletes succeeded and %d objects are left", deleted.Load(), len(s.Objects()))
	}
	for i, e := range s.Events() {
		if got, want := e.Object.ResourceVersion, fmt.Sprint(201+i); got != want {
			t.Fatalf("event %d has resourceVersion %s, want %s", i, got, want)
		}
	}
}
