// Package kubectlhabits types at a real control plane what somebody types who knows kubectl and
// has read no help: it works, or the error has the next command.
package kubectlhabits

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-gc/kubectl-gc/internal/cli"
	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

var plane *cluster.Cluster

func TestMain(m *testing.M) {
	os.Exit(cluster.Main(m, &plane))
}

// enter makes the world of testdata/world.yaml, once: the context of the user is in its
// namespace shop, a PVC there and a ConfigMap in payments are being deleted, and somebody
// holds them; another ConfigMap is gone.
var enter = sync.OnceValue(func() error {
	ctx := context.Background()
	if err := plane.Controllers("garbage-collector-controller", "deployment-controller", "replicaset-controller"); err != nil {
		return err
	}
	world, err := os.ReadFile("testdata/world.yaml")
	if err != nil {
		return err
	}
	for _, args := range [][]string{
		{"create", "-f", "-"},
		{"delete", "pvc/data", "-n", "shop", "--wait=false"},
		{"delete", "configmap/lock", "-n", "payments", "--wait=false"},
		{"delete", "configmap/gone", "-n", "shop"},
	} {
		if _, err := plane.Kubectl(ctx, world, args...); err != nil {
			return err
		}
	}
	return cluster.Await(ctx, "the Deployment has its pods", func(ctx context.Context) (bool, error) {
		pods, err := plane.Do(ctx, http.MethodGet, "/api/v1/namespaces/shop/pods?labelSelector=app%3Dweb", "", nil)
		return bytes.Count(pods, []byte(`"uid":`)) >= 2*2, err // a pod's own, and its owner's
	})
})

// user is somebody at a keyboard whose context is in the namespace shop.
func user(t *testing.T) {
	t.Helper()
	if err := enter(); err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.LoadFromFile(plane.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.Contexts[config.CurrentContext].Namespace = "shop"
	file := filepath.Join(t.TempDir(), "config")
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", file)
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Setenv("LC_ALL", "C.UTF-8")
}

// typed runs what somebody types behind `kubectl gc`, who has no terminal to be asked at.
func typed(ctx context.Context, line string, to genericiooptions.IOStreams) (code int) {
	return cli.Main(ctx, append([]string{"kubectl-gc"}, strings.Fields(line)...), to)
}
