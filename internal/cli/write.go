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
	if err := w.confirm.check(c); err != nil {
		return err
	}
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

// refuse says why a run must not be; nil for one that may.
func (w *writing) refuse(world world, p *report.Plan) error {
	if err := w.screen(world, p); err != nil {
		return err
	}
	if r := (policy.Limits{MaxDeletes: w.maxDeletes}).Check(p.Consequences); r != nil {
		return refusedf("%v: see --max-deletes", r)
	}
	return nil
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
	return refusedf("%s", strings.Join(lines, "\n"))
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
	if failed := errors.Join(err, o.show(c, streams.Out, run, as(render.RunText, run))); failed != nil {
		return &exit{code: exitPartial, message: failed.Error()}
	}
	verdict := verdictOf(run)
	if own, ok := errors.AsType[*exit](verdict); ok && o.asText() {
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
