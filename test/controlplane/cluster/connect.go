package cluster

import (
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/kubectl-gc/kubectl-gc/internal/cli/source"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
)

// Flags are kubectl's flags for the cluster.
func (c *Cluster) Flags() *genericclioptions.ConfigFlags {
	flags := genericclioptions.NewConfigFlags(true)
	flags.KubeConfig = &c.Kubeconfig
	return flags
}

// Connect is the program's own client of the cluster.
func (c *Cluster) Connect(o kube.Options) (*kube.Client, error) {
	return source.Connect(c.Flags(), o)
}
