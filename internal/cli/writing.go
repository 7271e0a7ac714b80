package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/internal/apply"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/command"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/render"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// writing is the common part of the writing commands: confirmation, guards and backup.
type writing struct {
	confirm
	// Unlock handles names of --unlock that are no protected kind, and returns false for unknown
	// ones; Unlocks lists them. Both are nil for a command without such names.
	Unlock  func(name string) bool
	Unlocks []string
	Policy  apply.Policy

	maxDeletes    int
	unlock        []string
	switches      map[string]bool // the given names of unlockSwitches
	unlocked      []string        // names of the command itself, for the digest
	backup        backupDir
	noBackup      bool
	backupSecrets bool
	// undoText is the text before the command that restores what the run deleted.
	undoText string
}

// AddFlags adds the flags of every writing command.
func (w *writing) AddFlags(f *pflag.FlagSet) {
	w.confirm.AddFlags(f)
	w.AddGuardFlags(f)
	w.backup.AddFlag(f)
	command.Unlist(f, "backup-dir")
}

// AddGuardFlags adds the flags that change guards or the backup, and thereby the digest.
func (w *writing) AddGuardFlags(f *pflag.FlagSet) {
	f.IntVar(&w.maxDeletes, "max-deletes", apply.DefaultMaxDeletes, "Refuse a plan that deletes more objects than this, all of it.")
	f.StringSliceVar(&w.unlock, "unlock", nil, "Delete what is protected: "+strings.Join(w.unlocks(), ", ")+". The refusal says which.")
	f.BoolVar(&w.noBackup, "no-backup", false, "Keep no copy of what is deleted or changed. The journal is still written.")
	f.BoolVar(&w.backupSecrets, "backup-secrets", false, "Keep copies of Secrets, too, as plain text in files that only you can read.")
	command.Unlist(f, "no-backup", "backup-secrets")
	_ = f.SetAnnotation("unlock", unlocksOf, w.unlockNames()) // the flag was just added
}

// unlocksOf is the annotation of --unlock with the names that the command accepts.
const unlocksOf = "kubectl-gc.io/unlocks"

// unlockSwitches are the names of --unlock that are no kinds, in the order of the digest: what Helm
// manages may be deleted, content that was not read, what requests of the whole cluster need, and
// data outside of the cluster.
var unlockSwitches = []string{apply.UnlockHelm, apply.UnlockUnseen, apply.UnlockBreaks, apply.UnlockOutside}

// unlockNames returns all names that --unlock accepts.
func (w *writing) unlockNames() []string {
	return slices.Concat(apply.ProtectedKindNames(), unlockSwitches, w.Unlocks)
}

// unlocks returns the names of --unlock for the help, without rarely deleted kinds.
func (w *writing) unlocks() []string {
	const usual = 5
	return slices.Concat(apply.ProtectedKindNames()[:usual], unlockSwitches, []string{"…"}, w.Unlocks)
}

// Check validates the flags.
func (w *writing) Check(c *cobra.Command) error {
	if w.maxDeletes < 0 {
		return command.Errorf(c, "--max-deletes=%d: must not be negative", w.maxDeletes)
	}
	w.switches = map[string]bool{}
	var kinds, unknown []string
	for _, name := range w.unlock {
		switch name = strings.ToLower(name); {
		case slices.Contains(unlockSwitches, name):
			w.switches[name] = true
		case w.Unlock != nil && w.Unlock(name):
			w.unlocked = append(w.unlocked, "unlock="+name)
		case !apply.IsProtectedKind(name):
			unknown = append(unknown, name)
		default:
			kinds = append(kinds, name)
		}
	}
	slices.Sort(w.unlocked)
	w.unlocked = slices.Compact(w.unlocked)
	if len(unknown) > 0 {
		return command.Errorf(c, "--unlock=%s: nothing of that name is protected; what is: %s", strings.Join(unknown, ","), strings.Join(w.unlockNames(), ", "))
	}
	w.Policy.Helm = w.switches[apply.UnlockHelm]
	var err error
	w.Policy.Allow, err = apply.ParseProtectedKinds(kinds)
	return err
}

// proposal is a plan that is about to be executed.
type proposal struct {
	Verb   string
	World  command.World
	Result *plan.Result
	Output *command.Output
	// Steps shows the requests.
	Steps bool
	// Obstacles are why the command itself refuses the plan.
	Obstacles []report.Obstacle
	// Removes is the number of finalizers to remove.
	Removes int
	// FailOn returns the error of a plan that the user does not want; it may be nil.
	FailOn func(*report.Plan) error
	// DryRun sends each request as a dry run.
	DryRun func() ([]report.Answer, error)
	// Notes are additional notes for the confirmation.
	Notes []string
}

// shown ends a command that only shows a plan.
var shown = &command.Exit{Code: command.OK}

// Approve shows the plan, and returns nil if it may be executed: nothing forbids it, and it is
// confirmed. args are those of the command line.
func (w *writing) Approve(c *cobra.Command, args []string, streams genericiooptions.IOStreams, p proposal) error {
	document := p.Result.Plan
	uninstall := document.Seed.Uninstall
	var obstacles []report.Obstacle
	if uninstall == nil { // no run of ours executes it
		obstacles = slices.Concat(p.Obstacles, w.obstacles(p.World, document))
	}
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
	if err := p.Output.UnlessComplete(document.Complete); err != nil {
		return err
	}
	var tried error
	if w.IsServerDryRun() {
		answers, err := p.DryRun()
		if err != nil {
			return err
		}
		tried = printDryRun(streams.ErrOut, answers)
	}
	if uninstall != nil {
		return cmp.Or(tried, w.onlyHelm(c, uninstall))
	}
	if len(obstacles) > 0 {
		return cmp.Or(w.refuse(c, args, streams, obstacles, live), tried, error(shown))
	}
	if tried != nil || !live {
		return cmp.Or(tried, error(shown))
	}
	if w.IsDryRun() {
		return w.show(c, args, streams, document.Digest)
	}
	w.undoText = w.undoHint(document)
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
func (w *writing) showPlan(c *cobra.Command, streams genericiooptions.IOStreams, p proposal, live bool) error {
	out, o := streams.Out, *p.Output
	if live && !w.IsDryRun() && !o.AsText() {
		if w.Digest != "" {
			return nil
		}
		out, o.Format = streams.ErrOut, ""
	}
	return o.ShowPlan(c, out, p.World.Snapshot, p.Result.Plan, p.Steps)
}

// Execute executes the confirmed plan and reports the result.
func (w *writing) Execute(c *cobra.Command, o *command.Output, streams genericiooptions.IOStreams, do func(apply.Options) (*report.Run, error)) error {
	ignoreBrokenPipe()
	dir, err := w.backup.Path()
	if err != nil {
		return err
	}
	tell, done := tellRun(c, streams.ErrOut)
	run, err := do(apply.Options{
		Tool: command.Version(), Backup: dir, Unsaved: w.noBackup, Policy: w.Policy, Secrets: w.backupSecrets, Tell: tell, Now: time.Now,
	})
	done()
	return w.summary(c, o, streams, run, err)
}

// summary prints the report of a run, and returns the error with its exit code.
func (w *writing) summary(c *cobra.Command, o *command.Output, streams genericiooptions.IOStreams, run *report.Run, err error) error {
	if run == nil {
		if refused, ok := errors.AsType[*apply.RefusedError](err); ok {
			return &command.Exit{Code: command.Refused, Message: refused.Error()}
		}
		return err
	}
	if failed := errors.Join(err, o.Show(c, streams.Out, run, command.As(render.RunText, run))); failed != nil {
		return &command.Exit{Code: command.Partial, Message: failed.Error()}
	}
	if o.AsText() && (run.Summary.Gone > 0 || run.State == report.NotAwaited) && w.undoText != "" {
		fmt.Fprintln(streams.ErrOut, w.undoText+undoCommand(c, w.backup.NameOf(run.Bundle)))
	}
	verdict := verdictOf(run)
	if own, ok := errors.AsType[*command.Exit](verdict); ok && o.AsText() {
		own.Message = "" // the printed text contains it
	}
	return verdict
}

// verdictOf returns the error with the exit code of a run.
func verdictOf(run *report.Run) error {
	switch run.State {
	case report.Complete, report.NotAwaited:
		if len(run.Differences) > 0 {
			return &command.Exit{Code: command.Findings, Message: "not everything is as predicted"}
		}
		return nil
	case report.NothingWritten:
		if run.Summary.Refused > 0 {
			return &command.Exit{Code: command.Failed, Message: "nothing was written: " + run.Message}
		}
		return &command.Exit{Code: command.Refused, Message: "nothing was written: " + cmp.Or(run.Message, string(run.State))}
	case report.Interrupted:
		return &command.Exit{Code: command.Interrupted, Message: run.Message}
	default:
		return &command.Exit{Code: command.Partial, Message: run.Message}
	}
}

// tellRun shows the progress of a run: one updated line on a terminal, else a line for each change.
func tellRun(c *cobra.Command, errOut io.Writer) (tell func(apply.Progress), wipe func()) {
	style := render.Style{ASCII: !command.UTF8Locale()}
	following := command.BeginStage(c, errOut, "carrying out the plan")
	width, changes := following.Line()
	if !changes {
		quiet := c.Flag("progress").Value.String() == "none"
		return func(p apply.Progress) {
			if p.Stage == apply.Following && !quiet {
				fmt.Fprintln(errOut, render.RunProgress(style, string(p.Stage), p.Done, p.Total, p.Waiting))
			}
		}, following.End
	}
	style.Width = width
	return func(p apply.Progress) {
		following.Tell(render.RunProgress(style, string(p.Stage), p.Done, p.Total, p.Waiting))
	}, following.End
}

// printDryRun prints the answers to dry-run requests. A refusal is an error, as for kubectl
// --dry-run=server.
func printDryRun(errOut io.Writer, answers []report.Answer) error {
	fmt.Fprintln(errOut, render.EscapeLines(render.AnswersText(answers)))
	if refuses(answers) {
		return &command.Exit{Code: command.Failed}
	}
	return nil
}

// refuses reports whether the API server would refuse one of the requests.
func refuses(answers []report.Answer) bool {
	return slices.ContainsFunc(answers, func(a report.Answer) bool { return a.Refused != "" })
}

// backupDir is the directory of backups; empty for the default.
type backupDir string

// AddFlag adds --backup-dir.
func (d *backupDir) AddFlag(f *pflag.FlagSet) {
	f.StringVar((*string)(d), "backup-dir", "", "Where backups are (default: kubectl-gc/backups in $XDG_STATE_HOME or ~/.local/state).")
}

// NameOf returns the argument for undo that finds a backup: its name, or its path with a
// non-default directory.
func (d backupDir) NameOf(path string) string {
	if d == "" {
		return filepath.Base(path)
	}
	return path
}

// Path returns the directory.
func (d backupDir) Path() (string, error) {
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

// ignoreBrokenPipe keeps the process alive when the reader of its output exits. On Unix, writing to
// a closed pipe would otherwise end it in the middle of a run. Read-only commands should end like
// that.
func ignoreBrokenPipe() { signal.Ignore(syscall.SIGPIPE) }
