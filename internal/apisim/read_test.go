package apisim_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

const listed = `
v1 ConfigMap b/x uid=1
v1 ConfigMap a/z uid=2
v1 ConfigMap a/y uid=3 fin=x/y
v1 Secret a/y uid=4
v1 Node y uid=5
autoscaling/v1 HorizontalPodAutoscaler a/h uid=6`

func listServer(t *testing.T, opts ...apisim.Option) *apisim.Server {
	t.Helper()
	objects, err := scenario.ParseWorld(listed, scenario.Names{})
	if err != nil {
		t.Fatal(err)
	}
	return apisim.New(objects, scenario.Resources(), opts...)
}

func uids(objects []*object.Object) string {
	text := ""
	for _, o := range objects {
		text += string(o.UID)
	}
	return text
}

// TestObjectsOf lists one resource, in one or all namespaces.
func TestObjectsOf(t *testing.T) {
	s := listServer(t)
	held := func(o *object.Object) bool { return len(o.Finalizers()) > 0 }
	maps := schema.GroupResource{Resource: "configmaps"}
	got := []string{
		uids(s.ObjectsOf(maps, "")), uids(s.ObjectsOf(maps, "a")), uids(s.ObjectsOf(maps, "none")),
		uids(s.ObjectsOf(schema.GroupResource{Resource: "nodes"}, "")),
		uids(s.ObjectsOf(schema.GroupResource{Resource: "pods"}, "")),
		uids(s.Select(maps, "", held)), uids(s.Select(maps, "b", held)),
	}
	if diff := cmp.Diff([]string{"321", "32", "", "5", "", "3", ""}, got); diff != "" {
		t.Errorf("uids (-want +got):\n%s", diff)
	}
	scalers := s.ObjectsOf(schema.GroupResource{Group: "autoscaling", Resource: "horizontalpodautoscalers"}, "")
	if len(scalers) != 1 || scalers[0].APIVersion != "autoscaling/v2" {
		t.Errorf("not in the preferred version: %v", scalers)
	}
}

type onlyNodes struct{}

func (onlyNodes) Covers(r object.Resource, _ string) bool { return r.Kind == "Node" }
func (onlyNodes) Why(object.Resource, string) string      { return "the reason" }

// TestCovers: a server without coverage is complete.
func TestCovers(t *testing.T) {
	node, pod := object.Resource{Kind: "Node"}, object.Resource{Kind: "Pod"}
	whole, part := listServer(t), listServer(t, apisim.WithCoverage(onlyNodes{}))
	got := []bool{whole.Covers(node, ""), whole.Covers(pod, ""), part.Covers(node, ""), part.Covers(pod, "")}
	if !slices.Equal(got, []bool{true, true, true, false}) || whole.Why(pod, "") != "" || part.Why(pod, "") != "the reason" {
		t.Errorf("covers %v, why %q and %q", got, whole.Why(pod, ""), part.Why(pod, ""))
	}
}

// TestDeleteStored: admission is skipped for this request only.
func TestDeleteStored(t *testing.T) {
	no := apierrors.NewUnauthorized("no")
	s := listServer(t, apisim.WithAdmission(func(object.Verbs, object.Ref) error { return no }))
	maps := schema.GroupResource{Resource: "configmaps"}
	if err := s.DeleteStored(t.Context(), maps, "a"); err != nil {
		t.Fatal(err)
	}
	left := s.ObjectsOf(maps, "")
	if uids(left) != "31" || !left[0].BeingDeleted() {
		t.Errorf("left %s", uids(left))
	}
	if err := s.Delete(t.Context(), left[1].Ref, metav1.DeleteOptions{}); !apierrors.IsUnauthorized(err) {
		t.Errorf("the admission is gone: %v", err)
	}
	if err := s.DeleteStored(t.Context(), schema.GroupResource{Resource: "nothings"}, ""); !apierrors.IsNotFound(err) {
		t.Errorf("an unknown resource: %v", err)
	}
}
