package cli

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-gc/kubectl-gc/internal/cli/usage"
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

// usageTemplate is cobra's usage without the flags that every command has: they are many,
// they are kubectl's, and one command lists them.
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

// commandGroups are the groups of the commands, as help lists them.
var commandGroups = []*cobra.Group{
	{ID: "see", Title: "See what would happen, and why:"},
	{ID: "find", Title: "Find what is wrong:"},
	{ID: "write", Title: "Delete and bring back, after a plan:"},
	{ID: "keep", Title: "Dumps, and running in a cluster:"},
	{ID: "other", Title: "Other commands:"},
}

// grouped says which commands are in which group.
var grouped = map[string][]string{
	"see":   {"dry-run", "explain", "graph", "risk"},
	"find":  {"stuck", "lost", "check", "doctor"},
	"write": {"delete", "collect", "remove-finalizer", "undo"},
	"keep":  {"snapshot", "controller", "rbac"},
}

// meant says which command is meant by a word that users of kubectl and its plugins know.
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

// commandsFor are the commands that are meant by a word, in their order.
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

// sortIntoGroups gives every command its group; what has none is among the others.
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

// insteadOf is what there is instead of a flag that other programs have; empty for a flag
// that nobody would miss.
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
			return "all that a backup holds comes back"
		}
	}
	return ""
}

// flagError says what is wrong with a flag, and which one could be meant. Behind a word
// that is no command, what is wrong is that word.
func flagError(c *cobra.Command, err error) error {
	if words := c.Flags().Args(); c.HasSubCommands() && len(words) > 0 {
		return unknownCommand(c, words[0])
	}
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		if _, few := invalid.GetFlag().Value.(*usage.Choice); few {
			return usage.Errorf(c, "--%s=%s: %w", invalid.GetFlag().Name, invalid.GetValue(), invalid.Unwrap())
		}
	}
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if instead := insteadOf(c, unknown); instead != "" {
		return usage.Errorf(c, "%w: %s", err, instead)
	}
	if !ok || len(unknown.GetSpecifiedName()) < 2 {
		return usage.Errorf(c, "%w", err)
	}
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden || usage.IsUnlisted(f) {
			names = append(names, f.Name)
		}
	})
	near := usage.Nearest(unknown.GetSpecifiedName(), names)
	for i := range near {
		near[i] = "--" + near[i]
	}
	return usage.Errorf(c, "%w%s", err, usage.DidYouMean(near))
}
