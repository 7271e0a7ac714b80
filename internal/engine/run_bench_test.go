package engine_test

import (
	"context"
	"runtime"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// void accepts every write and sends its event at once. It stores no object.
type void struct {
	resources *object.Resources
	objects   map[string]*object.Object
	events    chan object.Event
}

func (v *void) Resource(apiVersion, kind string) (object.Resource, error) {
	return v.resources.For(apiVersion, kind)
}

func (v *void) Get(_ context.Context, ref object.Ref) (*object.Object, error) {
	return v.objects[ref.Name], nil
}

func (v *void) Delete(_ context.Context, ref object.Ref, _ metav1.DeleteOptions) error {
	v.events <- object.Event{Type: object.Deleted, Object: v.objects[ref.Name]}
	return nil
}

func (v *void) Patch(context.Context, object.Ref, object.Patch) error { return nil }

// BenchmarkRun collects the dependents of a deleted owner over an API without cost, to measure the
// driver.
func BenchmarkRun(b *testing.B) {
	b.ReportAllocs()
	const n = 100_000
	for b.Loop() {
		b.StopTimer()
		objects := fanOut(n)
		v := &void{resources: scenario.Resources(), objects: map[string]*object.Object{}, events: make(chan object.Event, n)}
		c := engine.New(engine.WithCapacity(n), engine.WithEconomy())
		for _, o := range objects {
			v.objects[o.Name] = o
		}
		observeAll(c, objects)
		v.events <- object.Event{Type: object.Deleted, Object: objects[0]}
		ctx, cancel := context.WithCancel(b.Context())
		b.StartTimer()
		done := 0
		_ = engine.Run(ctx, c, v, v.events, engine.RunOptions{Record: func(engine.Record) {
			if done++; done == n-1 {
				cancel()
			}
		}})
		b.StopTimer()
		cancel()
		if done != n-1 {
			b.Fatalf("%d attempts", done)
		}
		b.StartTimer()
	}
	b.ReportMetric((n-1)*float64(b.N)/b.Elapsed().Seconds(), "attempts/s")
}

// BenchmarkCollectorMemory measures the memory of a collector per observed object, including the
// object.
func BenchmarkCollectorMemory(b *testing.B) {
	const n = 100_000
	for b.Loop() {
		b.StopTimer()
		before := heap()
		b.StartTimer()
		c := engine.New(engine.WithEconomy())
		observeAll(c, twoLevels(n))
		b.StopTimer()
		b.ReportMetric(float64(heap()-before)/n, "B/object")
		runtime.KeepAlive(c)
		b.StartTimer()
	}
}
