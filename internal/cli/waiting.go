package cli

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-gc/kubectl-gc/internal/cli/source"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/usage"
)

// waiting is how commands judge what objects that are being deleted wait for.
type waiting struct {
	// at is the flag that says when the dump was taken.
	at string
}

func (k *waiting) addFlags(f *pflag.FlagSet) {
	f.StringVar(&k.at, "at", "", "When the dump was taken, as 2006-01-02T15:04:05Z, if it does not say so itself: tells how long deletions have lasted.")
}

// from has a dump read so that it serves as evidence, too.
func (k *waiting) from(c *cobra.Command, s *source.Source) error {
	if k.at != "" && s.Live() {
		return usage.Errorf(c, "--at is about dumps: give one with --from")
	}
	s.Evidence = true
	return nil
}

// moment is when the world was looked at, in seconds since 1970; 0 when not known.
func (k *waiting) moment(c *cobra.Command, w source.World) (int64, error) {
	if k.at == "" {
		return w.TakenAt(), nil
	}
	at, err := source.SecondsOf(k.at)
	if err != nil {
		return 0, usage.Errorf(c, "--at=%s: must be a time as 2006-01-02T15:04:05Z", k.at)
	}
	return at, nil
}
