// Package writing is what the commands that write have in common: the plan is shown,
// guarded, said yes to, carried out, and what became of it is the exit code.
package writing

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/internal/apply"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/exit"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/output"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/source"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/usage"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/version"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/policy"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// Writing is what the commands that write have in common: the confirmation, the
// backup, and how they answer.
type Writing struct {
	Confirm
	maxDeletes    int
	allow         []string
	Policy        policy.Policy
	backupDir     string
	noBackup      bool
	backupSecrets bool
}

// AddFlags adds those of every command that writes.
func (w *Writing) AddFlags(f *pflag.FlagSet) {
	w.Confirm.AddFlags(f)
	f.IntVar(&w.maxDeletes, "max-deletes", policy.DefaultMaxDeletes, "Refuse a plan that deletes more objects than this, all of it.")
	f.StringSliceVar(&w.allow, "allow-protected", nil,
		"Treat the objects of this protected kind as any other: Namespace, PersistentVolumeClaim, …")
	f.StringVar(&w.backupDir, "backup-dir", "", "Where backup and journal go (default: kubectl-gc/backups in $XDG_STATE_HOME or ~/.local/state).")
	f.BoolVar(&w.noBackup, "no-backup", false, "Keep no copy of what is deleted or changed. The journal is written all the same.")
	f.BoolVar(&w.backupSecrets, "backup-secrets", false, "Keep copies of Secrets, too, as plain text in files that only you can read.")
}

// Check reads the flags.
func (w *Writing) Check(c *cobra.Command) (err error) {
	if w.maxDeletes < 0 {
		return usage.Errorf(c, "--max-deletes=%d: must not be negative", w.maxDeletes)
	}
	if w.Policy.Allow, err = policy.ParseKinds(w.allow); err != nil {
		return usage.Errorf(c, "--allow-protected: %w", err)
	}
	return nil
}

// Directory is where bundles are made.
func (w *Writing) Directory() (string, error) {
	if w.backupDir != "" {
		return w.backupDir, nil
	}
	state := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(state) {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("where backups go: %w: give --backup-dir", err)
		}
		state = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(state, "kubectl-gc", "backups"), nil
}

// Proposal is a plan for the cluster of a world, which is going to be carried out.
type Proposal struct {
	Verb   string
	World  source.World
	Result *plan.Result
	Output *output.Output
	// Steps has the requests shown.
	Steps           bool
	RequireComplete bool
	// Refused says why the command itself refuses the plan; nil if it does not.
	Refused error
	// Notes are what else a person should know before saying yes.
	Notes []string
}

// Sure shows the plan, and returns nil if it may be carried out: if nothing forbids it,
// and whoever is asked says yes. The arguments are those of the command line.
func (w *Writing) Sure(c *cobra.Command, args []string, streams genericiooptions.IOStreams, p Proposal) error {
	document := p.Result.Plan
	refused := p.Refused
	if refused == nil {
		refused = w.refuse(p.World, document)
	}
	if refused != nil {
		document.Digest = "" // nobody can confirm it
	}
	if p.Output.ForPeople() || w.OnlyShows() {
		if err := p.Output.ShowPlan(c, streams.Out, p.World.Snapshot, document, p.Steps); err != nil {
			return err
		}
	}
	if err := exit.UnlessComplete(p.RequireComplete, document.Complete); err != nil {
		return err
	}
	if refused != nil {
		return refused
	}
	id, err := p.World.Client.Identity(c.Context())
	if err != nil {
		return err
	}
	q := question(p.Verb, id, document)
	q.Notes = append(w.notes(document), p.Notes...)
	return w.Ask(c, args, streams, q)
}

// CarryOut runs what was said yes to, and says what became of it.
func (w *Writing) CarryOut(c *cobra.Command, o *output.Output, streams genericiooptions.IOStreams, do func(apply.Options) (*report.Run, error)) error {
	Outlive()
	dir, err := w.Directory()
	if err != nil {
		return err
	}
	tell, done := tellRun(c, streams.ErrOut)
	run, err := do(apply.Options{
		Tool: version.String(), Backup: dir, Unsaved: w.noBackup, Policy: w.Policy, Secrets: w.backupSecrets, Tell: tell, Now: time.Now,
	})
	done()
	return summary(c, o, streams, run, err)
}
