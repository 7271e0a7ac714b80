package command

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// NewConfig returns the flags of kubectl that select a cluster and a user. Commands with a
// namespace add that flag themselves.
func NewConfig() *genericclioptions.ConfigFlags {
	config := genericclioptions.NewConfigFlags(true)
	config.Namespace = nil
	return config
}

// Connection returns the given flags that select a cluster and a user. Every printed command has them.
func Connection(c *cobra.Command) report.Connection {
	known := pflag.NewFlagSet("", pflag.ContinueOnError)
	NewConfig().AddFlags(known)
	var flags report.Connection
	c.Flags().Visit(func(f *pflag.Flag) {
		if known.Lookup(f.Name) != nil {
			flags = append(flags, FlagWords(f)...)
		}
	})
	return flags
}

// FlagWords returns a flag with its value, as it is typed. A flag that does not split its value at
// commas, such as --as-group, is repeated.
func FlagWords(f *pflag.Flag) []string {
	name, values := "--"+f.Name, []string{f.Value.String()}
	switch list, several := f.Value.(pflag.SliceValue); {
	case f.Name == "token", f.Name == "password":
		return []string{name + "=…"} // keeps secrets out of logs
	case values[0] == "true" && f.NoOptDefVal == "true":
		return []string{name}
	case several && f.Value.Type() == "stringArray":
		values = list.GetSlice()
	case several:
		values[0] = strings.Join(list.GetSlice(), ",")
	}
	words := make([]string, len(values))
	for i, value := range values {
		words[i] = name + "=" + report.ShellWord(value)
	}
	return words
}
