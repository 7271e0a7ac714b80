package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/apply"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/policy"
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
func (w *writing) notes(p *report.Plan) []string {
	var notes []string
	deletes := policy.Deletes(p.Consequences)
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

// released tells whether the kind of an object does not protect it, for somebody has
// deleted it before, or the definition that it comes and goes with: what its kind stands
// for was decided then. An annotation holds all the same.
func released(p *report.Plan, why policy.Reason, seen *object.Object) bool {
	return p.Seed.Verb == string(plan.RemoveFinalizer) && why == policy.Kind && seen != nil &&
		(seen.BeingDeleted() || controllers.Registered(seen))
}

// guards are the flags that weaken a guard, or change what is kept, for the digest.
func (w *writing) guards() []string {
	var list []string
	if w.maxDeletes > policy.DefaultMaxDeletes {
		list = append(list, "max-deletes="+strconv.Itoa(w.maxDeletes))
	}
	if w.noBackup {
		list = append(list, "no-backup")
	}
	if w.backupSecrets {
		list = append(list, "backup-secrets")
	}
	var allowed []string
	for kind, is := range w.policy.Allow {
		if is {
			allowed = append(allowed, "allow-protected="+kind.String())
		}
	}
	slices.Sort(allowed)
	return append(list, allowed...)
}

// refuse says why a run must not be, and takes the digest off its plan: nobody can
// confirm it. It is nil for one that may.
func (w *writing) refuse(world world, p *report.Plan) error {
	err := w.screen(world, p)
	if err == nil {
		if r := (policy.Limits{MaxDeletes: w.maxDeletes}).Check(p.Consequences); r != nil {
			err = &exit{code: exitRefused, message: "refused, nothing was written: " + r.Error() + ": see --max-deletes"}
		}
	}
	if err != nil {
		p.Digest = ""
	}
	return err
}

// screen refuses a plan that takes protected objects, all of it.
func (w *writing) screen(world world, p *report.Plan) error {
	find := func(ref object.Ref) *object.Object {
		return world.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name)
	}
	refusals := slices.DeleteFunc(w.policy.Screen(p.Consequences, find), func(r policy.Refusal) bool { return released(p, r.Why, find(r.Object)) })
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
		if refusals[i].Why == policy.Kind {
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
	q := question(verb, id, result.Plan)
	q.Notes = w.notes(result.Plan)
	return w.ask(c, args, streams, q)
}
