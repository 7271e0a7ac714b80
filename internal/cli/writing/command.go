package writing

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// commandLine returns the command that executes a plan: the given one, with the flags in instead
// replacing --dry-run, --confirm and their own values. For `dry-run delete` it is `delete`, without
// flags that only `dry-run delete` has.
func commandLine(c *cobra.Command, args []string, instead ...string) string {
	does := executor(c)
	words := strings.Fields(does.CommandPath())
	for _, a := range args {
		words = append(words, report.ShellWord(a))
	}
	c.Flags().Visit(func(f *pflag.Flag) {
		value := f.Value.String()
		switch {
		case f.Name == "dry-run", f.Name == "confirm", replaced(f.Name, instead), ofQuestion(f), does != c && does.Flag(f.Name) == nil:
			return
		case f.Name == "token", f.Name == "password":
			words = append(words, "--"+f.Name+"=…") // keeps secrets out of logs
			return
		}
		if value == "true" && f.NoOptDefVal == "true" {
			words = append(words, "--"+f.Name)
			return
		}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			value = strings.Join(list.GetSlice(), ",")
		}
		words = append(words, "--"+f.Name+"="+report.ShellWord(value))
	})
	return strings.Join(append(words, instead...), " ")
}

// executor returns the command that executes what c shows: c itself, or the real command for one of
// `dry-run`.
func executor(c *cobra.Command) *cobra.Command {
	if c.HasParent() && c.Parent().Name() == "dry-run" {
		if does, _, err := c.Root().Find([]string{c.Name()}); err == nil {
			return does
		}
	}
	return c
}

func replaced(name string, flags []string) bool {
	return slices.ContainsFunc(flags, func(f string) bool { return strings.HasPrefix(f, "--"+name+"=") })
}

// questionFlag marks flags that select what to put into a backup, and do not apply to the undo of
// that backup.
const questionFlag = "kubectl-gc.io/question"

// NotOfBackup marks flags that select what an undo saves in a backup. The printed command names the
// backup and omits them. It panics if there is no such flag.
func NotOfBackup(f *pflag.FlagSet, names ...string) {
	for _, name := range names {
		if err := f.SetAnnotation(name, questionFlag, nil); err != nil {
			panic(err) // otherwise the printed command would be refused
		}
	}
}

func ofQuestion(f *pflag.Flag) bool {
	_, ok := f.Annotations[questionFlag]
	return ok
}
