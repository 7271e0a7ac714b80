package writing

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"
)

// BackupDir is the directory of backups; empty for the default.
type BackupDir string

// AddFlag adds --backup-dir.
func (d *BackupDir) AddFlag(f *pflag.FlagSet) {
	f.StringVar((*string)(d), "backup-dir", "", "Where backups are (default: kubectl-gc/backups in $XDG_STATE_HOME or ~/.local/state).")
}

// NameOf returns the argument for undo that finds a backup: its name, or its path with a
// non-default directory.
func (d BackupDir) NameOf(path string) string {
	if d == "" {
		return filepath.Base(path)
	}
	return path
}

// Path returns the directory.
func (d BackupDir) Path() (string, error) {
	if d != "" {
		return string(d), nil
	}
	state := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(state) {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("where backups are: %w: give --backup-dir", err)
		}
		state = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(state, "kubectl-gc", "backups"), nil
}
