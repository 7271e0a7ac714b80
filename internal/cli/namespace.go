package cli

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// defaultNamespace is where kubectl looks when nothing else is said, not even by
// the context of a kubeconfig. Dumps have none.
const defaultNamespace = "default"

// namespaces says which namespaces a command is about, as -n and -A do.
type namespaces struct {
	one string
	all bool
	// fallback is the namespace of the kubeconfig's context.
	fallback string
}

func (n *namespaces) addFlags(f *pflag.FlagSet, one, all string) {
	f.StringVarP(&n.one, "namespace", "n", "", one)
	f.BoolVarP(&n.all, "all-namespaces", "A", false, all)
}

// check refuses one namespace beside all of them.
func (n *namespaces) check(c *cobra.Command) error {
	if n.one != "" && n.all {
		return usageErrorf(c, "-n and -A exclude each other")
	}
	return nil
}

// list is the namespace that was named; empty for all of them.
func (n *namespaces) list() []string {
	if n.one == "" {
		return nil
	}
	return []string{n.one}
}

// oneOrDefault is the namespace that was named, else the one that is meant then.
func (n *namespaces) oneOrDefault() string {
	return cmp.Or(n.one, n.fallback, defaultNamespace)
}

// where says in an error where something was looked for.
func (n *namespaces) where() string {
	if n.all {
		return " in any namespace"
	}
	return fmt.Sprintf(" in namespace %q", n.oneOrDefault())
}
