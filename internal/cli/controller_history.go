package cli

import (
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-gc/kubectl-gc/internal/cli/usage"
	"github.com/kubectl-gc/kubectl-gc/internal/history/kept"
)

// historyFlags say which history a controller keeps.
type historyFlags struct {
	dir, key string
	hours    int
	size     usage.Size
	secrets  bool
}

func (h *historyFlags) addFlags(f *pflag.FlagSet) {
	h.size = 1_000_000_000
	f.StringVar(&h.dir, "history", "", "Keep the history of the cluster in this directory, for lost and undo --from: the last state of whatever is deleted.")
	f.IntVar(&h.hours, "history-hours", 24, "Remove history that is older.")
	f.Var(&h.size, "history-size", "Remove the oldest history beyond this size.")
	h.addContentFlags(f)
}

// addContentFlags adds those that say how a history is kept, wherever that is.
func (h *historyFlags) addContentFlags(f *pflag.FlagSet) {
	addKeyFlag(f, &h.key, "Encrypt the history with the key in this file: 32 bytes, or these as base64.")
	f.BoolVar(&h.secrets, "history-secrets", false, "Keep the content of Secrets in the history, too.")
}

// addKeyFlag adds the one that names the key of a history.
func addKeyFlag(f *pflag.FlagSet, key *string, what string) {
	f.StringVar(key, "history-key", "", what)
}

// keeping checks the flags.
func (h *historyFlags) keeping(c *cobra.Command) (kept.Keeping, error) {
	for _, name := range []string{"history-hours", "history-size", "history-key", "history-secrets"} {
		if h.dir == "" && c.Flags().Changed(name) {
			return kept.Keeping{}, usage.Errorf(c, "--%s goes with --history", name)
		}
	}
	if h.hours < 1 || h.size < 1_000_000 {
		return kept.Keeping{}, usage.Errorf(c, "the history needs --history-hours=1 and --history-size=1M at least")
	}
	key, err := kept.ReadKey(h.key)
	if err != nil {
		return kept.Keeping{}, usage.Errorf(c, "--history-key: %w", err)
	}
	return kept.Keeping{Dir: h.dir, Key: key, Secrets: h.secrets, Age: time.Duration(h.hours) * time.Hour, Size: int64(h.size)}, nil
}
