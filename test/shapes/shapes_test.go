package shapes_test

import (
	"bytes"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/shapes"
)

func written(t *testing.T, s shapes.Shape, seed uint64) []byte {
	t.Helper()
	snap, err := s.Cluster(2000, seed).Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := snap.Write(&b, snapshot.Uncompressed, snapshot.Evidence{}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestTheSeedDecides(t *testing.T) {
	for _, s := range shapes.All() {
		first := written(t, s, 1)
		if !bytes.Equal(first, written(t, s, 1)) {
			t.Errorf("%s: the same seed gave another cluster", s.Name)
		}
		if bytes.Equal(first, written(t, s, 2)) {
			t.Errorf("%s: another seed gave the same cluster", s.Name)
		}
	}
}

// TestSizes: a cluster has the size that is asked for, none of its objects twice, and of
// each kind that is a tenth of it or more about as much when it is larger.
func TestSizes(t *testing.T) {
	for _, s := range shapes.All() {
		share := map[string]float64{}
		for _, n := range []int{1_000, 10_000, 40_000} {
			c := s.Cluster(n, 1)
			if got := len(c.Objects); got < n*9/10 || got > n*12/10 {
				t.Errorf("%s: %d objects, want %d", s.Name, got, n)
			}
			snap, err := c.Snapshot()
			if err != nil {
				t.Fatal(err)
			}
			if len(snap.Problems) > 0 || len(snap.Objects) != len(c.Objects) {
				t.Errorf("%s: %d of %d objects, problems %v", s.Name, len(snap.Objects), len(c.Objects), snap.Problems)
			}
			kinds := map[string]int{}
			for _, o := range c.Objects {
				kinds[o.Kind]++
			}
			for kind, count := range kinds {
				now := float64(count) / float64(len(c.Objects))
				if before := share[kind]; n > 10_000 && now > 0.1 && (now < before*0.9 || now > before*1.1) {
					t.Errorf("%s: %.2f of %d are of the kind %s, and of fewer %.2f", s.Name, now, n, kind, before)
				}
				share[kind] = now
			}
		}
	}
}

// TestAsked: what is asked about is there, and the root has more below it than the middle.
func TestAsked(t *testing.T) {
	for _, s := range shapes.All() {
		c := s.Cluster(1_000, 1)
		snap, err := c.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		for _, ref := range append([]object.Ref{c.Root, c.Middle}, c.Asked...) {
			if snap.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name) == nil {
				t.Errorf("%s: there is no %s", s.Name, ref)
			}
		}
		if len(c.Asked) == 0 || c.Root == c.Middle {
			t.Errorf("%s: root %s, middle %s, asked %v", s.Name, c.Root, c.Middle, c.Asked)
		}
	}
}
