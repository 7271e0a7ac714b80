package usage

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// unlisted is the annotation of a rarely used flag.
const unlisted = "kubectl-gc.io/unlisted"

// Unlist hides flags in the help of a command, so that common flags stand out. The command still
// accepts them, and `kubectl gc options` lists them.
func Unlist(f *pflag.FlagSet, names ...string) {
	for _, name := range names {
		flag := f.Lookup(name)
		flag.Hidden = true
		_ = f.SetAnnotation(name, unlisted, nil) // the flag was just found
	}
}

// IsUnlisted reports whether Unlist has hidden a flag.
func IsUnlisted(flag *pflag.Flag) bool {
	_, ok := flag.Annotations[unlisted]
	return ok
}

// UnlistedOf returns visible copies of the unlisted flags of a command.
func UnlistedOf(c *cobra.Command) *pflag.FlagSet {
	found := pflag.NewFlagSet(c.Name(), pflag.ContinueOnError)
	c.LocalFlags().VisitAll(func(flag *pflag.Flag) {
		if IsUnlisted(flag) {
			shown := *flag
			shown.Hidden = false
			found.AddFlag(&shown)
		}
	})
	return found
}
