package cli

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
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
func (k *waiting) from(c *cobra.Command, s *source) error {
	if k.at != "" && s.live() {
		return usageErrorf(c, "--at is about dumps: give one with --from")
	}
	s.evidence = true
	return nil
}

// moment is when the world was looked at, in seconds since 1970; 0 when not known.
func (k *waiting) moment(c *cobra.Command, w world) (int64, error) {
	if k.at == "" {
		return w.takenAt(), nil
	}
	at, err := secondsOf(k.at)
	if err != nil {
		return 0, usageErrorf(c, "--at=%s: must be a time as 2006-01-02T15:04:05Z", k.at)
	}
	return at, nil
}
