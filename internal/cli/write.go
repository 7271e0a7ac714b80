package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/internal/apply"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/policy"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// writing is what the commands that write have in common: the confirmation, the
// backup, and how they answer.
type writing struct {
	confirm
	maxDeletes    int
	allow         []string
	policy        policy.Policy
	backupDir     string
	noBackup      bool
	backupSecrets bool
}

func (w *writing) addFlags(f *pflag.FlagSet) {
	w.confirm.addFlags(f)
	f.IntVar(&w.maxDeletes, "max-deletes", policy.DefaultMaxDeletes, "Refuse a plan that deletes more objects than this, all of it.")
	f.StringSliceVar(&w.allow, "allow-protected", nil,
		"Treat the objects of this protected kind as any other: Namespace, PersistentVolumeClaim, …")
	f.StringVar(&w.backupDir, "backup-dir", "", "Where backup and journal go (default: kubectl-gc/backups in $XDG_STATE_HOME or ~/.local/state).")
	f.BoolVar(&w.noBackup, "no-backup", false, "Keep no copy of what is deleted or changed. The journal is written all the same.")
	f.BoolVar(&w.backupSecrets, "backup-secrets", false, "Keep copies of Secrets, too, as plain text in files that only you can read.")
}

// check reads the flags.
func (w *writing) check(c *cobra.Command) (err error) {
	if w.maxDeletes < 0 {
		return usageErrorf(c, "--max-deletes=%d: must not be negative", w.maxDeletes)
	}
	if w.policy.Allow, err = policy.ParseKinds(w.allow); err != nil {
		return usageErrorf(c, "--allow-protected: %w", err)
	}
	return nil
}

// directory is where bundles are made.
func (w *writing) directory() (string, error) {
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

// proposal is a plan for the cluster of a world, which is going to be carried out.
type proposal struct {
	verb   string
	world  world
	result *plan.Result
	output *output
	// steps has the requests shown.
	steps           bool
	requireComplete bool
	// refused says why the command itself refuses the plan; nil if it does not.
	refused error
	// notes are what else a person should know before saying yes.
	notes []string
}

// sure shows the plan, and returns nil if it may be carried out: if nothing forbids it,
// and whoever is asked says yes. The arguments are those of the command line.
func (w *writing) sure(c *cobra.Command, args []string, streams genericiooptions.IOStreams, p proposal) error {
	document := p.result.Plan
	refused := p.refused
	if refused == nil {
		refused = w.refuse(p.world, document)
	}
	if refused != nil {
		document.Digest = "" // nobody can confirm it
	}
	if p.output.forPeople() || w.onlyShows() {
		if err := p.output.showPlan(c, streams.Out, p.world.Snapshot, document, p.steps); err != nil {
			return err
		}
	}
	if err := incomplete(p.requireComplete, document.Complete); err != nil {
		return err
	}
	if refused != nil {
		return refused
	}
	id, err := p.world.client.Identity(c.Context())
	if err != nil {
		return err
	}
	q := question(p.verb, id, document)
	q.Notes = append(w.notes(document), p.notes...)
	return w.ask(c, args, streams, q)
}

// carryOut runs what was said yes to, and says what became of it.
func (w *writing) carryOut(c *cobra.Command, o *output, streams genericiooptions.IOStreams, do func(apply.Options) (*report.Run, error)) error {
	outlive()
	dir, err := w.directory()
	if err != nil {
		return err
	}
	tell, done := tellRun(c, streams.ErrOut)
	run, err := do(apply.Options{
		Tool: version(), Backup: dir, Unsaved: w.noBackup, Policy: w.policy, Secrets: w.backupSecrets, Tell: tell, Now: time.Now,
	})
	done()
	return summary(c, o, streams, run, err)
}
