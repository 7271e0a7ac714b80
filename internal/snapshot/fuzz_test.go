package snapshot

import (
	"encoding/binary"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// FuzzReadFiles: no input makes the reader panic, objects are sorted, and kinds that the input
// doesn't name are not covered. The fuzzed bytes are read as they are, as the list of pods of a
// namespace in an archive, and with broken files allowed.
func FuzzReadFiles(f *testing.F) {
	f.Add([]byte(podList))
	f.Add([]byte("apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata: {name: p, namespace: shop, uid: '1'}\n"))
	f.Add(storedExample(f))
	f.Add(tarOf(f, []txtar.File{{Name: "resources/ns/shop/core_v1_pods.json", Data: []byte(podList)}}))
	f.Add(gzipOf(f, tarOf(f, []txtar.File{{Name: "cluster-resources/pods-errors.json", Data: []byte(`{"shop":"forbidden"}`)}})))
	f.Add(zipOf(f, []txtar.File{{Name: "discovery/api.json", Data: []byte(`{"kind":"APIGroupDiscoveryList","items":[]}`)}}))
	for _, packed := range packedDumps(f) {
		f.Add(packed)
		f.Add(tarOf(f, []txtar.File{{Name: "a/dump.tar.xz", Data: packed}}))
	}
	f.Add(wideOf(binary.LittleEndian, podList))
	limits := Limits{TotalBytes: 4 << 20, EntryBytes: 4 << 20, Entries: 100, MemoryBytes: 1 << 20}
	f.Fuzz(func(t *testing.T, content []byte) {
		if len(content) > 1<<16 {
			return
		}
		wrapped := tarOf(t, []txtar.File{{Name: "resources/ns/shop/core_v1_pods.json", Data: content}, {Name: "inner.tar", Data: content}})
		for _, input := range [][]byte{content, wrapped} {
			for _, allow := range []bool{false, true} {
				s, err := readBytes(input, Options{AllowPartial: allow, Limits: limits})
				if err != nil {
					if s != nil {
						t.Fatal("an error and a snapshot")
					}
					continue
				}
				checkRead(t, s)
			}
		}
	})
}

// checkRead checks the invariants of every snapshot.
func checkRead(t *testing.T, s *Snapshot) {
	t.Helper()
	for i := 1; i < len(s.Objects); i++ {
		if a, b := s.Objects[i-1], s.Objects[i]; compareObjects(a, b) >= 0 || a.WithoutUID() == b.WithoutUID() {
			t.Fatalf("%s stands before %s", a.Ref, b.Ref)
		}
	}
	for _, p := range s.Problems {
		if p.Kind != Unread {
			continue
		}
		for gr, place := range s.coverage.places {
			if gr == pods && len(place.failures) == 0 && place.everywhere {
				t.Fatalf("pods are covered everywhere after %s", p.Message)
			}
		}
	}
	for _, g := range s.Gaps {
		r, ok := s.Resources.Preferred(resourceOf(g))
		if !ok || s.Covers(r, g.Namespace) || s.Why(r, g.Namespace) != g.Why {
			t.Fatalf("gap %v, but covered", g)
		}
	}
}

func resourceOf(g Gap) schema.GroupResource {
	return schema.GroupResource{Group: object.GroupOf(g.APIVersion), Resource: g.Resource}
}
