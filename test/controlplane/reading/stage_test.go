// Package reading tries the client of the program on a real control plane: what it
// reads is what kubectl reads, and what it says of absence is true.
package reading

import (
	"context"
	"flag"
	"os"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/cli/command"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

// plane is the control plane of all tests; it has no controllers, so that nothing
// changes but what a test changes.
var plane *cluster.Cluster

func TestMain(m *testing.M) {
	flag.Parse()
	if task := os.Getenv(taskVariable); task != "" {
		os.Exit(perform(task))
	}
	os.Exit(cluster.Main(m, &plane))
}

// connect is a client that has discovered the plane.
func connect(t *testing.T, namespace string) (context.Context, *kube.Client) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	flags := plane.Flags()
	flags.Namespace = &namespace
	c, err := command.Connect(flags, kube.Options{Version: "test", Command: t.Name()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	if _, err := c.Discover(ctx); err != nil {
		t.Fatal(err)
	}
	return ctx, c
}

// apply creates what a manifest says.
func apply(t *testing.T, manifest string) {
	t.Helper()
	if _, err := plane.Kubectl(t.Context(), []byte(manifest), "create", "-f", "-"); err != nil {
		t.Fatal(err)
	}
}

// served waits until a kind of the tests is served and discovered.
func served(t *testing.T, plural string) {
	t.Helper()
	if err := plane.Serves(t.Context(), "example.com", plural, "v1"); err != nil {
		t.Fatal(err)
	}
}
