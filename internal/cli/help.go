package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// Live is the annotation of commands that know nothing but a live cluster.
const Live = "kubectl-gc.io/live"

// text is a text of help without the indentation that it has in the source. Its
// lines stay as they are written: they fit into 80 columns.
func text(raw string) string {
	lines := strings.Split(strings.TrimSpace(raw), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return strings.Join(lines, "\n")
}

// usage is cobra's usage without the flags that every command has: they are many,
// they are kubectl's, and one command lists them.
const usage = `Usage:{{if .Runnable}}
  {{.UseLine}}{{end}}{{if .HasAvailableSubCommands}}
  {{.CommandPath}} [command]{{end}}{{if .HasExample}}

Examples:
{{.Example}}{{end}}{{if .HasAvailableSubCommands}}

Available Commands:{{range .Commands}}{{if (or .IsAvailableCommand (eq .Name "help"))}}
  {{rpad .Name .NamePadding }} {{.Short}}{{end}}{{end}}{{end}}{{if .HasAvailableLocalFlags}}

Flags:
{{.LocalNonPersistentFlags.FlagUsages | trimTrailingWhitespaces}}{{end}}
{{if .HasAvailableSubCommands}}
Use "{{.CommandPath}} [command] --help" for more information about a command.{{end}}
Use "{{.Root.CommandPath}} options" for the flags that choose a cluster; every command has them.
`

// newOptions is the command that lists the flags of all commands.
func newOptions(streams genericiooptions.IOStreams) *cobra.Command {
	return &cobra.Command{
		Use:     "options",
		Short:   "List the flags that choose a cluster and a user",
		Long:    "List the flags that choose a cluster and a user, as those of kubectl. Every command has them.",
		Example: `  kubectl gc options`,
		Args:    noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			_, err := fmt.Fprint(streams.Out, c.Root().PersistentFlags().FlagUsages())
			return err
		},
	}
}
