package docs

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/internal/cli"
	"github.com/kubectl-gc/kubectl-gc/test/docs/markdown"
)

// needsCluster reports whether a call is of something that no dump answers.
func needsCluster(c markdown.Call) bool {
	args, ours := c.OfProgram()
	if !ours {
		return c[0] == "kubectl"
	}
	command, rest, err := find(args)
	if err != nil || command.ParseFlags(rest) != nil {
		return false
	}
	from := command.Flag("from")
	return command.Annotations[cli.Live] != "" || from != nil && !from.Changed
}

// parses says what is wrong with the command, its flags or its arguments.
func parses(c markdown.Call) error {
	args, ours := c.OfProgram()
	if !ours {
		return builds(c)
	}
	if len(args) > 0 && args[0] == cobra.ShellCompRequestCmd {
		args = args[1:] // what a shell asks is about a command line
	}
	command, rest, err := find(args)
	if err != nil {
		return err
	}
	if err := command.ParseFlags(rest); errors.Is(err, pflag.ErrHelp) {
		return nil
	} else if err != nil {
		return fmt.Errorf("%s: %w", command.CommandPath(), err)
	}
	return command.ValidateArgs(command.Flags().Args())
}

// find is the command that the arguments call, and what is left of them.
func find(args []string) (*cobra.Command, []string, error) {
	command, rest, err := tree().Find(args)
	if err == nil && command.HasAvailableSubCommands() && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") {
		err = fmt.Errorf("%s: there is no command %q", command.CommandPath(), rest[0])
	}
	return command, rest, err
}

// tree is the program's commands, which nothing was parsed with.
func tree() *cobra.Command {
	return cli.NewCommand("kubectl gc", genericiooptions.NewTestIOStreamsDiscard())
}
