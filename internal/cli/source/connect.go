package source

import (
	"fmt"

	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/kubectl-gc/kubectl-gc/internal/kube"
)

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
