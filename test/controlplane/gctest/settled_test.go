package gctest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/gctest"
	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
	"github.com/kubectl-gc/kubectl-gc/test/extent"
)

// TestSettledIsTrue deletes things of random shapes under random policies, and looks once after
// each: what has to be gone is gone when it is settled. Eight tests do so at a time, each with a
// collector of its own.
func TestSettledIsTrue(t *testing.T) {
	rounds := extent.Of(6, 30)
	for worker := range 8 {
		t.Run(fmt.Sprint(worker), func(t *testing.T) {
			t.Parallel()
			s := enter(t)
			random := rand.New(rand.NewPCG(uint64(worker), 1))
			var gc *gctest.GC
			for round := range rounds {
				if round%5 == 0 {
					gc = gctest.Start(t, s.config)
				}
				if random.IntN(4) == 0 {
					s.emptied(gc, fmt.Sprintf("%s-%d", s.namespace, round))
				} else {
					s.cascaded(gc, random)
				}
			}
		})
	}
}

// cascaded deletes the first of some config maps, each of which but the first has an owner
// among those before it.
func (s *stage) cascaded(gc *gctest.GC, random *rand.Rand) {
	s.Helper()
	all := []*corev1.ConfigMap{s.configMap("c0", nil)}
	under := []bool{true} // the first
	for i := range 1 + random.IntN(12) {
		of := random.IntN(len(all) + 1)
		if of == len(all) { // of nobody
			all, under = append(all, s.configMap(fmt.Sprintf("c%d", i+1), nil)), append(under, false)
			continue
		}
		all, under = append(all, s.configMap(fmt.Sprintf("c%d", i+1), nil, owned(all[of]))), append(under, under[of])
	}
	policy := []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan}[random.IntN(3)]
	if policy == metav1.DeletePropagationOrphan {
		s.settled(gc) // who is not known to depend is not orphaned
	}
	s.remove("c0", policy)
	s.settled(gc)
	var want []string
	for i := range all {
		if i > 0 && (!under[i] || policy == metav1.DeletePropagationOrphan) {
			want = append(want, all[i].Name)
		}
	}
	list, err := s.client.CoreV1().ConfigMaps(s.namespace).List(s.Context(), metav1.ListOptions{})
	if err != nil {
		s.Fatal(err)
	}
	var got []string
	for i := range list.Items {
		left := &list.Items[i]
		got = append(got, left.Name)
		if left.DeletionTimestamp != nil || len(left.OwnerReferences) > 0 && left.OwnerReferences[0].UID == all[0].UID {
			s.Errorf("%s is left: owners %v, being deleted since %v", left.Name, left.OwnerReferences, left.DeletionTimestamp)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		s.Errorf("after a delete in the %s there are %v, want %v", policy, got, want)
	}
	if err := s.client.CoreV1().ConfigMaps(s.namespace).DeleteCollection(s.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		s.Fatal(err)
	}
	s.settled(gc)
	s.are("")
}

// emptied deletes a namespace with content.
func (s *stage) emptied(gc *gctest.GC, name string) {
	s.Helper()
	if _, err := s.client.CoreV1().Namespaces().Create(s.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
		s.Fatal(err)
	}
	for i := range 5 {
		o := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("s", i)}}
		if _, err := s.client.CoreV1().Secrets(name).Create(s.Context(), o, metav1.CreateOptions{}); err != nil {
			s.Fatal(err)
		}
	}
	if err := s.client.CoreV1().Namespaces().Delete(s.Context(), name, metav1.DeleteOptions{}); err != nil {
		s.Fatal(err)
	}
	s.settled(gc)
	if ns, err := s.client.CoreV1().Namespaces().Get(s.Context(), name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		s.Errorf("the namespace %s: %v, want not found\n%s", name, err, gc.Explain(ns))
	}
}

func until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	cluster.Until(t, what, holds)
}

// unsettled makes sure that something does not come to its end, and that the error of a
// deadline has these parts: the first deadlines may be too early for that.
func unsettled(t *testing.T, gc *gctest.GC, parts ...string) {
	t.Helper()
	var err error
	defer func() {
		if t.Failed() {
			t.Logf("the last error: %v", err)
		}
	}()
	late := time.Second / 2
	until(t, fmt.Sprintf("an error has %q", parts), func() bool {
		late *= 2
		ctx, cancel := context.WithTimeout(t.Context(), late)
		defer cancel()
		if err = gc.WaitSettled(ctx); err == nil {
			t.Fatal("it is settled")
		}
		return !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(err.Error(), part) })
	})
}
