package gctest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/gctest"
)

// TestTimes says how long things take: they are shown, and no limit is set. What is settled
// follows a new kind.
func TestTimes(t *testing.T) {
	s := enter(t)
	var gc *gctest.GC
	for range 3 {
		began := time.Now()
		gc = gctest.Start(t, s.config)
		t.Logf("started after %s", time.Since(began))
	}
	for range 4 {
		began := time.Now()
		s.settled(gc)
		t.Logf("with nothing to do settled after %s", time.Since(began))
	}
	for i := range 3 {
		s.define(fmt.Sprintf("times%d.example.com", i), nil)
		began := time.Now()
		s.settled(gc)
		t.Logf("a new kind is followed and all settled %s after it was established", time.Since(began))
	}
}

func BenchmarkStart(b *testing.B) {
	config, err := plane.Flags().ToRESTConfig()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		t := &turn{B: b}
		gctest.Start(t, config)
		b.StopTimer()
		for _, end := range slices.Backward(t.ends) {
			end()
		}
		b.StartTimer()
	}
}

// turn is a test within a benchmark, which ends before that.
type turn struct {
	*testing.B
	ends []func()
}

func (t *turn) Cleanup(end func()) { t.ends = append(t.ends, end) }

func BenchmarkSettled(b *testing.B) {
	config, err := plane.Flags().ToRESTConfig()
	if err != nil {
		b.Fatal(err)
	}
	gc := gctest.Start(b, config)
	for b.Loop() {
		if err := gc.WaitSettled(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
}

// TestManyDependents has what an owner took along gone when it is settled.
func TestManyDependents(t *testing.T) {
	t.Parallel()
	s := enter(t)
	gc := gctest.Start(t, s.config)
	const dependents = 200
	owner := s.configMap("owner", nil)
	for i := range dependents {
		s.configMap(fmt.Sprintf("dependent-%d", i), nil, owned(owner))
	}
	s.remove("owner", metav1.DeletePropagationForeground)
	began := time.Now()
	s.settled(gc)
	t.Logf("%d dependents are gone and all is settled after %s", dependents, time.Since(began))
	s.are("")
}

// BenchmarkNamespace has a namespace gone in which half of 20 owners with a dependent each were
// deleted before, one way and the other: with gctest, and with the garbage collector and the
// namespace controller of kube-controller-manager.
func BenchmarkNamespace(b *testing.B) {
	config, err := plane.Flags().ToRESTConfig()
	if err != nil {
		b.Fatal(err)
	}
	config.QPS = -1
	b.Run("gctest", func(b *testing.B) {
		gctest.Start(b, config)
		emptied(b, config)
	})
	b.Run("kube-controller-manager", func(b *testing.B) {
		if err := plane.Controllers("garbage-collector-controller", "namespace-controller"); err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() {
			if err := plane.Controllers(); err != nil {
				b.Error(err)
			}
		})
		emptied(b, config)
	})
}

// emptied makes namespaces and has them deleted, the first one before anything is measured:
// whoever deletes has started then.
func emptied(b *testing.B, config *rest.Config) {
	b.Helper()
	client := kubernetes.NewForConfigOrDie(config)
	gone(b, client)
	for b.Loop() {
		gone(b, client)
	}
}

func gone(b *testing.B, client kubernetes.Interface) {
	b.Helper()
	ctx := b.Context()
	namespaces := client.CoreV1().Namespaces()
	ns, err := namespaces.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "emptied-"}}, metav1.CreateOptions{})
	if err != nil {
		b.Fatal(err)
	}
	maps := client.CoreV1().ConfigMaps(ns.Name)
	policies := []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground}
	for i := range 20 {
		owner, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("owner-%d", i)}}, metav1.CreateOptions{})
		if err != nil {
			b.Fatal(err)
		}
		dependent := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("dependent-%d", i), OwnerReferences: []metav1.OwnerReference{owned(owner)}}}
		if _, err := maps.Create(ctx, dependent, metav1.CreateOptions{}); err != nil {
			b.Fatal(err)
		}
		if i < 10 {
			if err := maps.Delete(ctx, owner.Name, metav1.DeleteOptions{PropagationPolicy: &policies[i%2]}); err != nil {
				b.Fatal(err)
			}
		}
	}
	watching, err := namespaces.Watch(ctx, metav1.ListOptions{
		FieldSelector: fields.OneTermEqualSelector("metadata.name", ns.Name).String(), ResourceVersion: ns.ResourceVersion,
	})
	if err != nil {
		b.Fatal(err)
	}
	defer watching.Stop()
	if err := namespaces.Delete(ctx, ns.Name, metav1.DeleteOptions{}); err != nil {
		b.Fatal(err)
	}
	for e := range watching.ResultChan() {
		if e.Type == watch.Deleted {
			return
		}
	}
	b.Fatal("the watch has ended before the namespace was gone")
}
