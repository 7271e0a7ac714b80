// Package cli is the command line: commands, flags, targets and exit codes. Each command reads a
// source, has it simulated or explained, and prints the answer. Objects are named as for kubectl
// (targets.go). Writing commands share guards, confirmation and execution (writing.go). It contains no
// rules of deletion.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-gc/kubectl-gc/internal/cli/command"
	"github.com/kubectl-gc/kubectl-gc/internal/render"
)

// Main runs a command line and returns the exit code. args[0] is the name of the program.
func Main(ctx context.Context, args []string, streams genericiooptions.IOStreams) int {
	typed := args[1:]
	if asked, ok := completionArgs(args[0], typed); ok {
		typed, streams.ErrOut = asked, io.Discard
	}
	root := NewCommand(displayName(args[0]), streams)
	root.SetArgs(typed)
	ctx, doing := command.Recorded(ctx)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return command.OK
	}
	code := command.ExitCode(ctx, err)
	if message := doing.MessageOf(code, err); message != "" {
		fmt.Fprintln(streams.ErrOut, "error: "+render.EscapeLines(message))
	}
	return code
}

// displayName returns `kubectl gc` if kubectl runs us, else the program's name.
func displayName(program string) string {
	base := strings.TrimSuffix(filepath.Base(program), ".exe")
	base = strings.Replace(base, completionProgram, "kubectl-", 1)
	if command, ok := strings.CutPrefix(base, "kubectl-"); ok {
		return "kubectl " + command
	}
	return base
}

// NewCommand returns the command tree. name is the program in usage lines.
func NewCommand(name string, streams genericiooptions.IOStreams) *cobra.Command {
	root := group(&cobra.Command{
		Use:   "kubectl-gc",
		Short: "See what a delete takes before you delete, and why things stay or go",
		Long: text(`
			See what a delete takes before you delete, and why things stay or go.

			kubectl gc runs the garbage collector of Kubernetes over a copy of what it
			sees, and shows what would be deleted, orphaned, kept or blocked, and why. It
			sees the cluster of your context, of which it reads metadata, or a dump (--from):
			a kubectl list, a cluster-info dump, a sonobuoy tarball, a must-gather, a support
			bundle, or its own snapshot. No kubeconfig is read beside a dump.

			What it could not see is unknown, never absent.`),
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: name},
		SilenceErrors: true,
		SilenceUsage:  true,
	})
	root.SetIn(streams.In)
	root.SetOut(streams.Out)
	root.SetErr(streams.ErrOut)
	root.SetFlagErrorFunc(flagError)
	config := command.NewConfig()
	config.AddFlags(root.PersistentFlags())
	root.PersistentFlags().Lookup("cache-dir").DefValue = "$HOME/.kube/cache" // the same on every machine
	command.AddProgressFlag(root.PersistentFlags())
	root.SetUsageTemplate(usageTemplate)
	root.Version = command.Version()
	root.SetVersionTemplate("kubectl-gc {{.Version}}\n")
	root.Flags().Bool("version", false, "Print the version.") // cobra's own flag has a shorthand that kubectl uses otherwise
	root.AddGroup(commandGroups...)
	root.AddCommand(
		newDryRun(streams, config),
		newExplain(streams, config),
		newStuck(streams, config),
		newLost(streams, config),
		newCollect(streams, config),
		newDelete(streams, config),
		newRemoveFinalizer(streams, config),
		newUndo(streams, config),
		newCheck(streams, config),
		newDoctor(streams, config),
		newGraph(streams, config),
		newRisk(streams, config),
		newSnapshot(streams, config),
		newController(streams, config),
		newRBAC(streams, config),
		newCompletion(streams),
		newOptions(streams),
		newVersion(streams),
	)
	sortIntoGroups(root)
	registerCompletions(root, config)
	return root
}

// unknownCommand returns the error for an unknown command, with suggestions.
func unknownCommand(c *cobra.Command, arg string) error {
	const mostLetters = 2
	c.SuggestionsMinimumDistance = mostLetters
	near := c.SuggestionsFor(arg)
	if known := commandsFor(arg); len(known) > 0 && !c.HasParent() {
		near = known // undelete is not delete
	}
	return command.Errorf(c, "%w", errors.New(fmt.Sprintf("unknown command %q", arg)+command.DidYouMean(near)))
}

// group makes a command that only has subcommands.
func group(c *cobra.Command) *cobra.Command {
	c.Args = cobra.ArbitraryArgs
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			return unknownCommand(c, args[0])
		}
		return c.Help()
	}
	return c
}

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
