package controllers_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim"
	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/release"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

var (
	podResource       = schema.GroupResource{Resource: "pods"}
	configMapResource = schema.GroupResource{Resource: "configmaps"}
	namespaceResource = schema.GroupResource{Resource: "namespaces"}
)

const terminating = "v1 Namespace s phase=Terminating spec=kubernetes deleting\n"

// TestNamespaceRequests: one deletecollection per resource, in its preferred version, with policy
// Background, by group and name, pods first.
func TestNamespaceRequests(t *testing.T) {
	w := &tapped{Server: server(t, terminating+`
v1 Secret s/a
v1 ConfigMap s/a
apps/v1 Deployment s/a
autoscaling/v1 HorizontalPodAutoscaler s/a
v1 Pod s/a node=
example.com/v1 Widget s/a`)}
	var sent []string
	w.collections = func(r object.Resource, o metav1.DeleteOptions) error {
		sent = append(sent, r.APIVersion()+" "+r.Name)
		background := metav1.DeletePropagationBackground
		if diff := cmp.Diff(metav1.DeleteOptions{PropagationPolicy: &background}, o); diff != "" {
			t.Errorf("%s (-want +got):\n%s", r.Name, diff)
		}
		return nil
	}
	if n := settle(t, controllers.NamespaceController(whole, release.Rules{}), w); n != 1 {
		t.Errorf("%d passes", n)
	}
	want := []string{
		"v1 pods", "v1 configmaps", "v1 secrets", "apps/v1 deployments",
		"autoscaling/v2 horizontalpodautoscalers", "example.com/v1 widgets",
	}
	if diff := cmp.Diff(want, sent); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	if left := remains(w.Server); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

// TestNamespaceLeft lists what keeps a namespace and what doesn't.
func TestNamespaceLeft(t *testing.T) {
	for _, test := range []struct {
		name     string
		world    string
		coverage controllers.Coverage
		goes     bool
		waits    []string
	}{
		{"empty", terminating, whole, true, nil},
		{"not being deleted", "v1 Namespace s phase=Terminating spec=kubernetes", whole, false, nil},
		{"no facts", "v1 Namespace s deleting\nv1 ConfigMap s/c", whole, true, nil},
		{"no facts, held", "v1 Namespace s deleting\nv1 ConfigMap s/c fin=x/y", whole, false,
			[]string{"namespace-controller: v1 Namespace s ContentRemains configmaps s/c fin=x/y"}},
		{"token twice", "v1 Namespace s phase=Terminating spec=kubernetes,kubernetes deleting", whole, true, nil},
		{"uncovered elsewhere", terminating, partly{"Secret": "t"}, true, nil},
		{"uncovered here", terminating, partly{"Secret": "s"}, false,
			[]string{"namespace-controller: v1 Namespace s NotCovered secrets: no list of it"}},
		{"pods uncovered, the rest goes", terminating + "v1 ConfigMap s/c", partly{"Pod": ""}, false,
			[]string{"namespace-controller: v1 Namespace s NotCovered pods: no list of it"}},
		{"uncovered and held", terminating + "v1 Secret s/x fin=x/y", partly{"Secret": "s"}, false, []string{
			"namespace-controller: v1 Namespace s ContentRemains secrets s/x fin=x/y",
			"namespace-controller: v1 Namespace s NotCovered secrets: no list of it",
		}},
		{"cluster-scoped kinds do not matter", terminating, partly{"Node": "", "Gadget": ""}, true, nil},
		{"kinds that cannot be deleted do not matter", terminating, partly{"Binding": ""}, true, nil},
		{"CRDs uncovered", terminating, partly{"CustomResourceDefinition": ""}, false,
			[]string{"namespace-controller: v1 Namespace s NotCovered customresourcedefinitions.apiextensions.k8s.io: no list of it"}},
		{"kind not served", terminating + "example.org/v9 Thing s/t fin=x/y\nexample.org/v9 Thing t/t uid=other", whole, false,
			[]string{"namespace-controller: v1 Namespace s NotServed s/t fin=x/y"}},
		{"kind that maps and is not served", terminating + "v1 PodList s/t", whole, false,
			[]string{"namespace-controller: v1 Namespace s NotServed s/t"}},
		{"two held", terminating + "v1 Secret s/b fin=x/y,x/a\nv1 Secret s/a fin=x/y", whole, false,
			[]string{"namespace-controller: v1 Namespace s ContentRemains secrets s/a s/b fin=x/a,x/y"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := server(t, test.world)
			n := controllers.NamespaceController(test.coverage, release.Rules{})
			settle(t, n, w)
			_, err := w.Get(t.Context(), object.Ref{APIVersion: "v1", Kind: "Namespace", Name: "s"})
			if gone := apierrors.IsNotFound(err); gone != test.goes {
				t.Errorf("gone %v, want %v", gone, test.goes)
			}
			if diff := cmp.Diff(append([]string{}, test.waits...), waits(n)); diff != "" {
				t.Errorf("waits (-want +got):\n%s", diff)
			}
			if _, err := w.Get(t.Context(), object.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: "s", Name: "c"}); err == nil && test.waits == nil {
				t.Error("the content is still there")
			}
		})
	}
}

// TestNamespaceWaitCounts: a finalizer is counted once per object.
func TestNamespaceWaitCounts(t *testing.T) {
	n := controllers.NamespaceController(whole, release.Rules{})
	settle(t, n, server(t, terminating+"v1 Secret s/b fin=x/y,x/a\nv1 Secret s/a fin=x/y\nv1 Secret s/c"))
	want := []controllers.FinalizerCount{{Name: "x/a", Objects: 1}, {Name: "x/y", Objects: 2}}
	if got := n.Waiting(); len(got) != 1 || cmp.Diff(want, got[0].Finalizers) != "" || len(got[0].Remaining) != 2 || got[0].Unknown() {
		t.Errorf("waits %+v", got)
	}
}

// TestNamespaceWithoutCollections: without deletecollection, objects are deleted one by one,
// whatever error the server returns. (S213)
func TestNamespaceWithoutCollections(t *testing.T) {
	for _, test := range []struct {
		name string
		err  error
	}{
		{"404", apierrors.NewNotFound(configMapResource, "")},
		{"405", apierrors.NewMethodNotSupported(configMapResource, "deletecollection")},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := &tapped{Server: server(t, terminating+"v1 ConfigMap s/a fin=orphan\nv1 ConfigMap s/b")}
			w.collections = func(object.Resource, metav1.DeleteOptions) error { return test.err }
			n := controllers.NamespaceController(whole, release.Rules{})
			if passes := settle(t, n, w); passes != 1 {
				t.Errorf("%d passes", passes)
			}
			if left := remains(w.Server); len(left) != 0 || len(n.Waiting()) != 0 {
				t.Errorf("left %v, waits %v", left, waits(n))
			}
		})
	}
}

// TestNamespaceOneByOne: an object that is gone or cannot be deleted doesn't stop the next one.
func TestNamespaceOneByOne(t *testing.T) {
	w := &tapped{Server: server(t, terminating+"v1 ConfigMap s/a\nv1 ConfigMap s/b\nv1 ConfigMap s/c")}
	w.collections = func(object.Resource, metav1.DeleteOptions) error {
		return apierrors.NewMethodNotSupported(configMapResource, "deletecollection")
	}
	w.deletes = func(ref object.Ref, _ metav1.DeleteOptions) error {
		return map[string]error{
			"a": apierrors.NewNotFound(configMapResource, "a"),
			"b": apierrors.NewMethodNotSupported(configMapResource, "delete"),
		}[ref.Name]
	}
	n := controllers.NamespaceController(whole, release.Rules{})
	settle(t, n, w)
	want := []string{"namespace-controller: v1 Namespace s ContentRemains configmaps s/a s/b"}
	if diff := cmp.Diff(want, waits(n)); diff != "" {
		t.Errorf("waits (-want +got):\n%s", diff)
	}
}

// TestNamespaceWithoutList: without the verb list, objects are neither deleted one by one nor
// counted.
func TestNamespaceWithoutList(t *testing.T) {
	for _, verbs := range []object.Verbs{object.Delete, object.Delete | object.DeleteCollection} {
		rs := scenario.Resources()
		rs.Add(object.Resource{Group: "example.com", Version: "v1", Name: "secretive", Kind: "Secretive", Namespaced: true, Verbs: verbs})
		objects, err := scenario.ParseWorld(terminating+"example.com/v1 Secretive s/x fin=x/y", scenario.Names{})
		if err != nil {
			t.Fatal(err)
		}
		w := apisim.New(objects, rs)
		settle(t, controllers.NamespaceController(whole, release.Rules{}), w)
		left := w.Objects()
		if len(left) != 1 || left[0].BeingDeleted() != verbs.Has(object.DeleteCollection) {
			t.Errorf("verbs %v: left %v", verbs.Names(), remains(w))
		}
	}
}

// TestNamespaceRefusals: each request can be refused; then no later one that depends on it is sent.
func TestNamespaceRefusals(t *testing.T) {
	no := apierrors.NewForbidden(namespaceResource, "s", errors.New("no"))
	for _, test := range []struct {
		name  string
		world string
		tap   func(*tapped)
		waits []string
		left  []string
	}{
		{"phase", "v1 Namespace s phase=Active spec=kubernetes deleting\nv1 ConfigMap s/c",
			func(w *tapped) { w.updates = func(*object.Object) error { return no } },
			[]string{`namespace-controller: v1 Namespace s Refused: namespaces "s" is forbidden: no`},
			[]string{"v1 ConfigMap s/c", "v1 Namespace s"}},
		{"finalize", "v1 Namespace s phase=Terminating spec=kubernetes,x.io/a deleting",
			func(w *tapped) { w.finalizes = func(*object.Object) error { return no } },
			[]string{`namespace-controller: v1 Namespace s Refused: namespaces "s" is forbidden: no`},
			[]string{"v1 Namespace s"}},
		{"one by one", terminating + "v1 ConfigMap s/a\nv1 ConfigMap s/b",
			func(w *tapped) {
				w.collections = func(object.Resource, metav1.DeleteOptions) error {
					return apierrors.NewMethodNotSupported(configMapResource, "deletecollection")
				}
				w.deletes = func(object.Ref, metav1.DeleteOptions) error { return no }
			},
			[]string{`namespace-controller: v1 Namespace s Refused configmaps s/a s/b: namespaces "s" is forbidden: no`},
			[]string{"v1 ConfigMap s/a", "v1 ConfigMap s/b", "v1 Namespace s"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := &tapped{Server: server(t, test.world)}
			test.tap(w)
			n := controllers.NamespaceController(whole, release.Rules{})
			settle(t, n, w)
			if diff := cmp.Diff(test.waits, waits(n)); diff != "" {
				t.Errorf("waits (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.left, remains(w.Server)); diff != "" {
				t.Errorf("left (-want +got):\n%s", diff)
			}
		})
	}
}
