package gctest

import (
	"context"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/gctest"
)

const held = "example.com/held"

// TestOwnedObjectsAreDeleted is the reproducer of controller-runtime #1459: what an object owns
// stays in envtest when the object is deleted.
func TestOwnedObjectsAreDeleted(t *testing.T) {
	t.Parallel()
	s := enter(t)
	gc := gctest.Start(t, s.config)
	labels := map[string]string{"app": "web"}
	pod := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "example.com/i"}}}}
	owner := s.configMap("custom-resource", nil)
	made, err := s.client.AppsV1().Deployments(s.namespace).Create(t.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web", OwnerReferences: []metav1.OwnerReference{owned(owner)}},
		Spec:       appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: pod},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s.settled(gc)
	if text := gc.Explain(made); !strings.Contains(text, "stays") || !strings.Contains(text, "custom-resource") {
		t.Errorf("of an owned object it is said:\n%s", text)
	}
	s.remove("custom-resource", metav1.DeletePropagationBackground)
	s.settled(gc)
	if _, err := s.client.AppsV1().Deployments(s.namespace).Get(t.Context(), "web", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the Deployment: %v, want not found\n%s", err, gc.Explain(made))
	}
	if text := gc.Explain(made); !strings.Contains(text, "is not there") {
		t.Errorf("of an object that has gone it is said:\n%s", text)
	}
}

// The policies of deletion, with a dependent that has a finalizer: what waits is settled, and
// goes on when the finalizer has come off.
func TestPolicies(t *testing.T) {
	t.Parallel()
	s := enter(t)
	gc := gctest.Start(t, s.config)
	for _, policy := range []metav1.DeletionPropagation{metav1.DeletePropagationForeground, metav1.DeletePropagationBackground} {
		owner := s.configMap("owner", nil)
		s.configMap("free", nil, owned(owner))
		dependent := s.configMap("held", []string{held}, owned(owner))
		s.settled(gc)
		s.are("free held owner")
		s.remove("owner", policy)
		s.settled(gc)
		if policy == metav1.DeletePropagationForeground {
			s.are("held owner")
			if text := gc.Explain(owner); !strings.Contains(text, "waits for its dependents") || !strings.Contains(text, held) {
				t.Errorf("of an owner that waits it is said:\n%s", text)
			}
		} else {
			s.are("held")
		}
		if text := gc.Explain(dependent); !strings.Contains(text, held) {
			t.Errorf("of a dependent that is held it is said:\n%s", text)
		}
		s.release("held")
		s.settled(gc)
		s.are("")
	}
	owner := s.configMap("owner", nil)
	s.configMap("dependent", nil, owned(owner))
	s.settled(gc)
	s.remove("owner", metav1.DeletePropagationOrphan)
	s.settled(gc)
	s.are("dependent")
	left, err := s.client.CoreV1().ConfigMaps(s.namespace).Get(t.Context(), "dependent", metav1.GetOptions{})
	if err != nil || len(left.OwnerReferences) > 0 {
		t.Errorf("the orphan: %v, %v", left.OwnerReferences, err)
	}
}

// A namespace goes with its content, and waits for what has a finalizer.
func TestNamespace(t *testing.T) {
	t.Parallel()
	s := enter(t)
	gc := gctest.Start(t, s.config)
	s.configMap("free", nil)
	s.configMap("held", []string{held})
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "pod"}, Spec: corev1.PodSpec{NodeName: "nowhere", Containers: []corev1.Container{{Name: "c", Image: "example.com/i"}}}}
	event := &corev1.Event{ObjectMeta: metav1.ObjectMeta{Name: "event"}, InvolvedObject: corev1.ObjectReference{Namespace: s.namespace}}
	if _, err := s.client.CoreV1().Pods(s.namespace).Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.client.CoreV1().Events(s.namespace).Create(t.Context(), event, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := s.client.CoreV1().Namespaces().Delete(t.Context(), s.namespace, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	s.settled(gc)
	s.are("held")
	if list, err := s.client.CoreV1().Events(s.namespace).List(t.Context(), metav1.ListOptions{}); err != nil || len(list.Items) > 0 {
		t.Errorf("events: %d, %v", len(list.Items), err)
	}
	ns, err := s.client.CoreV1().Namespaces().Get(t.Context(), s.namespace, metav1.GetOptions{})
	if err != nil {
		t.Fatalf("the namespace: %v", err)
	}
	if text := gc.Explain(ns); !strings.Contains(text, "held") || !strings.Contains(text, held) || strings.Contains(text, "events") {
		t.Errorf("of a namespace that is held it is said:\n%s", text)
	}
	s.release("held")
	s.settled(gc)
	if _, err := s.client.CoreV1().Namespaces().Get(t.Context(), s.namespace, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the namespace: %v, want not found\n%s", err, gc.Explain(ns))
	}
}

// A kind that the test installs is seen: its instances own and are owned.
func TestDefinition(t *testing.T) {
	t.Parallel()
	s := enter(t)
	gc := gctest.Start(t, s.config)
	r := s.define("definition.example.com", nil)
	began := time.Now()
	w := s.widget(r, "owner")
	owner := map[string]any{"apiVersion": "definition.example.com/v1", "kind": "Widget", "name": "owner", "uid": string(w.GetUID())}
	s.widget(r, "dependent", owner)
	s.configMap("dependent", nil, metav1.OwnerReference{APIVersion: "definition.example.com/v1", Kind: "Widget", Name: "owner", UID: w.GetUID()})
	if err := s.dynamic.Resource(r).Namespace(s.namespace).Delete(t.Context(), "owner", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Logf("from the definition established to instances made and deleted: %s", time.Since(began))
	s.settled(gc)
	t.Logf("and to all settled: %s", time.Since(began))
	s.are("")
	list, err := s.dynamic.Resource(r).Namespace(s.namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil || len(list.Items) > 0 {
		t.Errorf("widgets: %d, %v", len(list.Items), err)
	}
	// The instances of a definition are deleted by the API server.
	last := s.widget(r, "last")
	s.configMap("of-last", nil, metav1.OwnerReference{APIVersion: "definition.example.com/v1", Kind: "Widget", Name: "last", UID: last.GetUID()})
	s.settled(gc)
	s.are("of-last")
	if err := s.dynamic.Resource(definitions).Delete(t.Context(), "widgets.definition.example.com", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	s.settled(gc)
	s.are("")
	if _, err := s.dynamic.Resource(definitions).Get(t.Context(), "widgets.definition.example.com", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the definition: %v, want not found", err)
	}
}

// The ends of pods. The collector of another test would end them, too.
func TestPods(t *testing.T) {
	for name, c := range map[string]struct {
		pods  gctest.Pods
		grace int64
		stays bool
	}{
		"at once":            {gctest.AtOnce, 300, false},
		"after grace period": {gctest.AfterGracePeriod, 1, false},
		"never":              {gctest.Never, 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := enter(t)
			gc := gctest.Start(t, s.config, gctest.WithPods(c.pods))
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "pod"}, Spec: corev1.PodSpec{
				NodeName: "node", TerminationGracePeriodSeconds: &c.grace, Containers: []corev1.Container{{Name: "c", Image: "example.com/i"}}}}
			pod, err := s.client.CoreV1().Pods(s.namespace).Create(t.Context(), pod, metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if err := s.client.CoreV1().Pods(s.namespace).Delete(t.Context(), "pod", metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			s.settled(gc)
			t.Logf("settled after %s", time.Since(began))
			_, err = s.client.CoreV1().Pods(s.namespace).Get(t.Context(), "pod", metav1.GetOptions{})
			if c.stays && err != nil || !c.stays && !apierrors.IsNotFound(err) {
				t.Errorf("the pod: %v\n%s", err, gc.Explain(pod))
			}
			if c.stays {
				zero := int64(0)
				if err := s.client.CoreV1().Pods(s.namespace).Delete(t.Context(), "pod", metav1.DeleteOptions{GracePeriodSeconds: &zero}); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// Claims and volumes go when nothing uses them, if that is asked for.
func TestClaimProtection(t *testing.T) {
	t.Parallel()
	s := enter(t)
	gc := gctest.Start(t, s.config, gctest.WithClaimProtection())
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "data"}, Spec: corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
	}}
	claim, err := s.client.CoreV1().PersistentVolumeClaims(s.namespace).Create(t.Context(), claim, metav1.CreateOptions{})
	if err != nil || len(claim.Finalizers) == 0 {
		t.Fatalf("the claim has the finalizers %v, %v", claim.Finalizers, err)
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "pod"}, Spec: corev1.PodSpec{
		NodeName: "node", Containers: []corev1.Container{{Name: "c", Image: "example.com/i"}},
		Volumes: []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}}}
	if _, err := s.client.CoreV1().Pods(s.namespace).Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := s.client.CoreV1().PersistentVolumeClaims(s.namespace).Delete(t.Context(), "data", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	s.settled(gc)
	if _, err := s.client.CoreV1().PersistentVolumeClaims(s.namespace).Get(t.Context(), "data", metav1.GetOptions{}); err != nil {
		t.Errorf("a claim in use: %v", err)
	}
	if text := gc.Explain(claim); !strings.Contains(text, "is used by pods pod") {
		t.Errorf("of a claim in use it is said:\n%s", text)
	}
	if err := s.client.CoreV1().Pods(s.namespace).Delete(t.Context(), "pod", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	s.settled(gc)
	if _, err := s.client.CoreV1().PersistentVolumeClaims(s.namespace).Get(t.Context(), "data", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("a claim that nothing uses: %v\n%s", err, gc.Explain(claim))
	}
}

// A deadline says what was left, with the object and its finalizer.
func TestDeadline(t *testing.T) {
	s := enter(t)
	gc := gctest.Start(t, s.config, gctest.WithPods(gctest.AfterGracePeriod))
	s.configMap("held", []string{held})
	s.remove("held", metav1.DeletePropagationBackground)
	grace := int64(600)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "slow"}, Spec: corev1.PodSpec{
		NodeName: "node", TerminationGracePeriodSeconds: &grace, Containers: []corev1.Container{{Name: "c", Image: "example.com/i"}}}}
	if _, err := s.client.CoreV1().Pods(s.namespace).Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := s.client.CoreV1().Pods(s.namespace).Delete(t.Context(), "slow", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	unsettled(t, gc, "not settled after ", "grace period", "slow", "held", held) // by a pod that ends in 10 minutes
	s.release("held")
	zero := int64(0)
	if err := s.client.CoreV1().Pods(s.namespace).Delete(t.Context(), "slow", metav1.DeleteOptions{GracePeriodSeconds: &zero}); err != nil {
		t.Fatal(err)
	}
	s.settled(gc)
}

// A kind that cannot be read is named.
func TestConversionFails(t *testing.T) {
	s := enter(t)
	versions := func(conversion string) map[string]any {
		schema := map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}}
		spec := map[string]any{"versions": []any{
			map[string]any{"name": "v1", "served": true, "storage": true, "schema": schema},
			map[string]any{"name": "v2", "served": true, "storage": false, "schema": schema},
		}}
		if conversion != "" {
			spec["conversion"] = map[string]any{"strategy": "Webhook", "webhook": map[string]any{
				"clientConfig": map[string]any{"url": conversion}, "conversionReviewVersions": []any{"v1"}}}
		}
		return spec
	}
	r := s.define("conversion.example.com", versions(""))
	s.widget(r, "stored-as-v1")
	repair := func(conversion map[string]any) {
		t.Helper()
		o, err := s.dynamic.Resource(definitions).Get(context.Background(), "widgets.conversion.example.com", metav1.GetOptions{})
		if err == nil {
			err = unstructured.SetNestedMap(o.Object, conversion, "spec", "conversion")
		}
		if err == nil {
			_, err = s.dynamic.Resource(definitions).Update(context.Background(), o, metav1.UpdateOptions{})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	repair(map[string]any{"strategy": "Webhook", "webhook": map[string]any{
		"clientConfig": map[string]any{"url": "https://127.0.0.1:1/convert"}, "conversionReviewVersions": []any{"v1"}}})
	v2 := r
	v2.Version = "v2"
	until(t, "v2 cannot be listed", func() bool {
		_, err := s.dynamic.Resource(v2).Namespace(s.namespace).List(t.Context(), metav1.ListOptions{})
		return err != nil
	})
	began := time.Now()
	gc := gctest.Start(t, s.config)
	t.Logf("started after %s", time.Since(began))
	unsettled(t, gc, "widgets.conversion.example.com", "conversion webhook")
	repair(map[string]any{"strategy": "None"})
	began = time.Now()
	s.settled(gc)
	t.Logf("settled %s after the repair", time.Since(began))
}
