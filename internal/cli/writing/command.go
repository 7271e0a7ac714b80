package writing

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// commandLine is the command that carries a plan out: the one that was given, with other
// flags instead of --dry-run, --confirm and those that they replace. `dry-run delete` is
// carried out by `delete`; flags that only say how the plan is shown stay behind.
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
			words = append(words, "--"+f.Name+"=…") // not for a log
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

// executor is the command that does what a command shows: itself, but for those of
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

// questionFlag marks flags that say what is to be found out, and nothing of a backup that was made
// of the answer.
const questionFlag = "kubectl-gc.io/question"

// NotOfBackup marks flags by which an undo finds what to keep in a backup: the command that
// names the backup does without them. It panics where there is no such flag.
func NotOfBackup(f *pflag.FlagSet, names ...string) {
	for _, name := range names {
		if err := f.SetAnnotation(name, questionFlag, nil); err != nil {
			panic(err) // or a command would be printed that is refused
		}
	}
}

func ofQuestion(f *pflag.Flag) bool {
	_, ok := f.Annotations[questionFlag]
	return ok
}
