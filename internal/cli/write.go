package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/internal/apply"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/protect"
	"github.com/kubectl-gc/kubectl-gc/internal/render"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// writing is what the commands that write have in common: the confirmation, the
// backup, and how they answer.
type writing struct {
	confirm
	backupDir     string
	noBackup      bool
	backupSecrets bool
}

func (w *writing) addFlags(f *pflag.FlagSet) {
	w.confirm.addFlags(f)
	f.StringVar(&w.backupDir, "backup-dir", "", "Where backup and journal go (default: kubectl-gc/backups in $XDG_STATE_HOME or ~/.local/state).")
	f.BoolVar(&w.noBackup, "no-backup", false, "Keep no copy of what is deleted or changed. The journal is written all the same.")
	f.BoolVar(&w.backupSecrets, "backup-secrets", false, "Keep copies of Secrets, too, as plain text in files that only you can read.")
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

// options are those of a run, which is about to begin.
func (w *writing) options(tell func(apply.Progress)) (apply.Options, error) {
	outlive()
	dir, err := w.directory()
	return apply.Options{
		Tool: version(), Backup: dir, Unsaved: w.noBackup, Policy: w.policy, Secrets: w.backupSecrets, Tell: tell, Now: time.Now,
	}, err
}

// notes are what a person should know before saying yes: what the plan cannot say,
// and what the backup will not have.
func (w *writing) notes(p *report.Plan, deletes []report.Ref) []string {
	var notes []string
	if !p.Complete {
		notes = append(notes, "The plan rests on something that was not seen: more may go than it says, and of that there is no backup.")
	}
	if w.noBackup {
		return append(notes, "No backup is made: what is deleted cannot be brought back.")
	}
	secrets := 0
	for _, r := range deletes {
		if r.APIVersion == "v1" && r.Kind == "Secret" {
			secrets++
		}
	}
	if secrets == 0 || w.backupSecrets {
		return notes
	}
	return append(notes, fmt.Sprintf("%d of the objects are Secrets, which cannot be brought back: see --backup-secrets.", secrets))
}

// taken are the objects that a plan takes, by a request of ours or by what follows
// from one. What is on its way already, and which we do not write to, is not taken
// by us.
func taken(w world, result *plan.Result) []report.Ref {
	ours := map[object.Ref]bool{}
	for _, x := range result.Writes() {
		if x.Removes {
			ours[x.Object] = true
		}
	}
	var refs []report.Ref
	for i := range result.Plan.Effects {
		e := &result.Plan.Effects[i]
		if e.Baseline || e.Outcome != report.Deleted && e.Outcome != report.Blocked {
			continue
		}
		ref := object.Ref(e.Object)
		seen := w.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name)
		if result.Plan.Seed.Verb == string(plan.Collect) && !ours[ref] && seen != nil && seen.BeingDeleted() {
			continue
		}
		refs = append(refs, e.Object)
	}
	return refs
}

// released tells whether a protected object goes with a finalizer of another one, for
// somebody has deleted it before: what its kind stands for was decided then. An
// annotation holds all the same.
func released(p *report.Plan, r protect.Refusal, seen *object.Object) bool {
	return p.Seed.Verb == string(plan.RemoveFinalizer) && r.Why == protect.Kind && seen != nil && seen.BeingDeleted() &&
		!slices.Contains(p.Seed.Targets, report.RefOf(r.Object))
}

// screen refuses a plan that takes protected objects, all of it.
func (w *writing) screen(world world, p *report.Plan) error {
	find := func(ref object.Ref) *object.Object {
		return world.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name)
	}
	refusals := slices.DeleteFunc(w.policy.Screen(p, find), func(r protect.Refusal) bool { return released(p, r, find(r.Object)) })
	for _, t := range p.Seed.Targets {
		ref := object.Ref(t)
		named := func(r protect.Refusal) bool { return r.Object == ref }
		seen := find(ref)
		if seen == nil || slices.ContainsFunc(refusals, named) {
			continue
		}
		// What the server itself would refuse is no effect of the plan.
		if why, protected := w.policy.Check(seen); protected {
			refusals = append(refusals, protect.Refusal{Reason: protect.ProtectedObject, Object: ref, Why: why})
		}
	}
	if len(refusals) == 0 {
		return nil
	}
	const most = 5
	var lines []string
	for i := range refusals {
		if i == most {
			lines = append(lines, fmt.Sprintf("and %d more like that", len(refusals)-most))
			break
		}
		text := refusals[i].Error()
		if refusals[i].Why == protect.Kind {
			text += ": see --allow-protected=" + refusals[i].Object.Kind
		}
		lines = append(lines, text)
	}
	return &exit{code: exitRefused, message: "refused, nothing was written: " + strings.Join(lines, "\n")}
}

// summary prints what became of a run, and returns the error that carries its exit
// code.
func summary(c *cobra.Command, o *output, streams genericiooptions.IOStreams, run *report.Run, err error) error {
	if run == nil {
		if refused, ok := errors.AsType[*apply.RefusedError](err); ok {
			return &exit{code: exitRefused, message: refused.Error()}
		}
		return err
	}
	done, printErr := o.print(c, streams.Out, run)
	if !done && printErr == nil {
		var style render.Style
		if style, printErr = o.style(c, streams.Out); printErr == nil {
			printErr = render.RunText(streams.Out, style, run)
		}
	}
	if failed := errors.Join(err, printErr); failed != nil {
		return &exit{code: exitPartial, message: failed.Error()}
	}
	verdict := verdictOf(run)
	if own, ok := errors.AsType[*exit](verdict); ok && !done {
		own.message = "" // it stands in what was printed
	}
	return verdict
}

// verdictOf is the exit code of a run.
func verdictOf(run *report.Run) error {
	switch run.State {
	case report.Complete, report.NotAwaited:
		if len(run.Drift) > 0 {
			return &exit{code: exitFindings, message: "not everything is as predicted"}
		}
		return nil
	case report.NothingWritten:
		if run.Summary.Refused > 0 {
			return &exit{code: exitError, message: "nothing was written: " + run.Message}
		}
		return &exit{code: exitRefused, message: "nothing was written: " + cmp.Or(run.Message, string(run.State))}
	case report.Interrupted:
		return &exit{code: exitInterrupted, message: run.Message}
	default:
		return &exit{code: exitPartial, message: run.Message}
	}
}

// tellRun shows how far a run is: one changing line on a terminal, else a line for
// each change of what is waited for.
func tellRun(c *cobra.Command, errOut io.Writer) (tell func(apply.Progress), wipe func()) {
	style := render.Style{ASCII: !utf8Locale()}
	following := begin(c, errOut, "carrying out the plan")
	if following.manner != animated {
		quiet := c.Flag("progress").Value.String() == "none"
		return func(p apply.Progress) {
			if p.Stage == apply.Following && !quiet {
				fmt.Fprintln(errOut, render.RunProgress(style, string(p.Stage), p.Done, p.Total, p.Waiting))
			}
		}, following.end
	}
	style.Width = max(0, following.width-1)
	return func(p apply.Progress) {
		following.tell(render.RunProgress(style, string(p.Stage), p.Done, p.Total, p.Waiting))
	}, following.end
}

// askFor asks about the plan of a world.
func (w *writing) askFor(c *cobra.Command, args []string, streams genericiooptions.IOStreams, verb string, world world, result *plan.Result) error {
	id, err := world.client.Identity(c.Context())
	if err != nil {
		return err
	}
	deletes := taken(world, result)
	q := question(verb, id, result.Plan, deletes)
	q.Notes = w.notes(result.Plan, deletes)
	return w.ask(c, args, streams, q)
}
