// Package writing contains what the writing commands have in common: showing the plan, guards,
// confirmation, execution and exit codes.
package writing

import (
	"cmp"
	"slices"
	"strings"
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

// Writing is the common part of the writing commands: confirmation, guards and backup.
type Writing struct {
	Confirm
	// Unlock handles names of --unlock that are no protected kind, and returns false for unknown
	// ones; Unlocks lists them. Both are nil for a command without such names.
	Unlock  func(name string) bool
	Unlocks []string
	Policy  policy.Policy

	maxDeletes    int
	unlock        []string
	unlocked      []string // names of the command itself, for the digest
	unseen        bool     // content that was not read may be deleted
	backup        BackupDir
	noBackup      bool
	backupSecrets bool
	// undoes is the text before the command that restores what the run deleted.
	undoes string
}

// AddFlags adds the flags of every writing command.
func (w *Writing) AddFlags(f *pflag.FlagSet) {
	w.Confirm.AddFlags(f)
	w.AddGuardFlags(f)
	w.backup.AddFlag(f)
	usage.Unlist(f, "backup-dir")
}

// AddGuardFlags adds the flags that change guards or the backup, and thereby the digest.
func (w *Writing) AddGuardFlags(f *pflag.FlagSet) {
	f.IntVar(&w.maxDeletes, "max-deletes", policy.DefaultMaxDeletes, "Refuse a plan that deletes more objects than this, all of it.")
	f.StringSliceVar(&w.unlock, "unlock", nil, "Delete what is protected: "+strings.Join(w.unlocks(), ", ")+". The refusal says which.")
	f.BoolVar(&w.noBackup, "no-backup", false, "Keep no copy of what is deleted or changed. The journal is still written.")
	f.BoolVar(&w.backupSecrets, "backup-secrets", false, "Keep copies of Secrets, too, as plain text in files that only you can read.")
	usage.Unlist(f, "no-backup", "backup-secrets")
}

// unlocks returns the names of --unlock for the help, without rarely deleted kinds.
func (w *Writing) unlocks() []string {
	const usual = 5
	return append(append(policy.KindNames()[:usual], policy.UnlockHelm, policy.UnlockUnseen, "…"), w.Unlocks...)
}

// Check validates the flags.
func (w *Writing) Check(c *cobra.Command) error {
	if w.maxDeletes < 0 {
		return usage.Errorf(c, "--max-deletes=%d: must not be negative", w.maxDeletes)
	}
	var kinds, unknown []string
	for _, name := range w.unlock {
		switch name = strings.ToLower(name); {
		case name == policy.UnlockHelm:
			w.Policy.Helm = true
		case name == policy.UnlockUnseen:
			w.unseen = true
		case w.Unlock != nil && w.Unlock(name):
			w.unlocked = append(w.unlocked, "unlock="+name)
		case !policy.IsKind(name):
			unknown = append(unknown, name)
		default:
			kinds = append(kinds, name)
		}
	}
	slices.Sort(w.unlocked)
	w.unlocked = slices.Compact(w.unlocked)
	if len(unknown) > 0 {
		known := append(append(policy.KindNames(), policy.UnlockHelm, policy.UnlockUnseen), w.Unlocks...)
		return usage.Errorf(c, "--unlock=%s: nothing of that name is protected; what is: %s", strings.Join(unknown, ","), strings.Join(known, ", "))
	}
	var err error
	w.Policy.Allow, err = policy.ParseKinds(kinds)
	return err
}

// Proposal is a plan that is about to be executed.
type Proposal struct {
	Verb   string
	World  source.World
	Result *plan.Result
	Output *output.Output
	// Steps shows the requests.
	Steps           bool
	RequireComplete bool
	// Obstacles are why the command itself refuses the plan.
	Obstacles []report.Obstacle
	// Removes is the number of finalizers to remove.
	Removes int
	// FailOn returns the error of a plan that the user does not want; it may be nil.
	FailOn func(*report.Plan) error
	// Rehearse sends each request as a dry run.
	Rehearse func() ([]report.Answer, error)
	// Notes are additional notes for the confirmation.
	Notes []string
}

// shown ends a command that only shows a plan.
var shown = &exit.Error{Code: exit.OK}

// Sure shows the plan, and returns nil if it may be executed: nothing forbids it, and it is
// confirmed. args are those of the command line.
func (w *Writing) Sure(c *cobra.Command, args []string, streams genericiooptions.IOStreams, p Proposal) error {
	document := p.Result.Plan
	obstacles := slices.Concat(p.Obstacles, w.obstacles(p.World, document))
	if len(obstacles) > 0 {
		document.Digest = "" // it can't be confirmed
	}
	live := p.World.Client != nil
	if err := w.showPlan(c, streams, p, live); err != nil {
		return err
	}
	if p.FailOn != nil {
		if err := p.FailOn(document); err != nil {
			return err
		}
	}
	if err := exit.UnlessComplete(p.RequireComplete, document.Complete); err != nil {
		return err
	}
	var tried error
	if w.Rehearses() {
		answers, err := p.Rehearse()
		if err != nil {
			return err
		}
		tried = Rehearsed(streams.ErrOut, answers)
	}
	if len(obstacles) > 0 {
		return cmp.Or(w.refuse(c, args, streams, obstacles, live), tried, error(shown))
	}
	if tried != nil || !live {
		return cmp.Or(tried, error(shown))
	}
	if w.OnlyShows() {
		return w.show(c, args, streams, document.Digest)
	}
	w.undoes = w.recall(document)
	id, err := p.World.Client.Identity(c.Context())
	if err != nil {
		return err
	}
	q := question(p.Verb, id, document, p.World.Resources)
	q.Removes = p.Removes
	q.Notes = append(w.notes(document), p.Notes...)
	return w.Ask(c, args, streams, q)
}

// showPlan prints the plan if it is the answer. If the answer is a document about the run, the plan
// is printed on stderr for the confirmation.
func (w *Writing) showPlan(c *cobra.Command, streams genericiooptions.IOStreams, p Proposal, live bool) error {
	out, o := streams.Out, *p.Output
	if live && !w.OnlyShows() && !o.AsText() {
		if w.Digest != "" {
			return nil
		}
		out, o.Format = streams.ErrOut, ""
	}
	return o.ShowPlan(c, out, p.World.Snapshot, p.Result.Plan, p.Steps)
}

// CarryOut executes the confirmed plan and reports the result.
func (w *Writing) CarryOut(c *cobra.Command, o *output.Output, streams genericiooptions.IOStreams, do func(apply.Options) (*report.Run, error)) error {
	Outlive()
	dir, err := w.backup.Path()
	if err != nil {
		return err
	}
	tell, done := tellRun(c, streams.ErrOut)
	run, err := do(apply.Options{
		Tool: version.String(), Backup: dir, Unsaved: w.noBackup, Policy: w.Policy, Secrets: w.backupSecrets, Tell: tell, Now: time.Now,
	})
	done()
	return w.summary(c, o, streams, run, err)
}
