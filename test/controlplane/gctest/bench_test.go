package gctest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
