package usage

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// unlisted is the annotation of a flag that few need.
const unlisted = "kubectl-gc.io/unlisted"

// Unlist leaves flags out of the help of a command, so that those that its users need stand
// out. The command accepts them all the same, and `kubectl gc options` lists them.
func Unlist(f *pflag.FlagSet, names ...string) {
	for _, name := range names {
		flag := f.Lookup(name)
		flag.Hidden = true
		_ = f.SetAnnotation(name, unlisted, nil) // it was found just now
	}
}

// IsUnlisted reports whether a flag is left out of help because few need it.
func IsUnlisted(flag *pflag.Flag) bool {
	_, ok := flag.Annotations[unlisted]
	return ok
}

// UnlistedOf are copies of the flags of a command that few need, as help shows flags.
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
