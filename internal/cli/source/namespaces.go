package source

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/kubectl-gc/kubectl-gc/internal/cli/usage"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// DefaultNamespace is where kubectl looks when nothing else is said, not even by
// the context of a kubeconfig. Dumps have none.
const DefaultNamespace = "default"

// Namespaces says which namespaces a command is about, as -n and -A do.
type Namespaces struct {
	One string
	All bool
	// fallback is the namespace of the kubeconfig's context.
	fallback string
	// config are the flags that the client was made with, from which the fallback is; nil
	// until there is one.
	config *genericclioptions.ConfigFlags
}

// AddFlags adds -n and -A with what they mean to a command.
func (n *Namespaces) AddFlags(f *pflag.FlagSet, one, all string) {
	f.StringVarP(&n.One, "namespace", "n", "", one)
	f.BoolVarP(&n.All, "all-namespaces", "A", false, all)
}

// Check refuses one namespace beside all of them.
func (n *Namespaces) Check(c *cobra.Command) error {
	if n.One != "" && n.All {
		return usage.Errorf(c, "-n and -A exclude each other")
	}
	return nil
}

// List is the namespace that was named; empty for all of them.
func (n *Namespaces) List() []string {
	if n.One == "" {
		return nil
	}
	return []string{n.One}
}

// Listed is the namespace whose objects are listed, as kubectl get does: that of the
// context unless something else is said. It is empty for all of them, and of a dump, which
// has no context.
func (n *Namespaces) Listed(live bool) string {
	if n.All || n.One == "" && !live {
		return ""
	}
	return n.OneOrDefault()
}

// OneOrDefault is the namespace that was named, else the one that is meant then.
func (n *Namespaces) OneOrDefault() string {
	return cmp.Or(n.One, n.fallback, DefaultNamespace)
}

// Where says in an error where something was looked for.
func (n *Namespaces) Where() string {
	if n.All {
		return " in any namespace"
	}
	return fmt.Sprintf(" in namespace %q", n.OneOrDefault())
}

// Resolve has the cluster say which objects are meant, as kubectl does. The client is one of
// Source.Open for these namespaces.
func (n *Namespaces) Resolve(ctx context.Context, client *kube.Client, t Asked) ([]*object.Object, error) {
	return Resolve(ctx, n.config, client, t)
}
