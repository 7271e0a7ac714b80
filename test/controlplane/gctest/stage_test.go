// Package gctest tries the garbage collector for tests on a real API server, as a test of an
// operator would use it.
package gctest

import (
	"context"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/gctest"
	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

// plane is the API server of all tests. It has no controllers.
var plane *cluster.Cluster

func TestMain(m *testing.M) { os.Exit(cluster.Main(m, &plane)) }

var separators = regexp.MustCompile(`[^a-z0-9]+`)

// stage is a namespace of one test, with clients as a test has them.
type stage struct {
	*testing.T
	config    *rest.Config
	client    kubernetes.Interface
	dynamic   dynamic.Interface
	namespace string
}

// enter makes the namespace of a test.
func enter(t *testing.T) *stage {
	t.Helper()
	config, err := plane.Flags().ToRESTConfig()
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	s := &stage{T: t, config: config, client: kubernetes.NewForConfigOrDie(config), dynamic: dynamic.NewForConfigOrDie(config)}
	name := strings.Trim(separators.ReplaceAllString(strings.ToLower(t.Name()), "-"), "-")
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: name + "-"}}
	if ns, err = s.client.CoreV1().Namespaces().Create(t.Context(), ns, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	s.namespace = ns.Name
	return s
}

// settled has a collector come to an end.
func (s *stage) settled(gc *gctest.GC) {
	s.Helper()
	if err := gc.WaitSettled(s.Context()); err != nil {
		s.Fatal(err)
	}
}

// configMap makes a config map.
func (s *stage) configMap(name string, finalizers []string, owners ...metav1.OwnerReference) *corev1.ConfigMap {
	s.Helper()
	o, err := s.client.CoreV1().ConfigMaps(s.namespace).Create(s.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: name, Finalizers: finalizers, OwnerReferences: owners},
	}, metav1.CreateOptions{})
	if err != nil {
		s.Fatal(err)
	}
	return o
}

// owned is a reference to a config map.
func owned(by *corev1.ConfigMap) metav1.OwnerReference {
	yes := true
	return metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: by.Name, UID: by.UID, BlockOwnerDeletion: &yes}
}

// remove deletes a config map with a policy.
func (s *stage) remove(name string, policy metav1.DeletionPropagation) {
	s.Helper()
	err := s.client.CoreV1().ConfigMaps(s.namespace).Delete(s.Context(), name, metav1.DeleteOptions{PropagationPolicy: &policy})
	if err != nil {
		s.Fatal(err)
	}
}

// names are the config maps that are there.
func (s *stage) names() string {
	s.Helper()
	list, err := s.client.CoreV1().ConfigMaps(s.namespace).List(s.Context(), metav1.ListOptions{})
	if err != nil {
		s.Fatal(err)
	}
	var names []string
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	return strings.Join(names, " ")
}

// are makes sure that these config maps are there, and no others.
func (s *stage) are(want string) {
	s.Helper()
	if got := s.names(); got != want {
		s.Errorf("there are %q, want %q", got, want)
	}
}

// release takes the finalizers off a config map.
func (s *stage) release(name string) {
	s.Helper()
	_, err := s.client.CoreV1().ConfigMaps(s.namespace).Patch(s.Context(), name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
	if err != nil {
		s.Fatal(err)
	}
}

var definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// define installs a definition as envtest does: it is established when this returns.
func (s *stage) define(group string, spec map[string]any) schema.GroupVersionResource {
	s.Helper()
	full := map[string]any{
		"group": group, "scope": "Namespaced",
		"names": map[string]any{"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
		"versions": []any{map[string]any{"name": "v1", "served": true, "storage": true,
			"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}},
	}
	for k, v := range spec {
		full[k] = v
	}
	_, err := s.dynamic.Resource(definitions).Create(s.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "widgets." + group}, "spec": full,
	}}, metav1.CreateOptions{})
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(sync.OnceFunc(func() {
		_ = s.dynamic.Resource(definitions).Delete(context.Background(), "widgets."+group, metav1.DeleteOptions{})
	}))
	cluster.Until(s, "the definition is established", func() bool {
		o, err := s.dynamic.Resource(definitions).Get(s.Context(), "widgets."+group, metav1.GetOptions{})
		if err != nil {
			return false
		}
		conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
		for _, c := range conditions {
			if c, _ := c.(map[string]any); c["type"] == "Established" && c["status"] == "True" {
				return true
			}
		}
		return false
	})
	return schema.GroupVersionResource{Group: group, Version: "v1", Resource: "widgets"}
}

// widget makes an instance of a definition.
func (s *stage) widget(r schema.GroupVersionResource, name string, owners ...any) *unstructured.Unstructured {
	s.Helper()
	var made *unstructured.Unstructured
	cluster.Until(s, "an instance is made", func() bool {
		meta := map[string]any{"name": name}
		if len(owners) > 0 {
			meta["ownerReferences"] = owners
		}
		o, err := s.dynamic.Resource(r).Namespace(s.namespace).Create(s.Context(), &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": r.GroupVersion().String(), "kind": "Widget", "metadata": meta,
		}}, metav1.CreateOptions{})
		made = o
		return err == nil
	})
	return made
}
