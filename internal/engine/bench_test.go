package engine_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

const million = 1_000_000

// configMap returns an object as in a snapshot: with shared common strings.
func configMap(name string, owners ...*object.Object) *object.Object {
	o := &object.Object{ResourceVersion: "1", Created: scenario.Start}
	o.APIVersion, o.Kind, o.Namespace, o.Name = "v1", "ConfigMap", "n", name
	o.UID = types.UID("00000000-0000-4000-8000-" + name)
	for _, owner := range owners {
		o.Owners = append(o.Owners, object.OwnerReference{
			APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID,
			Controller: object.True, BlockOwnerDeletion: object.True,
		})
	}
	return o
}

func numberedMap(i int, owners ...*object.Object) *object.Object {
	return configMap(fmt.Sprintf("%012d", i), owners...)
}

// threeLevels is one root, n/1000 dependents, and the rest below those.
func threeLevels(n int) []*object.Object {
	objects := append(make([]*object.Object, 0, n), numberedMap(0))
	mids := n / 1000
	for i := 1; i < n; i++ {
		owner := objects[0]
		if i > mids {
			owner = objects[1+i%mids]
		}
		objects = append(objects, numberedMap(i, owner))
	}
	return objects
}

func chainOf(n int) []*object.Object {
	objects := append(make([]*object.Object, 0, n), numberedMap(0))
	for i := 1; i < n; i++ {
		objects = append(objects, numberedMap(i, objects[i-1]))
	}
	return objects
}

func fanOut(n int) []*object.Object {
	objects := append(make([]*object.Object, 0, n), numberedMap(0))
	for i := 1; i < n; i++ {
		objects = append(objects, numberedMap(i, objects[0]))
	}
	return objects
}

// circles is n cycles of three objects with blocking references.
func circles(n int) []*object.Object {
	objects := make([]*object.Object, 0, 3*n)
	for i := range n {
		var three [3]*object.Object
		for j := range three {
			three[j] = numberedMap(3*i + j)
		}
		for j, o := range three {
			o.Owners = numberedMap(0, three[(j+2)%3]).Owners
		}
		objects = append(objects, three[:]...)
	}
	return objects
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func observeAll(c *engine.Collector, objects []*object.Object) {
	for _, o := range objects {
		c.Observe(object.Event{Type: object.Added, Object: o})
	}
}

// BenchmarkObserve1M lists a million objects. B/object is the live memory of the graph and the
// objects.
func BenchmarkObserve1M(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		before := heap()
		objects := threeLevels(million)
		b.StartTimer()
		c := engine.New(engine.WithCapacity(million))
		observeAll(c, objects)
		b.StopTimer()
		b.ReportMetric(float64(heap()-before)/million, "B/object")
		runtime.KeepAlive(c)
		runtime.KeepAlive(objects)
		b.StartTimer()
	}
	b.ReportMetric(million*float64(b.N)/b.Elapsed().Seconds(), "objects/s")
}

// story is a world and the deletion of every n-th object.
type story struct {
	world  func() []*object.Object
	every  int
	policy metav1.DeletionPropagation
	// left is the number of objects in the end.
	left int
}

// run measures from the first request until no work is left.
func (s story) run(b *testing.B) {
	b.ReportAllocs()
	resources := scenario.Resources()
	var n int
	for b.Loop() {
		b.StopTimer()
		objects := s.world()
		server := apisim.New(objects, resources)
		c := engine.New(engine.WithCapacity(len(objects)))
		observeAll(c, objects)
		var targets []object.Ref
		for i := 0; i < len(objects); i += s.every {
			targets = append(targets, objects[i].Ref)
		}
		n = len(objects)
		objects = nil
		runtime.GC()
		b.StartTimer()
		s.drain(b, c, server, targets)
		b.StopTimer()
		if got := c.Graph().Len(); got != s.left {
			b.Fatalf("%d objects are left, want %d", got, s.left)
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		b.ReportMetric(float64(m.Sys)/(1<<20), "MiB-sys")
		b.StartTimer()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/object")
}

func (s story) drain(b *testing.B, c *engine.Collector, server *apisim.Server, targets []object.Ref) {
	for _, ref := range targets {
		if err := server.Delete(context.Background(), ref, metav1.DeleteOptions{PropagationPolicy: &s.policy}); err != nil {
			b.Fatal(err)
		}
	}
	if err := engine.Drain(context.Background(), c, server, engine.Follow{}); err != nil {
		b.Fatal(err)
	}
}

const (
	background = metav1.DeletePropagationBackground
	foreground = metav1.DeletePropagationForeground
	orphan     = metav1.DeletePropagationOrphan
)

func levels() []*object.Object { return threeLevels(million) }
func deep() []*object.Object   { return chainOf(100_000) }
func wide() []*object.Object   { return fanOut(million) }
func rings() []*object.Object  { return circles(10_000) }

func BenchmarkDrainBackground1M(b *testing.B) { story{levels, million, background, 0}.run(b) }
func BenchmarkDrainForeground1M(b *testing.B) { story{levels, million, foreground, 0}.run(b) }

func BenchmarkDrainChain100kBackground(b *testing.B) { story{deep, million, background, 0}.run(b) }
func BenchmarkDrainChain100kForeground(b *testing.B) { story{deep, million, foreground, 0}.run(b) }

func BenchmarkDrainFanOut1MOrphan(b *testing.B)     { story{wide, million, orphan, million - 1}.run(b) }
func BenchmarkDrainFanOut1MForeground(b *testing.B) { story{wide, million, foreground, 0}.run(b) }

func BenchmarkDrainCycles10kBackground(b *testing.B) { story{rings, 3, background, 0}.run(b) }
func BenchmarkDrainCycles10kForeground(b *testing.B) { story{rings, 3, foreground, 0}.run(b) }

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
