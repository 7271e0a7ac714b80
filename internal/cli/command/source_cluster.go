package command

import (
	"fmt"
	"io"
	"math"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/printers"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/render"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// Cluster is how to read a live cluster.
type Cluster struct {
	Config    *genericclioptions.ConfigFlags
	Scope     kube.Scope
	chunkSize int64
	Qps       float32
	Burst     int
}

// AddFlags adds the flags that select what is read from the cluster.
func (k *Cluster) AddFlags(f *pflag.FlagSet) {
	f.StringSliceVar(&k.Scope.Namespaces, "namespaces", nil,
		"Of a cluster, read only these namespaces and cluster-scoped objects.")
	f.StringSliceVar(&k.Scope.Include, "include", nil,
		"Of a cluster, read only the kinds that match one of these patterns over resource.group, as deployments.apps or *.example.com.")
	f.StringSliceVar(&k.Scope.Exclude, "exclude", nil, "Of a cluster, leave out the kinds that match one of these patterns.")
	f.Int64Var(&k.chunkSize, "chunk-size", 0, "Ask a cluster for lists in pages of this size; 0 for whole lists, which are faster and consistent.")
	Unlist(f, "namespaces", "include", "exclude", "chunk-size")
	k.AddRateFlags(f)
}

// AddRateFlags adds the flags that limit the rate of requests.
func (k *Cluster) AddRateFlags(f *pflag.FlagSet) {
	f.Float32Var(&k.Qps, "qps", 0, "Send a cluster no more than this many requests a second; 0 for no limit of our own.")
	f.IntVar(&k.Burst, "burst", 10, "With --qps: so many requests may go at once.")
	Unlist(f, "qps", "burst")
}

// Connect returns a client. It sends no request yet. Warnings of the server are printed as kubectl
// prints them.
//
// Upstream: kubectl/pkg/cmd/cmd.go NewDefaultKubectlCommandWithArgs.
func (k *Cluster) Connect(c *cobra.Command) (*kube.Client, error) {
	if k.chunkSize < 0 {
		return nil, Errorf(c, "--chunk-size=%d: must not be negative", k.chunkSize)
	}
	if !IsRate(k.Qps) {
		return nil, Errorf(c, "--qps=%v: must be 0 or more, and finite", k.Qps)
	}
	if err := k.Scope.Check(); err != nil {
		return nil, Errorf(c, "%w", err)
	}
	if !k.Known() && c.Flag("from") == nil {
		return nil, Errorf(c, "no cluster: name one with --kubeconfig, --server or $KUBECONFIG")
	}
	if !k.Known() {
		return nil, Errorf(c, "no source: give a dump with --from, or a cluster with --kubeconfig, --server or $KUBECONFIG")
	}
	warnings := rest.NewWarningWriter(c.ErrOrStderr(), rest.WarningWriterOptions{Color: printers.AllowsColorOutput(c.ErrOrStderr())})
	return Connect(k.Config, kube.Options{
		Warn:    func(text string) { warnings.HandleWarningHeader(299, "", render.EscapeLines(text)) },
		Version: Version(), Command: c.CommandPath(), ChunkSize: k.chunkSize, QPS: k.Qps, Burst: k.Burst,
	})
}

// Known reports whether a flag, a kubeconfig or the pod environment names a cluster. Without one,
// client-go would try port 8080 of this machine.
func (k *Cluster) Known() bool {
	if k.Config.APIServer != nil && *k.Config.APIServer != "" || os.Getenv("KUBERNETES_SERVICE_HOST") != "" {
		return true
	}
	raw, err := k.Config.ToRawKubeConfigLoader().RawConfig()
	return err != nil || len(raw.Clusters) > 0 // connecting reports the error
}

// Read takes a snapshot of a scope.
func (k *Cluster) Read(c *cobra.Command, client *kube.Client, scope kube.Scope, errOut io.Writer) (*snapshot.Snapshot, error) {
	s := BeginStage(c, errOut, "reading the cluster")
	defer s.End()
	return client.Snapshot(c.Context(), scope, func(p kube.Progress) {
		s.Tell(fmt.Sprintf("reading the cluster: %d of %d kinds, %d objects, %s", p.Done, p.Kinds, p.Objects, sizeText(p.Bytes)))
	})
}

// sizeText formats a number of bytes: "812 B", "69.5 KiB", "1.2 GiB".
func sizeText(n int64) string {
	size, unit := float64(n), 0
	for size >= 1024 && unit < 4 {
		size, unit = size/1024, unit+1
	}
	if unit == 0 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %ciB", size, "KMGT"[unit-1])
}

// IsRate reports whether a number can be a limit. NaN can't: it would mean no limit.
func IsRate(qps float32) bool { return qps >= 0 && qps <= math.MaxFloat32 }

// Connect returns a client from kubectl's flags. It sends no request; the first request reports
// problems of the server.
func Connect(flags genericclioptions.RESTClientGetter, o kube.Options) (*kube.Client, error) {
	config, err := flags.ToRESTConfig()
	if err != nil {
		return nil, fmt.Errorf("kubeconfig: %w", err)
	}
	o.Context = contextName(flags)
	return kube.Connect(config, o)
}

// contextName returns the selected context of the kubeconfig; empty in a pod.
func contextName(flags genericclioptions.RESTClientGetter) string {
	if chosen, ok := flags.(*genericclioptions.ConfigFlags); ok && chosen.Context != nil && *chosen.Context != "" {
		return *chosen.Context
	}
	loader := flags.ToRawKubeConfigLoader()
	if loader == nil {
		return ""
	}
	raw, err := loader.RawConfig()
	if err != nil {
		return "" // a pod has no kubeconfig; ToRESTConfig has reported a broken one
	}
	return raw.CurrentContext
}
