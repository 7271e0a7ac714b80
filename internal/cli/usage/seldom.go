package usage

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// seldom is the annotation of a flag that few need.
const seldom = "kubectl-gc.io/seldom"

// Seldom leaves flags out of the help of a command, so that those that its users need stand
// out. The command accepts them all the same, and `kubectl gc options` lists them.
func Seldom(f *pflag.FlagSet, names ...string) {
	for _, name := range names {
		flag := f.Lookup(name)
		flag.Hidden = true
		_ = f.SetAnnotation(name, seldom, nil) // it was found just now
	}
}

// IsSeldom reports whether a flag is left out of help because few need it.
func IsSeldom(flag *pflag.Flag) bool {
	_, ok := flag.Annotations[seldom]
	return ok
}

// SeldomOf are copies of the flags of a command that few need, as help shows flags.
func SeldomOf(c *cobra.Command) *pflag.FlagSet {
	found := pflag.NewFlagSet(c.Name(), pflag.ContinueOnError)
	c.LocalFlags().VisitAll(func(flag *pflag.Flag) {
		if IsSeldom(flag) {
			shown := *flag
			shown.Hidden = false
			found.AddFlag(&shown)
		}
	})
	return found
}
