package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/internal/apply"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/command"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/render"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// maxBreakageNotes is the number of breakages, the worst first, that the confirmation names.
const maxBreakageNotes = 3

// notes returns notes for the confirmation: gaps of the plan, and what the backup will not contain.
func (w *writing) notes(p *report.Plan) []string {
	var notes []string
	deletes := slices.Collect(apply.DeletedObjects(p))
	if !p.Complete {
		notes = append(notes, "The plan depends on something unknown: more may be deleted than it says, without a backup.")
	}
	for i := range p.Broken {
		if b := &p.Broken[i]; b.When == report.BreaksNow && i < maxBreakageNotes {
			notes = append(notes, "Breaks now: "+b.Text()+".")
		}
	}
	if w.noBackup {
		return append(notes, "No backup is made: what is deleted cannot be brought back.")
	}
	secrets := w.secretsNotSaved(deletes)
	if secrets == 0 {
		return notes
	}
	what := "1 of the objects is a Secret"
	if secrets > 1 {
		what = fmt.Sprintf("%d of the objects are Secrets", secrets)
	}
	return append(notes, what+", which cannot be brought back: see --backup-secrets.")
}

// secretsNotSaved returns the number of Secrets to delete whose content the backup will not contain.
func (w *writing) secretsNotSaved(deletes []object.Ref) int {
	if w.backupSecrets {
		return 0
	}
	return object.Count(deletes, func(r object.Ref) bool { return r.Is(object.Secret) })
}

// undoHint returns the text before the command that restores what a plan deletes; empty if nothing
// can be restored.
func (w *writing) undoHint(p *report.Plan) string {
	deletes := slices.Collect(apply.DeletedObjects(p))
	switch secrets := w.secretsNotSaved(deletes); {
	case w.noBackup || secrets == len(deletes):
		return ""
	case secrets > 0:
		return "To bring it back, without the Secrets: "
	default:
		return "To bring it back: "
	}
}

// isUnprotected reports whether a removal of finalizers may ignore that the kind of an object is
// protected: the object is being deleted already, or it is an APIService that is deleted along with
// its CRDs. Protection by an annotation is never ignored.
func isUnprotected(p *report.Plan, why reason.Code, seen *object.Object) bool {
	return p.Seed.Verb == string(plan.RemoveFinalizer) && why == reason.ProtectedKind && seen != nil &&
		(seen.BeingDeleted() || seen.RegisteredForCRDs())
}

// Guards returns the flags that weaken a guard or change what is saved, for the digest.
func (w *writing) Guards() []string {
	var list []string
	if w.maxDeletes > apply.DefaultMaxDeletes {
		list = append(list, "max-deletes="+strconv.Itoa(w.maxDeletes))
	}
	if w.noBackup {
		list = append(list, "no-backup")
	}
	if w.backupSecrets {
		list = append(list, "backup-secrets")
	}
	for _, kind := range apply.ProtectedKinds() {
		if w.Policy.Allow[kind] {
			list = append(list, "unlock="+apply.UnlockName(kind))
		}
	}
	for _, name := range unlockSwitches {
		if w.switches[name] {
			list = append(list, "unlock="+name)
		}
	}
	return append(list, w.unlocked...)
}

// obstacles returns why a run must be refused; empty if it need not. The order is that of the
// consequences.
func (w *writing) obstacles(world command.World, p *report.Plan) []report.Obstacle {
	find := world.Cursor().Find
	var list []report.Obstacle
	for _, r := range w.Policy.CheckDeletes(p, find) {
		if isUnprotected(p, r.Why, find(r.Object)) {
			continue
		}
		list = gather(list, protectedObstacle(r.Object, cmp.Or(r.Why, reason.Code(r.Reason))), object.Ref(r.Object))
	}
	for i := range p.Outside {
		if x := &p.Outside[i]; !w.switches[apply.UnlockOutside] && x.LosesData() {
			list = gather(list, report.Obstacle{Reason: string(reason.ProtectedOutside), Unlock: apply.UnlockOutside}, x.Object)
		}
	}
	if !w.switches[apply.UnlockUnseen] {
		list = append(list, unread(world, p)...)
	}
	for i := range p.Broken { // webhooks and APIs of the whole cluster that stop working at once
		if b := &p.Broken[i]; !w.switches[apply.UnlockBreaks] && b.ClusterWide && b.When == report.BreaksNow {
			list = gather(list, report.Obstacle{Reason: string(apply.BreaksCluster), Unlock: apply.UnlockBreaks, Message: b.Message}, b.Object)
		}
	}
	if r := apply.CheckMaxDeletes(p, w.maxDeletes); r != nil {
		list = append(list, report.Obstacle{Reason: string(r.Reason), Planned: r.Planned, Limit: r.Limit})
	}
	return list
}

// unread returns an obstacle for each deleted namespace and CRD of a cluster with content that was
// not read, and for each object whose controller deletes more than the plan lists. A controller that
// is not known to exist is one if the cluster did not let the user see whether it runs. Otherwise the
// notes say that more may be deleted.
func unread(world command.World, p *report.Plan) []report.Obstacle {
	var list []report.Obstacle
	for r := range apply.DeletedObjects(p) {
		if world.Client == nil {
			break
		}
		var kinds []string
		for _, g := range plan.UnseenContent(world.Snapshot, r) {
			why, _, _ := strings.Cut(g.Why, ":")
			name := schema.GroupVersionResource{Resource: g.Resource, Group: object.GroupOf(g.APIVersion)}.GroupResource().String()
			if g.Resource == "" {
				name = g.APIVersion
			}
			if kind := name + " (" + why + ")"; !slices.Contains(kinds, kind) {
				kinds = append(kinds, kind)
			}
		}
		if len(kinds) > 0 {
			list = gather(list, report.Obstacle{
				Reason: string(apply.UnseenContent), Unlock: apply.UnlockUnseen, Message: strings.Join(kinds, ", "),
			}, r)
		}
	}
	for i := range p.Unlisted {
		u := &p.Unlisted[i]
		does := " deletes them; "
		switch {
		case u.Reason == string(reason.MadeForIt):
			does = " deletes them, "
		case !u.IsDoubt():
		case u.Reason == string(reason.ControllerUnread) && world.Client != nil:
			does = " may run, and may delete them; "
		default:
			continue
		}
		message := strings.TrimRight(cmp.Or(u.Controller, "its controller")+does+u.Message, ";, ")
		list = gather(list, report.Obstacle{Reason: string(apply.UnseenContent), Unlock: apply.UnlockUnseen, Message: message}, u.Object)
	}
	return list
}

// protectedObstacle returns the obstacle for a protected object, with the name that unlocks it.
func protectedObstacle(ref object.Ref, why reason.Code) report.Obstacle {
	o := report.Obstacle{Reason: string(why)}
	switch why {
	case reason.ProtectedKind:
		o.Unlock = apply.UnlockName(schema.GroupKind{Group: ref.Group(), Kind: ref.Kind})
	case reason.ProtectedByHelm:
		o.Unlock = apply.UnlockHelm
	default: // can't be unlocked
	}
	return o
}

// gather adds an object to the equal obstacle in the list, or appends the obstacle.
func gather(list []report.Obstacle, o report.Obstacle, ref object.Ref) []report.Obstacle {
	i := slices.IndexFunc(list, func(x report.Obstacle) bool {
		return x.Reason == o.Reason && x.Unlock == o.Unlock && x.Finalizer == o.Finalizer && x.Message == o.Message
	})
	if i < 0 {
		i, list = len(list), append(list, o)
	}
	list[i].Objects = append(list[i].Objects, ref)
	return list
}

// refuse returns the error of a plan that must not be executed, with the command that lifts the
// obstacles. For a dry run it only prints them.
func (w *writing) refuse(c *cobra.Command, args []string, streams genericiooptions.IOStreams, obstacles []report.Obstacle, live bool) error {
	text := render.ObstaclesText(obstacles)
	if lifts := w.liftingFlags(obstacles); len(lifts) > 0 && live {
		text += "\nTo do it anyway:\n  " + commandLine(c, args, lifts...)
	}
	switch {
	case !live:
		text = "A run would be refused:" + text
	case w.IsDryRun():
		text = "Nothing was written. A run would be refused:" + text
	default:
		return &command.Exit{Code: command.Refused, Message: "refused, nothing was written:" + text}
	}
	fmt.Fprintln(streams.ErrOut, render.EscapeLines(text))
	return nil
}

// onlyHelm ends a command about a release, which only Helm uninstalls.
func (w *writing) onlyHelm(c *cobra.Command, u *report.Uninstall) error {
	if w.IsDryRun() {
		return shown
	}
	return &command.Exit{Code: command.Refused, Message: "refused, nothing was written: Helm uninstalls its releases. Run:\n  " + command.Connection(c).Command(u.Command)}
}

// liftingFlags returns the flags that lift all obstacles; nil if one can't be lifted.
func (w *writing) liftingFlags(obstacles []report.Obstacle) []string {
	names, limit := slices.Clone(w.unlock), ""
	for i := range obstacles {
		switch o := &obstacles[i]; {
		case o.Limit < o.Planned:
			limit = "--max-deletes=" + strconv.Itoa(o.Planned)
		case o.Unlock == "":
			return nil
		case !slices.Contains(names, o.Unlock):
			names = append(names, o.Unlock)
		}
	}
	var flags []string
	if limit != "" {
		flags = append(flags, limit)
	}
	if len(names) > 0 {
		flags = append(flags, "--unlock="+strings.Join(names, ","))
	}
	return flags
}
