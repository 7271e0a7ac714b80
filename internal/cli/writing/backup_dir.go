package writing

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"
)

// BackupDir is the directory in which backups are made; empty for the usual one.
type BackupDir string

// AddFlag adds --backup-dir.
func (d *BackupDir) AddFlag(f *pflag.FlagSet) {
	f.StringVar((*string)(d), "backup-dir", "", "Where backups are (default: kubectl-gc/backups in $XDG_STATE_HOME or ~/.local/state).")
}

// NameOf is what undo finds a backup by: its name, or its path where backups are not
// where they usually are.
func (d BackupDir) NameOf(path string) string {
	if d == "" {
		return filepath.Base(path)
	}
	return path
}

// Path is where it is.
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
