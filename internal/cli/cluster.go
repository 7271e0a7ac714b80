package cli

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// newConfig are the flags of kubectl that say which cluster is meant and as whom.
// The namespace is a flag of the commands that know one.
func newConfig() *genericclioptions.ConfigFlags {
	config := genericclioptions.NewConfigFlags(true)
	config.Namespace = nil
	return config
}

// cluster says how to read a live cluster.
type cluster struct {
	config    *genericclioptions.ConfigFlags
	scope     kube.Scope
	chunkSize int64
	qps       float32
	burst     int
}

func (k *cluster) addFlags(f *pflag.FlagSet) {
	f.StringSliceVar(&k.scope.Namespaces, "namespaces", nil,
		"Of a cluster, read only these namespaces, and what is in none.")
	f.StringSliceVar(&k.scope.Include, "include", nil,
		"Of a cluster, read only the kinds that match one of these patterns over resource.group, as deployments.apps or *.example.com.")
	f.StringSliceVar(&k.scope.Exclude, "exclude", nil, "Of a cluster, leave out the kinds that match one of these patterns.")
	f.Int64Var(&k.chunkSize, "chunk-size", 0, "Ask a cluster for lists in pages of this size; 0 for whole lists, which are faster and consistent.")
	k.addRateFlags(f)
}

// addRateFlags adds those that say how fast the cluster may be asked.
func (k *cluster) addRateFlags(f *pflag.FlagSet) {
	f.Float32Var(&k.qps, "qps", 0, "Send a cluster no more than this many requests a second; 0 for no limit of our own.")
	f.IntVar(&k.burst, "burst", 10, "With --qps: so many requests may go at once.")
}

// connect makes a client. It sends nothing yet. What the server warns of is not
// said: it is about lists of everything that it serves, which the user did not ask
// for.
func (k *cluster) connect(c *cobra.Command) (*kube.Client, error) {
	if k.chunkSize < 0 {
		return nil, usageErrorf(c, "--chunk-size=%d: must not be negative", k.chunkSize)
	}
	if !isRate(k.qps) {
		return nil, usageErrorf(c, "--qps=%v: must be 0 or more, and finite", k.qps)
	}
	if err := k.scope.Check(); err != nil {
		return nil, usageErrorf(c, "%w", err)
	}
	if !k.known() && c.Flag("from") == nil {
		return nil, usageErrorf(c, "no cluster: name one with --kubeconfig, --server or $KUBECONFIG")
	}
	if !k.known() {
		return nil, usageErrorf(c, "no source: give a dump with --from, or a cluster with --kubeconfig, --server or $KUBECONFIG")
	}
	return kube.Connect(k.config, kube.Options{
		Version: version(), Command: c.CommandPath(), ChunkSize: k.chunkSize, QPS: k.qps, Burst: k.burst,
	})
}

// known tells whether something says where a cluster is: a flag, a kubeconfig, or
// the pod that this runs in. Without any of them client-go asks port 8080.
func (k *cluster) known() bool {
	if k.config.APIServer != nil && *k.config.APIServer != "" || os.Getenv("KUBERNETES_SERVICE_HOST") != "" {
		return true
	}
	raw, err := k.config.ToRawKubeConfigLoader().RawConfig()
	return err != nil || len(raw.Clusters) > 0 // what is wrong with it, connecting says
}

// read takes a snapshot.
func (k *cluster) read(c *cobra.Command, client *kube.Client, scope kube.Scope, errOut io.Writer) (*snapshot.Snapshot, error) {
	s := begin(c, errOut, "reading the cluster")
	defer s.end()
	return client.Snapshot(c.Context(), scope, func(p kube.Progress) {
		size := resource.NewQuantity(p.Bytes, resource.BinarySI)
		s.tell(fmt.Sprintf("reading the cluster: %d of %d kinds, %d objects, %sB", p.Done, p.Kinds, p.Objects, size))
	})
}
