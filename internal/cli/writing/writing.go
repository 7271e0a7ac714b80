// Package writing is what the commands that write have in common: the plan is shown,
// guarded, said yes to, carried out, and what became of it is the exit code.
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

// Writing is what the commands that write have in common: the confirmation, the
// backup, and how they answer.
type Writing struct {
	Confirm
	// Unlock is told of the names of --unlock that mean no protected kind, and reports
	// whether it knows them; Unlocks lists those. Nil for a command that has none.
	Unlock  func(name string) bool
	Unlocks []string
	Policy  policy.Policy

	maxDeletes    int
	unlock        []string
	unlocked      []string // those that the command knows, for the digest
	unseen        bool     // what was not seen may go, too
	backup        BackupDir
	noBackup      bool
	backupSecrets bool
	// undoes stands before the command that brings back what the run took.
	undoes string
}

// AddFlags adds those of every command that writes.
func (w *Writing) AddFlags(f *pflag.FlagSet) {
	w.Confirm.AddFlags(f)
	w.AddGuardFlags(f)
	w.backup.AddFlag(f)
	usage.Unlist(f, "backup-dir")
}

// AddGuardFlags adds those that change what is guarded or kept, and so the digest.
func (w *Writing) AddGuardFlags(f *pflag.FlagSet) {
	f.IntVar(&w.maxDeletes, "max-deletes", policy.DefaultMaxDeletes, "Refuse a plan that deletes more objects than this, all of it.")
	f.StringSliceVar(&w.unlock, "unlock", nil, "Delete what is protected: "+strings.Join(w.unlocks(), ", ")+". The refusal says which.")
	f.BoolVar(&w.noBackup, "no-backup", false, "Keep no copy of what is deleted or changed. The journal is still written.")
	f.BoolVar(&w.backupSecrets, "backup-secrets", false, "Keep copies of Secrets, too, as plain text in files that only you can read.")
	usage.Unlist(f, "no-backup", "backup-secrets")
}

// unlocks are the names of --unlock: all but those of kinds that hardly anybody deletes.
func (w *Writing) unlocks() []string {
	const usual = 5
	return append(append(policy.KindNames()[:usual], policy.UnlockHelm, policy.UnlockUnseen, "…"), w.Unlocks...)
}

// Check reads the flags.
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

// Proposal is a plan for the cluster of a world, which is going to be carried out.
type Proposal struct {
	Verb   string
	World  source.World
	Result *plan.Result
	Output *output.Output
	// Steps has the requests shown.
	Steps           bool
	RequireComplete bool
	// Obstacles are why the command itself refuses the plan.
	Obstacles []report.Obstacle
	// Removes is how many finalizers are taken off.
	Removes int
	// FailOn is the error of a plan that the user does not want; nil if there is none such.
	FailOn func(*report.Plan) error
	// Rehearse has the API server try each request without storing it.
	Rehearse func() ([]report.Answer, error)
	// Notes are what else a person should know before saying yes.
	Notes []string
}

// shown is the end of a command that only shows.
var shown = &exit.Error{Code: exit.OK}

// Sure shows the plan, and returns nil if it may be carried out: if nothing forbids it,
// and whoever is asked says yes. The arguments are those of the command line.
func (w *Writing) Sure(c *cobra.Command, args []string, streams genericiooptions.IOStreams, p Proposal) error {
	document := p.Result.Plan
	obstacles := slices.Concat(p.Obstacles, w.obstacles(p.World, document))
	if len(obstacles) > 0 {
		document.Digest = "" // nobody can confirm it
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

// showPlan shows the plan where it is the answer. Where the answer is a document about the
// run, whoever has not confirmed it yet reads the plan beside that.
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

// CarryOut runs what was said yes to, and says what became of it.
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
