package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/internal/cli/command"
)

// Live is the annotation of commands that work only on a live cluster.
const Live = "kubectl-gc.io/live"

// text removes the indentation from a help text. Its lines fit into 80 columns and are not wrapped.
func text(raw string) string {
	lines := strings.Split(strings.TrimSpace(raw), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return strings.Join(lines, "\n")
}

// usageTemplate is cobra's usage without the persistent flags. They are many and known from
// kubectl, and the command options lists them.
const usageTemplate = `Usage:{{if .Runnable}}
  {{.UseLine}}{{end}}{{if .HasAvailableSubCommands}}
  {{.CommandPath}} [command]{{end}}{{if gt (len .Aliases) 0}}

Aliases:
  {{.NameAndAliases}}{{end}}{{if .HasExample}}

Examples:
{{.Example}}{{end}}{{if .HasAvailableSubCommands}}{{$cmds := .Commands}}{{if eq (len .Groups) 0}}

Available Commands:{{range $cmds}}{{if (or .IsAvailableCommand (eq .Name "help"))}}
  {{rpad .Name .NamePadding }} {{.Short}}{{end}}{{end}}{{else}}{{range $group := .Groups}}

{{.Title}}{{range $cmds}}{{if (and (eq .GroupID $group.ID) (or .IsAvailableCommand (eq .Name "help")))}}
  {{rpad .Name .NamePadding }} {{.Short}}{{end}}{{end}}{{end}}{{end}}{{end}}{{if .HasAvailableLocalFlags}}

Flags:
{{.LocalNonPersistentFlags.FlagUsages | trimTrailingWhitespaces}}{{end}}
{{if .HasAvailableSubCommands}}
Use "{{.CommandPath}} [command] --help" for more information about a command.{{end}}
Use "{{.Root.CommandPath}} options" for the flags that choose a cluster, and rare ones.
`

// commandGroups are the groups of commands in the help.
var commandGroups = []*cobra.Group{
	{ID: "see", Title: "See what would happen, and why:"},
	{ID: "find", Title: "Find what is wrong:"},
	{ID: "write", Title: "Delete and bring back, after a plan:"},
	{ID: "keep", Title: "Dumps, and running in a cluster:"},
	{ID: "other", Title: "Other commands:"},
}

// grouped lists the commands of each group.
var grouped = map[string][]string{
	"see":   {"dry-run", "explain", "graph", "risk"},
	"find":  {"stuck", "lost", "check", "doctor"},
	"write": {"delete", "collect", "remove-finalizer", "undo"},
	"keep":  {"snapshot", "controller", "rbac"},
}

// meant maps commands to words that users of kubectl and its plugins may type for them.
var meant = map[string][]string{
	"dry-run":          {"plan", "preview", "simulate", "diff"},
	"explain":          {"describe", "get", "owner", "owners", "who"},
	"graph":            {"get", "lineage", "list", "owner", "owners"},
	"stuck":            {"terminating", "hanging", "wait"},
	"lost":             {"history", "deleted", "gone", "blame", "who"},
	"check":            {"lint", "verify", "orphans"},
	"delete":           {"rm", "remove", "kill"},
	"collect":          {"prune", "clean", "cleanup", "run"},
	"remove-finalizer": {"finalizer", "finalizers", "patch", "edit", "unlock"},
	"undo":             {"restore", "rollback", "apply", "undelete", "revert", "recover", "backups", "history"},
	"snapshot":         {"dump", "backup", "export"},
}

// commandsFor returns the sorted commands that a word may mean.
func commandsFor(word string) []string {
	var names []string
	for name, words := range meant {
		if slices.Contains(words, strings.ToLower(word)) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// sortIntoGroups assigns every command to its group, or to the group other.
func sortIntoGroups(root *cobra.Command) {
	for _, c := range root.Commands() {
		c.GroupID, c.SuggestFor = "other", meant[c.Name()]
		for id, names := range grouped {
			if slices.Contains(names, c.Name()) {
				c.GroupID = id
			}
		}
	}
	root.SetHelpCommandGroupID("other")
}

// insteadOf returns the alternative to a flag of other programs; empty if there is none.
func insteadOf(c *cobra.Command, unknown *pflag.NotExistError) string {
	if unknown == nil || c.Flag("confirm") == nil {
		return ""
	}
	switch unknown.GetSpecifiedName() {
	case "y", "yes", "assume-yes", "auto-approve", "no-confirm":
		return "answer the question, or give --confirm with the digest that --dry-run prints"
	case "i", "interactive":
		return "you are always asked"
	case "l", "selector":
		if c.Name() == "undo" {
			return "a backup is restored completely"
		}
	}
	return ""
}

// flagError explains a wrong flag and suggests similar ones. If an unknown command precedes the
// flag, it reports that command.
func flagError(c *cobra.Command, err error) error {
	if words := c.Flags().Args(); c.HasSubCommands() && len(words) > 0 {
		return unknownCommand(c, words[0])
	}
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		if _, few := invalid.GetFlag().Value.(*command.Choice); few {
			return command.Errorf(c, "--%s=%s: %w", invalid.GetFlag().Name, invalid.GetValue(), invalid.Unwrap())
		}
	}
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if instead := insteadOf(c, unknown); instead != "" {
		return command.Errorf(c, "%w: %s", err, instead)
	}
	if !ok || len(unknown.GetSpecifiedName()) < 2 {
		return command.Errorf(c, "%w", err)
	}
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden || command.IsUnlisted(f) {
			names = append(names, f.Name)
		}
	})
	near := command.Nearest(unknown.GetSpecifiedName(), names)
	for i := range near {
		near[i] = "--" + near[i]
	}
	return command.Errorf(c, "%w%s", err, command.DidYouMean(near))
}

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
	eachCommand(top, func(c *cobra.Command) {
		command.UnlistedOf(c).VisitAll(func(f *pflag.Flag) {
			m := meaning{f.Name, f.Usage}
			if flags[m] == nil {
				found, flags[m] = append(found, m), f
			}
			commands[m] = append(commands[m], strings.TrimPrefix(c.CommandPath(), c.Root().CommandPath()+" "))
		})
	})
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
