package apisim

import (
	"fmt"
	"runtime"
	"strconv"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

const benchSize = 1_000_000

// benchWorld returns many objects in a hundred namespaces, each owned by another.
func benchWorld(n int) ([]*object.Object, *object.Resources) {
	resources := &object.Resources{}
	resources.Add(object.Resource{Version: "v1", Name: "configmaps", Kind: "ConfigMap", Namespaced: true, Verbs: object.AllVerbs})
	backing := make([]object.Object, n)
	objects := make([]*object.Object, n)
	for i := range backing {
		o := &backing[i]
		o.Ref = object.Ref{
			APIVersion: "v1", Kind: "ConfigMap", Namespace: "ns-" + strconv.Itoa(i%100),
			Name: "object-" + strconv.Itoa(i), UID: types.UID(fmt.Sprintf("uid-%07d", i)),
		}
		o.ResourceVersion = strconv.Itoa(i + 1)
		o.Owners = []object.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "owner", UID: "owner"}}
		objects[i] = o
	}
	return objects, resources
}

func BenchmarkNew(b *testing.B) {
	objects, resources := benchWorld(benchSize)
	b.ReportAllocs()
	var before, after runtime.MemStats
	for b.Loop() {
		b.StopTimer()
		runtime.GC()
		runtime.ReadMemStats(&before)
		b.StartTimer()
		s := New(objects, resources)
		b.StopTimer()
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/benchSize, "B/object")
		runtime.KeepAlive(s)
		b.StartTimer()
	}
}

func BenchmarkGet(b *testing.B) {
	objects, resources := benchWorld(benchSize)
	s := New(objects, resources)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if _, err := s.Get(b.Context(), objects[i%benchSize].Ref); err != nil {
			b.Fatal(err)
		}
		i += 7919
	}
}

func BenchmarkGetNotFound(b *testing.B) {
	objects, resources := benchWorld(1000)
	s := New(objects, resources)
	ref := objects[0].Ref
	ref.Name = "absent"
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Get(b.Context(), ref); err == nil {
			b.Fatal("found")
		}
	}
}

// BenchmarkDelete deletes a million objects with the collector's options: UID, resourceVersion and
// policy.
func BenchmarkDelete(b *testing.B) {
	objects, resources := benchWorld(benchSize)
	background := metav1.DeletePropagationBackground
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		s := New(objects, resources)
		b.StartTimer()
		for _, o := range objects {
			options := metav1.DeleteOptions{
				PropagationPolicy: &background,
				Preconditions:     &metav1.Preconditions{UID: &o.UID, ResourceVersion: &o.ResourceVersion},
			}
			if err := s.Delete(b.Context(), o.Ref, options); err != nil {
				b.Fatal(err)
			}
		}
		if n := len(s.Events()); n != benchSize {
			b.Fatal(n)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchSize, "ns/object")
}

func BenchmarkPatch(b *testing.B) {
	objects, resources := benchWorld(benchSize)
	p := object.Patch{DeleteOwners: []types.UID{"owner"}}
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		s := New(objects, resources)
		b.StartTimer()
		for _, o := range objects {
			p.UID = o.UID
			if err := s.Patch(b.Context(), o.Ref, p); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchSize, "ns/object")
}

func BenchmarkClone(b *testing.B) {
	objects, resources := benchWorld(benchSize)
	s := New(objects, resources)
	b.ReportAllocs()
	for b.Loop() {
		c := s.Clone()
		if err := c.Delete(b.Context(), objects[0].Ref, metav1.DeleteOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}
