// Package author has the tests that the author of an operator writes first. The script next to it
// runs them with each release of controller-runtime that gctest works with.
package author

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/kubectl-gc/kubectl-gc/gctest"
)

var (
	cfg *rest.Config
	c   client.Client
)

func TestMain(m *testing.M) {
	if err := apiextensionsv1.AddToScheme(scheme.Scheme); err != nil {
		panic(err)
	}
	env := &envtest.Environment{}
	var err error
	if cfg, err = env.Start(); err == nil {
		c, err = client.New(cfg, client.Options{Scheme: scheme.Scheme})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = env.Stop()
	os.Exit(code)
}

func create[T client.Object](t *testing.T, o T) T {
	t.Helper()
	if err := c.Create(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	return o
}

func remove(t *testing.T, o client.Object, options ...client.DeleteOption) {
	t.Helper()
	if err := c.Delete(t.Context(), o, options...); err != nil {
		t.Fatal(err)
	}
}

func namespace(t *testing.T) string {
	t.Helper()
	return create(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "author-"}}).Name
}

func configMap(t *testing.T, ns, name string, owners ...client.Object) *corev1.ConfigMap {
	t.Helper()
	o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}}
	for _, owner := range owners {
		if err := controllerutil.SetOwnerReference(owner, o, scheme.Scheme, controllerutil.WithBlockOwnerDeletion(true)); err != nil {
			t.Fatal(err)
		}
	}
	return create(t, o)
}

func settle(t *testing.T, gc *gctest.GC) {
	t.Helper()
	if err := gc.WaitSettled(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func gone(t *testing.T, gc *gctest.GC, objects ...gctest.Object) {
	t.Helper()
	if err := gc.WaitGone(t.Context(), objects...); err != nil {
		t.Fatal(err)
	}
}

func stays(t *testing.T, gc *gctest.GC, objects ...client.Object) {
	t.Helper()
	settle(t, gc)
	for _, o := range objects {
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
			t.Errorf("%v\n%s", err, gc.Explain(o))
		}
	}
}

func says(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("nothing says %q:\n%s", part, text)
		}
	}
}

// free removes the finalizers of an object.
func free(t *testing.T, o client.Object) {
	t.Helper()
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
		t.Fatal(err)
	}
	o.SetFinalizers(nil)
	if err := c.Update(t.Context(), o); err != nil {
		t.Fatal(err)
	}
}

func TestBackground(t *testing.T) {
	gc := gctest.Start(t, cfg)
	owner := configMap(t, namespace(t), "owner")
	dependent := configMap(t, owner.Namespace, "dependent", owner)
	remove(t, owner)
	settle(t, gc)
	gone(t, gc, owner, dependent)
}

func TestForeground(t *testing.T) {
	gc := gctest.Start(t, cfg)
	owner := configMap(t, namespace(t), "owner")
	dependent := configMap(t, owner.Namespace, "dependent", owner)
	remove(t, owner, client.PropagationPolicy(metav1.DeletePropagationForeground))
	gone(t, gc, owner, dependent)
}

func TestOrphan(t *testing.T) {
	gc := gctest.Start(t, cfg)
	owner := configMap(t, namespace(t), "owner")
	dependent := configMap(t, owner.Namespace, "dependent", owner)
	remove(t, owner, client.PropagationPolicy(metav1.DeletePropagationOrphan))
	gone(t, gc, owner)
	stays(t, gc, dependent)
	if len(dependent.OwnerReferences) > 0 {
		t.Errorf("it has owners: %v", dependent.OwnerReferences)
	}
}

func TestTwoOwners(t *testing.T) {
	gc := gctest.Start(t, cfg)
	first := configMap(t, namespace(t), "first")
	second := configMap(t, first.Namespace, "second")
	dependent := configMap(t, first.Namespace, "dependent", first, second)
	remove(t, first)
	gone(t, gc, first)
	stays(t, gc, dependent)
	remove(t, second)
	gone(t, gc, dependent)
}

func TestFinalizer(t *testing.T) {
	gc := gctest.Start(t, cfg)
	owner := configMap(t, namespace(t), "owner")
	dependent := configMap(t, owner.Namespace, "dependent", owner)
	dependent.Finalizers = []string{"example.com/cleanup"}
	if err := c.Update(t.Context(), dependent); err != nil {
		t.Fatal(err)
	}
	remove(t, owner, client.PropagationPolicy(metav1.DeletePropagationForeground))
	stays(t, gc, owner, dependent)
	says(t, gc.Explain(owner), "waits for its dependents", "example.com/cleanup")
	free(t, dependent)
	gone(t, gc, owner, dependent)
}

func TestNamespace(t *testing.T) {
	gc := gctest.Start(t, cfg)
	content := configMap(t, namespace(t), "content")
	content.Finalizers = []string{"example.com/cleanup"}
	if err := c.Update(t.Context(), content); err != nil {
		t.Fatal(err)
	}
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: content.Namespace}}
	remove(t, ns)
	stays(t, gc, ns, content)
	free(t, content)
	gone(t, gc, ns, content)
}

func TestCRDWithHeldInstance(t *testing.T) {
	gc := gctest.Start(t, cfg)
	preserve := true
	crd := create(t, &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "widgets.author.example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "author.example.com", Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: "Widget", ListKind: "WidgetList", Plural: "widgets", Singular: "widget"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Storage: true, Schema: &apiextensionsv1.CustomResourceValidation{
				OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &preserve},
			}}},
		},
	})
	settle(t, gc)
	widget := &unstructured.Unstructured{}
	widget.SetAPIVersion("author.example.com/v1")
	widget.SetKind("Widget")
	widget.SetNamespace(namespace(t))
	widget.SetName("held")
	widget.SetFinalizers([]string{"example.com/cleanup"})
	create(t, widget)
	remove(t, crd)
	stays(t, gc, crd)
	says(t, gc.Explain(widget), "example.com/cleanup")
	free(t, widget)
	gone(t, gc, crd)
}

func TestClaimProtection(t *testing.T) {
	gc := gctest.Start(t, cfg, gctest.WithClaimProtection(), gctest.WithPods(gctest.Never))
	ns := namespace(t)
	claim := create(t, &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "data"}, Spec: corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
	}})
	user := pod(ns, "user", 30)
	user.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}
	create(t, user)
	remove(t, claim)
	stays(t, gc, claim)
	remove(t, user, client.GracePeriodSeconds(0))
	gone(t, gc, claim)
}

func pod(ns, name string, grace int64) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}, Spec: corev1.PodSpec{
		NodeName: "none", TerminationGracePeriodSeconds: &grace, Containers: []corev1.Container{{Name: "main", Image: "none"}},
	}}
}

func TestPods(t *testing.T) {
	for name, c := range map[string]struct {
		option gctest.Option
		grace  int64
		lasts  time.Duration
	}{
		"at once":                {gctest.WithPods(gctest.AtOnce), 3600, 0},
		"after the grace period": {gctest.WithPods(gctest.AfterGracePeriod), 1, time.Second},
		"after a chosen time":    {gctest.WithPodsAfter(700 * time.Millisecond), 3600, 700 * time.Millisecond},
		"never":                  {gctest.WithPods(gctest.Never), 3600, -1},
	} {
		t.Run(name, func(t *testing.T) {
			gc := gctest.Start(t, cfg, c.option)
			p := create(t, pod(namespace(t), "web", c.grace))
			began := time.Now()
			remove(t, p)
			if c.lasts < 0 {
				stays(t, gc, p)
				remove(t, p, client.GracePeriodSeconds(0))
			}
			gone(t, gc, p)
			if took := time.Since(began); took < c.lasts {
				t.Errorf("it was gone after %s", took)
			}
		})
	}
}

func TestClusterScope(t *testing.T) {
	gc := gctest.Start(t, cfg)
	owner := create(t, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{GenerateName: "author-"}})
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{GenerateName: "author-"}}
	if err := controllerutil.SetOwnerReference(owner, role, scheme.Scheme); err != nil {
		t.Fatal(err)
	}
	create(t, role)
	namespaced := configMap(t, namespace(t), "namespaced", owner)
	remove(t, owner)
	gone(t, gc, role, namespaced)
}

func TestMessages(t *testing.T) {
	gc := gctest.Start(t, cfg)
	owner := configMap(t, namespace(t), "owner")
	dependent := configMap(t, owner.Namespace, "dependent", owner)
	settle(t, gc)
	says(t, gc.Explain(dependent), "stays", "owner v1 ConfigMap "+owner.Namespace+"/owner")
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := gc.WaitGone(ctx, dependent); err == nil {
		t.Error("it is gone")
	} else {
		says(t, err.Error(), "not gone after", "dependent stays")
	}
	remove(t, owner)
	gone(t, gc, dependent)
	says(t, gc.Explain(dependent), "is not there: deleted by gctest at", "(uid "+string(owner.UID)+") doesn't exist")
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(dependent), dependent); !apierrors.IsNotFound(err) {
		t.Error(err)
	}
}

func TestTwoEnvironments(t *testing.T) {
	for _, name := range []string{"a", "b"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := &envtest.Environment{}
			cfg, err := env.Start()
			if err != nil {
				t.Fatal(err)
			}
			gc, err := gctest.New(cfg, gctest.WithLog(t.Logf))
			if err != nil {
				t.Fatal(err)
			}
			c, err := client.New(cfg, client.Options{})
			if err != nil {
				t.Fatal(err)
			}
			owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "owner"}}
			if err := c.Create(t.Context(), owner); err != nil {
				t.Fatal(err)
			}
			dependent := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "dependent"}}
			if err := controllerutil.SetOwnerReference(owner, dependent, scheme.Scheme); err != nil {
				t.Fatal(err)
			}
			if err := c.Create(t.Context(), dependent); err != nil {
				t.Fatal(err)
			}
			if err := c.Delete(t.Context(), owner); err != nil {
				t.Fatal(err)
			}
			gone(t, gc, owner, dependent)
			if err := gc.Stop(); err != nil {
				t.Error(err)
			}
			if err := env.Stop(); err != nil {
				t.Error(err)
			}
		})
	}
}
