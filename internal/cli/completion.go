package cli

import (
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-gc/kubectl-gc/internal/cli/command"
)

// newCompletion returns the command that prints completion scripts.
func newCompletion(streams genericiooptions.IOStreams) *cobra.Command {
	c := group(&cobra.Command{
		Use:   "completion",
		Short: "Have the tab key complete commands, types, names and flags",
		Long: text(`
			Have the tab key complete commands, flags, types, names, namespaces and finalizers,
			from the cluster, or from the dump of --from.

			kubectl asks a plugin to complete its words by calling kubectl_complete-gc. That is
			a link to kubectl-gc, on Windows a copy, in a directory of PATH. The completion of
			kubectl itself has to be on, see kubectl completion --help.

			Who calls kubectl-gc by itself loads a script of the shell instead.`),
		Example: templates.Examples(`
			# Add this to ~/.bashrc
			source <(kubectl-gc completion bash)`),
	})
	scripts := map[string]func(root *cobra.Command) error{
		"bash":       func(root *cobra.Command) error { return root.GenBashCompletionV2(streams.Out, true) },
		"zsh":        func(root *cobra.Command) error { return root.GenZshCompletion(streams.Out) },
		"fish":       func(root *cobra.Command) error { return root.GenFishCompletion(streams.Out, true) },
		"powershell": func(root *cobra.Command) error { return root.GenPowerShellCompletionWithDesc(streams.Out) },
	}
	for _, shell := range []struct{ name, load string }{
		{"bash", "source <(kubectl-gc completion bash)"},
		{"zsh", "source <(kubectl-gc completion zsh)"},
		{"fish", "kubectl-gc completion fish | source"},
		{"powershell", "kubectl-gc completion powershell | Out-String | Invoke-Expression"},
	} {
		c.AddCommand(&cobra.Command{
			Use:     shell.name,
			Short:   "Print the script for " + shell.name + ", for kubectl-gc called by itself",
			Long:    "Print the script that has " + shell.name + " complete kubectl-gc called by itself. For kubectl gc see kubectl gc completion --help.\n\nLoad it with:\n\n  " + shell.load,
			Example: "  kubectl-gc completion " + shell.name,
			Args:    command.NoArguments,
			RunE:    func(c *cobra.Command, _ []string) error { return scripts[shell.name](c.Root()) },
		})
	}
	return c
}
