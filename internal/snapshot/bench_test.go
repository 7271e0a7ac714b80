package snapshot

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/test/etcdfile"
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

// BenchmarkEtcd reads an etcd snapshot of 100,000 objects of about 2 KB each: pods, Secrets and
// ConfigMaps with realistic managed fields, and custom resources.
func BenchmarkEtcd(b *testing.B) {
	const objects = 100_000
	fields := strings.Repeat(`{"f:metadata":{"f:labels":{".":{},"f:app":{}},"f:ownerReferences":{".":{}}},`, 10)
	writes := storedShop(b)
	for i := range objects {
		name := fmt.Sprintf("web-%06d", i)
		meta := metav1.ObjectMeta{
			Name: name, Namespace: "shop", UID: types.UID(fmt.Sprintf("00000000-0000-0000-0000-%012d", i)),
			CreationTimestamp: metav1.Unix(1e9, 0), Labels: map[string]string{"app": "web", "tier": "front"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: fmt.Sprintf("web-%d", i/10), UID: types.UID(fmt.Sprint(i / 10)), Controller: new(true)}},
			ManagedFields:   []metav1.ManagedFieldsEntry{{Manager: "kubelet", Operation: "Update", FieldsV1: &metav1.FieldsV1{Raw: []byte(fields)}}},
		}
		switch i % 5 {
		case 0:
			writes = append(writes, etcdfile.Write{"example.com/widgets/shop/" + name, fmt.Sprintf(
				`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":%q,"namespace":"shop","uid":%q,"annotations":{"a":%q}},"spec":{"text":%q}}`,
				name, meta.UID, fields, strings.Repeat("x", 1000))})
		case 1:
			writes = append(writes, etcdfile.Write{"secrets/shop/" + name, etcdfile.Message(b, "v1", "Secret",
				&corev1.Secret{ObjectMeta: meta, Type: "Opaque", Data: map[string][]byte{"a": make([]byte, 1000)}})})
		case 2:
			writes = append(writes, etcdfile.Write{"configmaps/shop/" + name, etcdfile.Message(b, "v1", "ConfigMap",
				&corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{"a": strings.Repeat("x", 1000)}})})
		default:
			container := corev1.Container{Name: "c", Image: "registry.example.com/shop/web:1.2.3", Env: make([]corev1.EnvVar, 20)}
			writes = append(writes, etcdfile.Write{"pods/shop/" + name, etcdfile.Message(b, "v1", "Pod",
				&corev1.Pod{ObjectMeta: meta, Spec: corev1.PodSpec{NodeName: "n1", Containers: []corev1.Container{container, container}}})})
		}
	}
	path := etcdfile.Create(b, 0, writes...)
	stat, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	writes = nil
	b.SetBytes(stat.Size())
	b.ReportAllocs()
	for b.Loop() {
		s, err := ReadFiles([]string{path}, Options{})
		if err != nil || len(s.Objects) < objects {
			b.Fatal(err, len(s.Objects))
		}
	}
}
