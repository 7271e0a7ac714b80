package snapshot

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// benchSnapshot is a cluster of replica sets with ten pods each.
func benchSnapshot(b *testing.B, n int) *Snapshot {
	b.Helper()
	objects := make([]*object.Object, n)
	for i := range objects {
		ns, set := fmt.Sprintf("team-%d", i%50), fmt.Sprintf("web-%d", i/10)
		o := &object.Object{
			Ref:             object.Ref{APIVersion: "v1", Kind: "Pod", Namespace: ns, Name: fmt.Sprintf("%s-%d", set, i), UID: types.UID(fmt.Sprintf("%08d-0000-4000-8000-000000000000", i))},
			ResourceVersion: fmt.Sprint(1_000_000 + i), Created: 1_700_000_000 + int64(i),
			Labels: object.LabelsOf(map[string]string{"app": set, "pod-template-hash": "5d4f8c7b9"}),
			Owners: []object.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: set, UID: types.UID("rs-" + set), Controller: object.True, BlockOwnerDeletion: object.True}},
		}
		o.Edit().Facts = &object.PodFacts{NodeName: fmt.Sprintf("node-%d", i%100), Phase: "Running"}
		objects[i] = o
	}
	s, err := New(objects, nil, CoversEverything(), Source{})
	if err != nil {
		b.Fatal(err)
	}
	return s
}

const benchObjects = 20_000

func BenchmarkWrite(b *testing.B) {
	s := benchSnapshot(b, benchObjects)
	for name, c := range map[string]Compression{"plain": Uncompressed, "gzip": Gzip, "zstd": Zstd} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := s.Write(io.Discard, c, Evidence{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(benchObjects*b.N)/b.Elapsed().Seconds(), "objects/s")
		})
	}
}

func BenchmarkReadBack(b *testing.B) {
	s := benchSnapshot(b, benchObjects)
	for name, c := range map[string]Compression{"plain": Uncompressed, "gzip": Gzip, "zstd": Zstd} {
		var stored bytes.Buffer
		if err := s.Write(&stored, c, Evidence{}); err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(stored.Len()))
			for b.Loop() {
				if _, err := readBytes(stored.Bytes(), Options{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(benchObjects*b.N)/b.Elapsed().Seconds(), "objects/s")
		})
	}
}

// BenchmarkReadBackMemory reports the memory of one retained object.
func BenchmarkReadBackMemory(b *testing.B) {
	var stored bytes.Buffer
	if err := benchSnapshot(b, benchObjects).Write(&stored, Uncompressed, Evidence{}); err != nil {
		b.Fatal(err)
	}
	builtinResources() // which are made once
	for b.Loop() {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		s, err := readBytes(stored.Bytes(), Options{})
		if err != nil {
			b.Fatal(err)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/benchObjects, "heap-B/object")
		runtime.KeepAlive(s)
	}
}

// BenchmarkSettle is the work after reading: identities, order, duplicates, gaps.
func BenchmarkSettle(b *testing.B) {
	s := benchSnapshot(b, benchObjects)
	shuffled := make([]*object.Object, len(s.Objects))
	for i, o := range s.Objects {
		shuffled[i*7919%len(shuffled)] = o
	}
	objects := make([]*object.Object, len(s.Objects))
	b.ReportAllocs()
	for b.Loop() {
		copy(objects, shuffled)
		if _, err := New(objects, s.Resources, s.coverage, Source{}); err != nil {
			b.Fatal(err)
		}
	}
}
