package snapshot

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// clusters are dumps of real clusters, kept outside of the repository. The numbers were counted by
// an independent program that reads the JSON files.
var clusters = []struct {
	name                        string
	objects, edges, terminating int
	// missing are dangling references: absent by coverage, or unknown.
	absent, unknown int
}{
	{"cluster-info-aks-2020", 41, 19, 0, 0, 0},
	{"cluster-info-legacy-flattened-2019", 511, 8, 0, 0, 0},
	{"sonobuoy-v1.10-snaps-kubernetes", 254, 30, 0, 0, 0},
	{"sonobuoy-v1.13-cloud66-maestro", 254, 24, 0, 0, 0},
	{"sonobuoy-v1.14-hpe", 309, 35, 0, 0, 0},
	{"sonobuoy-v1.15-rancher", 358, 35, 0, 0, 0},
	{"sonobuoy-v1.16-platform9", 374, 83, 0, 0, 22},
	// The four are longhorn.io Nodes; the dump lists core nodes only.
	{"sonobuoy-v1.24-OneKE", 921, 107, 1, 0, 4},
	{"sonobuoy-v1.25-triliovault-for-kubernetes", 936, 255, 1, 0, 0},
	// The ReplicaSets of the namespace were asked for and left no file.
	{"sonobuoy-v1.26-replicated", 309, 25, 2, 0, 1},
	{"sonobuoy-v1.27-civo", 361, 22, 0, 0, 0},
	{"support-bundle-longhorn", 214, 71, 0, 0, 27},
	{"troubleshoot-baseline-2025", 375, 21, 0, 0, 0},
}

// TestClusters reads dumps of real clusters if they are available. TestDumps tests the layouts.
func TestClusters(t *testing.T) {
	const folder = "../../../shared/data/clusters"
	if _, err := os.Stat(folder); err != nil {
		layouts, err := filepath.Glob("testdata/dumps/*.txtar")
		if err != nil || len(layouts) < 20 {
			t.Errorf("%d committed dumps, %v", len(layouts), err)
		}
		return
	}
	t.Logf("%-42s %8s %6s %11s %7s %8s %5s %9s", "dump", "objects", "edges", "terminating", "absent", "unknown", "gaps", "resources")
	for _, c := range clusters {
		s, err := ReadFiles([]string{filepath.Join(folder, c.name+".tar.gz")}, Options{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		got := c
		got.objects, got.edges, got.terminating, got.absent, got.unknown = len(s.Objects), 0, 0, 0, 0
		for _, o := range s.Objects {
			got.edges += len(o.Owners)
			if o.BeingDeleted() {
				got.terminating++
			}
			for _, owner := range o.Owners {
				switch {
				case holds(s, owner):
				case calledAbsent(t, s, owner.In(o.Namespace)):
					got.absent++
				default:
					got.unknown++
				}
			}
		}
		t.Logf("%-42s %8d %6d %11d %7d %8d %5d %9d", c.name, got.objects, got.edges, got.terminating, got.absent, got.unknown, len(s.Gaps), len(s.Resources.All()))
		if d := storedAndBack(t, s); d != "" {
			t.Errorf("%s: stored and read back (-before +after):\n%s", c.name, d)
		}
		if got != c {
			t.Errorf("%s: %+v, want %+v", c.name, got, c)
		}
	}
}

func storedAndBack(t *testing.T, s *Snapshot) string {
	t.Helper()
	var b bytes.Buffer
	if err := s.Write(&b, Zstd, Evidence{}); err != nil {
		t.Fatal(err)
	}
	back, err := readBytes(b.Bytes(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return diff(s, back)
}

func holds(s *Snapshot, owner object.OwnerReference) bool {
	return slices.ContainsFunc(s.Objects, func(o *object.Object) bool { return o.UID == owner.UID })
}

// calledAbsent reports whether coverage proves that an owner doesn't exist. It checks the proof in
// another way: the dump must have some object of that kind in that namespace, or the namespace is
// being deleted.
func calledAbsent(t *testing.T, s *Snapshot, owner object.Ref) bool {
	t.Helper()
	r, err := s.Resources.For(owner.APIVersion, owner.Kind)
	if err != nil || !s.Covers(r, owner.Namespace) {
		return false
	}
	shown := slices.ContainsFunc(s.Objects, func(o *object.Object) bool {
		return o.Kind == r.Kind && (o.Namespace == owner.Namespace || !r.Namespaced)
	})
	ending := slices.ContainsFunc(s.Objects, func(o *object.Object) bool {
		return o.Is(object.Namespace) && o.Name == owner.Namespace && o.BeingDeleted()
	})
	if !shown && !ending {
		t.Errorf("%s is called absent, but the dump shows no %s there", owner, r.Name)
	}
	return true
}
