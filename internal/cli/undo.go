package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-gc/kubectl-gc/internal/backup"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/command"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/render"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// undoing is the command undo.
type undoing struct {
	pastQuestion
	lost        bool
	source      command.Source
	output      command.Output
	confirm     confirm
	backups     backupDir
	list        bool
	remove      bool
	skipRefused bool
	assumeSame  bool
	overwrite   bool
	finished    bool
	diff        bool
}

// assumeSameFlag is the flag that accepts a backup of an unknown cluster.
const assumeSameFlag = "assume-same-cluster"

func newUndo(streams genericiooptions.IOStreams, config *genericclioptions.ConfigFlags) *cobra.Command {
	u := &undoing{pastQuestion: pastQuestion{streams: streams}, source: command.NewSource(config)}
	c := &cobra.Command{
		Use:   "undo (NAME | PATH | latest | --list | --remove NAME | --since DURATION [TYPE/NAME…])",
		Short: "Bring back what was deleted, from a backup or without one",
		Long: text(`
			Restore what delete, collect or remove-finalizer deleted, from the backup of that
			run: its name, its path, or latest for the newest one of this cluster. --list shows
			the backups.

			With --since no backup is needed: the API server still knows what was deleted in
			the last minutes, with any tool (usually 5 to 10 minutes). A backup of it is made
			before anything is shown or asked. It includes Secrets with their content. With
			--from, a history or an etcd snapshot is read instead. If the content of some
			deleted objects is unknown, the first line says how many, and the exit code is
			not 0. kubectl gc lost shows the same without restoring anything.

			CRDs, namespaces and configuration are created first, workloads last. References to
			an owner get its new uid. A reference to an owner that does not exist is left out
			and reported, since the garbage collector would delete the object. Objects that
			still exist get back the references that they lost.

			Existing objects are not overwritten. An object that was created again since, by a
			person or a controller, is compared with the saved one: if it differs, the undo is
			incomplete (exit 6, or 4 if nothing was written). --diff shows the difference,
			--overwrite restores the saved content.

			Objects that controllers create, such as the pods of a ReplicaSet, are left to them.
			Work that had finished, such as a Job, a Backup or a PipelineRun, would run again:
			it is left out unless --finished is given.

			The status of custom resources is restored unless their controller has written one
			since. Kubernetes' own controllers compute the status of built-in kinds.

			The server validates every step before the first one is stored. The backup records
			what was created: an interrupted undo continues there, and a finished one has
			nothing left to do.

			Not restored: the old uids, anything outside the cluster, and Secrets of a backup
			made without --backup-secrets.`),
		Example: templates.Examples(`
			# Which backups are there?
			kubectl gc undo --list

			# What would come back of the last run, and the command that does it
			kubectl gc undo latest --dry-run

			# Bring it back
			kubectl gc undo 20261121T221724Z-1ac5b9a2

			# Somebody deleted this namespace a moment ago: bring it back
			kubectl gc undo --since=5m -n payments`),
		Annotations: map[string]string{Live: "yes"},
		RunE:        func(c *cobra.Command, args []string) error { return u.run(c, args) },
	}
	f := c.Flags()
	u.output.AddFlags(f)
	u.confirm.AddFlags(f)
	f.BoolVar(&u.skipRefused, "skip-refused", false, "Continue without the objects that the server would refuse.")
	f.BoolVar(&u.assumeSame, assumeSameFlag, false, "Continue although nothing shows whether the backup is of this cluster. "+
		"In another cluster this makes foreign objects. A cluster that is known to be another one stays refused.")
	f.BoolVar(&u.overwrite, "overwrite", false, "Restore the saved content of objects that exist again with other content.")
	f.BoolVar(&u.finished, "finished", false, "Restore work that had ended, too: Jobs, pods, and custom resources such as a Backup or a PipelineRun. Their controllers may do it again.")
	f.BoolVar(&u.diff, "diff", false, "Show what differs in objects that exist again. Values of Secrets are not shown.")
	u.backups.AddFlag(f)
	f.BoolVar(&u.list, "list", false, "List the backups there are, the newest first.")
	f.BoolVar(&u.remove, "remove", false, "Delete the backup that is named, after asking, and restore nothing.")
	u.namespaces.AddFlags(f, "With --since: this namespace and its content (default: that of the context).", "With --since: all namespaces.")
	f.DurationVar(&u.since, "since", 0, "Bring back what was deleted since then, as 30s, 5m or 1h, from the history of the cluster.")
	f.BoolVar(&u.lost, "lost", false, "Bring back what was deleted, as far back as the API server remembers.")
	f.Uint64Var(&u.sinceRevision, "since-revision", 0, "Bring back what was deleted since this resourceVersion.")
	command.Unlist(f, "since-revision")
	u.source.AddRecordFlags(f)
	notOfBackup(f, "since", "lost", "since-revision", "namespace", "all-namespaces", "from")
	return c
}

func (u *undoing) run(c *cobra.Command, args []string) error {
	// The recorded past may be used instead of a backup.
	switch record := u.lost || c.Flags().Changed("since") || u.sinceRevision > 0 || !u.source.Live(); {
	case record && (u.list || u.remove || u.confirm.Digest != ""):
		return command.Errorf(c, "--confirm, --list and --remove are for backups. An undo without one makes one first, and prints the command that confirms it")
	case u.lost && (c.Flags().Changed("since") || u.sinceRevision > 0):
		return command.Errorf(c, "--lost goes back as far as is remembered: give either it or --since")
	case record && len(args) == 1 && !strings.Contains(args[0], "/"):
		return command.Errorf(c, "%q is not TYPE/NAME; --since, --lost and --from need no backup", args[0])
	case record:
		return u.bringBack(c, args)
	case u.namespaces.One != "" || u.namespaces.All:
		return command.Errorf(c, "a backup is restored completely: -n and -A require --since")
	case u.list && u.remove:
		return command.Errorf(c, "give either --list or --remove")
	case u.list && len(args) == 0:
		return u.showList(c)
	case u.list:
		return command.Errorf(c, "--list shows all backups: leave out %s", args[0])
	case len(args) != 1:
		return command.Errorf(c, "which backup? Give its name or path, or latest; --list shows those there are. Without one: --since=5m")
	}
	if u.remove {
		return u.removeBackup(c, args[0])
	}
	client, err := u.source.Cluster.Connect(c)
	if err != nil {
		return err
	}
	id, err := client.Identity(c.Context())
	if err != nil {
		return err
	}
	path, err := u.bundle(c, args[0], id)
	if err != nil {
		return err
	}
	if args[0] == latest {
		args = []string{path} // another backup may be the newest by then
	}
	_, err = u.restore(c, client, &restoring{id: id, args: args, path: path})
	return err
}

// restoring is the undo of one backup.
type restoring struct {
	id kube.Identity
	// args are the arguments of the command that undoes it.
	args []string
	path string
	// justSaved reports that this run has made the backup, with the same client.
	justSaved bool
	// tell adds to the plan; it may be nil.
	tell func(*report.Undo)
}

// restore plans the undo of a backup, asks for confirmation and executes it. done reports whether
// it is complete.
func (u *undoing) restore(c *cobra.Command, client *kube.Client, r *restoring) (done bool, err error) {
	planned, err := u.plan(c, client, r)
	if unknown, ok := errors.AsType[*backup.UnknownClusterError](err); ok {
		return false, command.Refusedf("%v\nIf you are sure that it is: --assume-same-cluster", unknown)
	} else if err != nil {
		return false, err
	}
	document := planned.Document()
	if r.tell != nil {
		r.tell(document)
	}
	if err := u.showPlan(c, document); err != nil {
		return false, err
	}
	if len(document.Steps) == 0 {
		if document.Incomplete() {
			return false, u.incomplete(command.Incomplete, lacking(document))
		}
		return true, nil
	}
	if u.confirm.IsServerDryRun() {
		answers, err := planned.Try(c.Context())
		if err == nil {
			err = printDryRun(u.streams.ErrOut, answers)
		}
		if err != nil {
			return false, err
		}
	}
	args := r.args
	if document.SameCluster == report.ProofJustSaved { // the printed command runs without the proof of this run
		args = append(slices.Clone(args), "--"+assumeSameFlag)
	}
	if err := u.confirm.Ask(c, args, u.streams, asked(r.id, document)); err != nil {
		if u.confirm.IsDryRun() && document.Incomplete() {
			return false, u.incomplete(command.Incomplete, lacking(document))
		}
		return false, err
	}
	if err := u.try(c, planned); err != nil {
		return false, err
	}
	ignoreBrokenPipe()
	ended, err := planned.Run(c.Context(), backup.UndoOptions{Tool: command.Version(), Now: time.Now, Wait: wait})
	if ended == nil {
		return false, err
	}
	if failed := errors.Join(err, u.show(c, ended)); failed != nil {
		return false, &command.Exit{Code: command.Partial, Message: failed.Error()}
	}
	return ended.State == report.Complete, u.verdict(ended)
}

// incomplete returns the error of an incomplete undo. It has no message if the printed text
// contains it.
func (u *undoing) incomplete(code int, message string) error {
	if u.output.ForPeople() {
		message = ""
	}
	return &command.Exit{Code: code, Message: message}
}

// lacking describes what an incomplete undo lacks.
func lacking(document *report.Undo) string {
	if document.Summary.NotRestored+len(document.CutOff) > 0 {
		return "the undo is incomplete: some objects are not restored"
	}
	if document.Summary.Differs == 0 {
		return "the undo is incomplete: the server stored other values than were saved"
	}
	return "the undo is incomplete: some objects exist again and differ from what was saved; --overwrite restores that"
}

// verdict returns the error of a finished undo; nil if it is complete.
func (u *undoing) verdict(ended *report.Undo) error {
	code, message := command.Partial, cmp.Or(ended.Message, string(ended.State))
	switch {
	case ended.State == report.Complete && ended.Incomplete(), ended.State == report.Partial && ended.Message == "":
		return u.incomplete(command.Partial, lacking(ended))
	case ended.State == report.Complete:
		return nil
	}
	if ended.State == report.Interrupted {
		code = command.Interrupted
	}
	if u.output.ForPeople() && ended.Message != "" {
		message = "" // the printed text contains it
	}
	return &command.Exit{Code: code, Message: message}
}

// restoredMemory is the memory limit for each restored object, in bytes, including its decoded
// form. Pods of real clusters need less.
const restoredMemory = 24_000

// plan reads the backup and plans the undo. The memory is limited, since the backup may be
// untrusted.
func (u *undoing) plan(c *cobra.Command, client *kube.Client, r *restoring) (*backup.Undo, error) {
	memory := command.NewMemory()
	defer memory.End()
	limit := u.source.MemoryLimit()
	within := func(each int) func(int64, int) error {
		return func(bytes int64, objects int) error { return memory.RoomFor(bytes, objects, each, limit) }
	}
	planned, err := backup.PlanUndo(c.Context(), client, r.id, r.path, backup.UndoPlanOptions{
		AssumeSameCluster: u.assumeSame, JustSaved: r.justSaved, Overwrite: u.overwrite, Finished: u.finished, Values: u.diff, Reading: within(snapshot.ObjectMemory), Restoring: within(restoredMemory),
	})
	return planned, command.LiftLimit(err)
}

// try sends everything as a dry run. Refusals are an error unless --skip-refused is given.
func (u *undoing) try(c *cobra.Command, planned *backup.Undo) error {
	answers, err := planned.Try(c.Context())
	switch text := render.AnswersText(answers); {
	case err != nil || !refuses(answers):
		return err
	case u.skipRefused:
		fmt.Fprintln(u.streams.ErrOut, "warning: "+render.EscapeLines(text))
		return nil
	default:
		return command.Refusedf("%s\nTo restore the others: --skip-refused", text)
	}
}

// showPlan prints the plan if it is the answer. If the answer is a document about the run, the plan
// is printed on stderr for the confirmation.
func (u *undoing) showPlan(c *cobra.Command, document *report.Undo) error {
	if len(document.Steps) == 0 || u.confirm.IsDryRun() || u.output.AsText() {
		return u.show(c, document)
	}
	if u.confirm.Digest != "" {
		return nil
	}
	o := u.output
	o.Format = ""
	return o.Show(c, u.streams.ErrOut, document, command.As(render.UndoText, document))
}

func (u *undoing) show(c *cobra.Command, document *report.Undo) error {
	return u.output.Show(c, u.streams.Out, document, command.As(render.UndoText, document))
}

// asked returns the question for the confirmation.
func asked(id kube.Identity, document *report.Undo) report.Confirmation {
	q := report.Confirmation{
		Verb: "undo", Context: id.Context, Server: id.Server, User: id.User, ClusterUID: id.ClusterUID, Digest: document.Digest,
	}
	objects := map[object.Ref]bool{}
	for i := range document.Steps {
		s := &document.Steps[i]
		objects[s.Object] = true
		q.Add(report.ConsequenceCount{
			APIVersion: s.Object.APIVersion, Kind: s.Object.Kind, Change: report.Change(s.Verb), Certainty: report.Sure,
		})
	}
	q.Restores = len(objects)
	return q
}

// wait sleeps, and returns false if the context has ended.
func wait(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}
