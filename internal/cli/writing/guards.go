package writing

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/exit"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/source"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/policy"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// notes are what a person should know before saying yes: what the plan cannot say,
// and what the backup will not have.
func (w *Writing) notes(p *report.Plan) []string {
	var notes []string
	deletes := policy.Deletes(p.Consequences)
	if !p.Complete {
		notes = append(notes, "The plan depends on something that could not be read: more may go than it says, and of that there is no backup.")
	}
	if w.noBackup {
		return append(notes, "No backup is made: what is deleted cannot be brought back.")
	}
	secrets := 0
	for _, r := range deletes {
		if r.Is(object.Secret) {
			secrets++
		}
	}
	if secrets == 0 || w.backupSecrets {
		return notes
	}
	return append(notes, fmt.Sprintf("%d of the objects are Secrets, which cannot be brought back: see --backup-secrets.", secrets))
}

// released reports whether the kind of an object does not protect it, for somebody has
// deleted it before, or the definition that it comes and goes with: what its kind stands
// for was decided then. An annotation holds all the same.
func released(p *report.Plan, why reason.Code, seen *object.Object) bool {
	return p.Seed.Verb == string(plan.RemoveFinalizer) && why == reason.ProtectedKind && seen != nil &&
		(seen.BeingDeleted() || controllers.Registered(seen))
}

// Guards are the flags that weaken a guard, or change what is kept, for the digest.
func (w *Writing) Guards() []string {
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
	for kind, is := range w.Policy.Allow {
		if is {
			allowed = append(allowed, "allow-protected="+kind.String())
		}
	}
	slices.Sort(allowed)
	return append(list, allowed...)
}

// refuse says why a run must not be; nil for one that may.
func (w *Writing) refuse(world source.World, p *report.Plan) error {
	if err := w.screen(world, p); err != nil {
		return err
	}
	if r := (policy.Limits{MaxDeletes: w.maxDeletes}).Check(p.Consequences); r != nil {
		return exit.Refusedf("%v: see --max-deletes", r)
	}
	return nil
}

// screen refuses a plan that takes protected objects, all of it.
func (w *Writing) screen(world source.World, p *report.Plan) error {
	find := func(ref object.Ref) *object.Object {
		return world.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name)
	}
	refusals := slices.DeleteFunc(w.Policy.Screen(p.Consequences, find), func(r policy.Refusal) bool { return released(p, r.Why, find(r.Object)) })
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
		if refusals[i].Why == reason.ProtectedKind {
			text += ": see --allow-protected=" + refusals[i].Object.Kind
		}
		lines = append(lines, text)
	}
	return exit.Refusedf("%s", strings.Join(lines, "\n"))
}
