package cluster

import (
	"debug/buildinfo"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/release"
)

// A control plane says that it is of the release whose module it is built from.
func released(t *testing.T, c *Cluster) {
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	built, err := buildinfo.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	from := ""
	for _, m := range built.Deps {
		if m.Path == "k8s.io/kubernetes" {
			from = m.Version
		}
	}
	if c.Release() != from || from == "" {
		t.Errorf("it is built from %q and says that it is %q", from, c.Release())
	}
	if m := c.Minor(); m < release.Oldest || m > release.Newest {
		t.Errorf("%s is %s, which nobody measures", c.Release(), m)
	}
}
