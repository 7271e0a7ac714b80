package diagnose_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/diagnose"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/shapes"
)

// file writes a cluster of 100,000 objects to a snapshot file.
func file(b *testing.B) (*shapes.Cluster, string) {
	b.Helper()
	shape, err := shapes.Named("applications")
	if err != nil {
		b.Fatal(err)
	}
	c := shape.Cluster(100_000, 1)
	snap, err := c.Snapshot()
	if err != nil {
		b.Fatal(err)
	}
	var buffer bytes.Buffer
	if err := snap.Write(&buffer, snapshot.Zstd, snapshot.Evidence{}); err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(b.TempDir(), "cluster.zst")
	if err := os.WriteFile(path, buffer.Bytes(), 0o600); err != nil {
		b.Fatal(err)
	}
	return c, path
}

func read(b *testing.B, path string) *snapshot.Snapshot {
	b.Helper()
	snap, err := snapshot.ReadFiles([]string{path}, snapshot.Options{})
	if err != nil {
		b.Fatal(err)
	}
	return snap
}

// BenchmarkRankFile ranks a cluster of 100,000 objects from a snapshot file.
func BenchmarkRankFile(b *testing.B) {
	_, path := file(b)
	b.ReportAllocs()
	for b.Loop() {
		r, err := diagnose.Rank(b.Context(), read(b, path), diagnose.RiskOptions{Top: 10})
		if err != nil || len(r.Items) != 10 || r.Untried > 0 {
			b.Fatal(r, err)
		}
	}
}

// BenchmarkTakersFile explains a pod of a cluster of 100,000 objects from a snapshot
// file.
func BenchmarkTakersFile(b *testing.B) {
	cluster, path := file(b)
	b.ReportAllocs()
	for b.Loop() {
		e, err := diagnose.Explain(b.Context(), read(b, path), cluster.Asked[0], diagnose.ExplanationOptions{AllPolicies: true})
		if err != nil || len(e.TakenBy) == 0 || e.TakersUntried > 0 {
			b.Fatal(e, err)
		}
	}
}
