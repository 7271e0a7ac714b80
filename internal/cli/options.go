package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/internal/cli/usage"
)

// newOptions returns the command that lists the flags missing in the help of commands.
func newOptions(streams genericiooptions.IOStreams) *cobra.Command {
	return &cobra.Command{
		Use:   "options [COMMAND]",
		Short: "List the flags that help leaves out",
		Long: text(`
			List the flags that help leaves out: those that choose a cluster and a user, as those
			of kubectl, which every command has; and those that few need, with the commands that
			have them. With a COMMAND only its own are listed.`),
		Example: "  kubectl gc options\n\n  kubectl gc options stuck",
		RunE: func(c *cobra.Command, args []string) error {
			root := c.Root()
			if len(args) == 0 {
				fmt.Fprintf(streams.Out, "Every command:\n%s", root.PersistentFlags().FlagUsages())
				return showUnlisted(streams.Out, unlistedFlags(root))
			}
			of, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 || of == root {
				return unknownCommand(root, strings.Join(args, " "))
			}
			return showUnlisted(streams.Out, unlistedFlags(of))
		},
	}
}

// unlistedGroup are unlisted flags that the same commands have.
type unlistedGroup struct {
	commands string
	flags    *pflag.FlagSet
}

// unlistedFlags groups the unlisted flags of a command and its subcommands by the commands that
// have them.
func unlistedFlags(top *cobra.Command) []*unlistedGroup {
	type meaning struct{ name, usage string }
	var found []meaning
	flags, commands := map[meaning]*pflag.Flag{}, map[meaning][]string{}
	var visit func(*cobra.Command)
	visit = func(c *cobra.Command) {
		usage.UnlistedOf(c).VisitAll(func(f *pflag.Flag) {
			m := meaning{f.Name, f.Usage}
			if flags[m] == nil {
				found, flags[m] = append(found, m), f
			}
			commands[m] = append(commands[m], strings.TrimPrefix(c.CommandPath(), c.Root().CommandPath()+" "))
		})
		for _, below := range c.Commands() {
			visit(below)
		}
	}
	visit(top)
	var groups []*unlistedGroup
	byCommands := map[string]*unlistedGroup{}
	for _, m := range found {
		who := strings.Join(commands[m], ", ")
		if byCommands[who] == nil {
			byCommands[who] = &unlistedGroup{who, pflag.NewFlagSet(who, pflag.ContinueOnError)}
			groups = append(groups, byCommands[who])
		}
		byCommands[who].flags.AddFlag(flags[m])
	}
	return groups
}

func showUnlisted(out io.Writer, groups []*unlistedGroup) error {
	for _, g := range groups {
		if _, err := fmt.Fprintf(out, "\n%s:\n%s", g.commands, g.flags.FlagUsages()); err != nil {
			return err
		}
	}
	return nil
}
