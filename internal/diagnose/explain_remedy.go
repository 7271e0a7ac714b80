package diagnose

import (
	"context"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// remedies returns commands that would change the verdict. They are suggestions, and nothing is run.
// The effect of a delete is simulated first.
func (q *question) remedies(ctx context.Context, e *report.Explanation) ([]report.Remedy, error) {
	switch e.Verdict {
	case report.WaitingForDependents:
		return q.releaseForeground(ctx, e)
	case report.HeldByFinalizer:
		switch reason.Code(e.Reason) {
		case reason.InUse:
			return q.lookAtUsers(), nil
		case reason.ProtectionUnknown:
			return nil, nil
		default:
			return q.repairFinalizers(), nil
		}
	case report.BeingDeleted:
		why := []reason.Code{reason.DeletionMissed, reason.CollectorNotWorking, reason.OrphaningFails}
		if q.target.HandlesDependents() && slices.Contains(why, reason.Code(e.Reason)) {
			return q.redelete(ctx, e)
		}
	case report.Garbage:
		return q.keepGarbage(e), nil
	case report.Live:
		return q.lookAtBudgets(), nil
	case report.Undecidable:
		if types := q.missingTypes(e); types != "" {
			show := report.Act{Action: report.ShowKinds, Kinds: types}
			effect := "shows what the snapshot lacks; give it with another --from"
			if q.snap.Source.Server != "" {
				effect = "shows what could not be read here"
			}
			return []report.Remedy{show.Remedy(effect)}, nil
		}
	default:
	}
	return nil, nil
}

// releaseForeground handles an object that waits for its dependents. A second delete under another
// policy ends that wait, but does not remove the finalizers of other controllers.
func (q *question) releaseForeground(ctx context.Context, e *report.Explanation) ([]report.Remedy, error) {
	var remedies []report.Remedy
	for _, d := range e.Dependents {
		if d.Blocking && d.State == "BeingDeleted" && len(remedies) < 3 {
			ask := report.Act{Action: report.Explain, Target: d.Ref}
			remedies = append(remedies, ask.Remedy("says what holds the dependent that is waited for"))
		}
	}
	again, err := q.redelete(ctx, e)
	if err != nil {
		return nil, err
	}
	remedies = append(remedies, again...)
	if len(q.foreignFinalizers()) > 0 {
		remedies = append(remedies, q.repairFinalizers()...)
	}
	return remedies, nil
}

// lookAtUsers returns commands that explain the users of the object.
func (q *question) lookAtUsers() []report.Remedy {
	var remedies []report.Remedy
	for _, r := range q.users[:min(3, len(q.users))] {
		ask := report.Act{Action: report.Explain, Target: r}
		remedies = append(remedies, ask.Remedy("shows what would delete it: the finalizer is removed when it is gone"))
	}
	return remedies
}

// drains returns what a drain of the target waits for, if it is a cordoned node.
func (q *question) drains() []health.Eviction {
	if q.health == nil || !q.target.Is(object.Node) || !q.health.Cordoned(q.target.Name) {
		return nil
	}
	return q.health.Evictions(q.target.Name)
}

// lookAtBudgets returns commands that show the budgets that a drain of the target waits for.
func (q *question) lookAtBudgets() []report.Remedy {
	var remedies []report.Remedy
	for _, x := range q.drains() {
		show := report.Act{Action: report.Describe, Target: q.health.Known(x.Budget.Ref)}
		remedies = append(remedies, show.Remedy("shows which pods it counts, and which of them are not ready: "+x.Pod.Ref.ShortName()+" can't be evicted"))
	}
	return remedies
}

// repairFinalizers returns a command that shows the writers of the finalizers.
func (q *question) repairFinalizers() []report.Remedy {
	show := report.Act{Action: report.ShowWriters, Target: q.target.Ref}
	return []report.Remedy{show.Remedy("shows who wrote " + strings.Join(q.foreignFinalizers(), ", ") +
		": repair that controller, it removes the finalizer when its own clean-up is done")}
}

func (q *question) keepGarbage(e *report.Explanation) []report.Remedy {
	absent := func(o report.OwnerFinding) bool { return o.Class == report.Dangling }
	if e.Reason == OwnerIsGarbage || e.Reason == string(reason.DeletedByController) || q.target.BeingDeleted() || !slices.ContainsFunc(e.Owners, absent) {
		return nil
	}
	drop := report.Act{Action: report.DropOwners, Target: e.Object}
	return []report.Remedy{drop.Remedy("removes the references to absent owners, so that the object stays; any owner reference that is still right has to be written again")}
}

// missingTypes returns the kinds of the owners with an unknown state, for kubectl get.
func (q *question) missingTypes(e *report.Explanation) string {
	const most = 5
	var kinds []string
	for _, o := range e.Owners {
		if r, err := q.snap.Resources.For(o.Ref.APIVersion, o.Ref.Kind); err == nil && object.AnswerTo(r, o.Ref.Name) != object.OfThatName {
			continue // a list does not show it
		}
		kind := object.KubectlKind(o.Ref.APIVersion, o.Ref.Kind)
		if o.Class == report.UnknownClass && len(kinds) < most && !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	return strings.Join(kinds, ",")
}

// redelete proposes a second delete of a stuck object: its policy replaces that of the first. The
// costs are simulated.
//
// Upstream: apiserver/pkg/registry/generic/registry/store.go deletionFinalizersForGarbageCollection,
// shouldOrphanDependents, shouldDeleteDependentsInForeground.
// Rule: spec §2.7, S028, S029.
func (q *question) redelete(ctx context.Context, e *report.Explanation) ([]report.Remedy, error) {
	var remedies []report.Remedy
	for _, policy := range []engine.Policy{engine.Background, engine.OrphanPolicy} {
		result, err := plan.Simulate(ctx, q.near, plan.DeleteSeed(policy, q.target.Ref), plan.Options{Health: q.health, Record: plan.RecordRequests})
		if err != nil {
			return nil, err
		}
		c := q.costOf(result.Plan, e.Object)
		if !c.ends {
			continue
		}
		again := report.Act{Action: report.DeleteAgain, Target: e.Object, Policy: policy.String()}
		remedies = append(remedies, again.Remedy(c.text(policy, q.target)))
	}
	return remedies, nil
}

// cost is what a second delete does apart from ending the object.
type cost struct {
	ends                           bool
	taken, stuck, orphaned, doubts []object.Ref
}

func (q *question) costOf(p *report.Plan, target object.Ref) cost {
	var c cost
	for i := range p.Effects {
		e := &p.Effects[i]
		switch {
		case e.Object == target:
			anyway := slices.ContainsFunc(p.Effects, func(e report.Effect) bool {
				return e.Object == target && e.Consequence != nil && e.Consequence.Anyway
			})
			c.ends = e.Outcome == report.Deleted && !anyway
		case e.AlreadyHappening:
		case e.Outcome == report.Deleted:
			c.taken = append(c.taken, e.Object)
		case e.Outcome == report.Blocked && !q.beingDeleted(e.Object):
			c.stuck = append(c.stuck, e.Object)
		case e.Outcome == report.Orphaned:
			c.orphaned = append(c.orphaned, e.Object)
		case e.Outcome == report.Unknown:
			c.doubts = append(c.doubts, e.Object)
		}
	}
	return c
}

// beingDeleted reports whether the snapshot shows an object as being deleted.
func (q *question) beingDeleted(r object.Ref) bool {
	o := q.snap.Find(r.APIVersion, r.Kind, r.Namespace, r.Name)
	return o != nil && o.BeingDeleted()
}

func (c cost) text(policy engine.Policy, target *object.Object) string {
	text := "ends the waiting and lets the object go now; its dependents are collected afterwards"
	switch {
	case policy == engine.OrphanPolicy:
		text = "ends the waiting and lets the object go; dependents that are not being deleted yet are kept"
	case target.HasFinalizer(object.Orphan):
		text = "deletes the object now without orphaning: the dependents that were to be kept are collected"
	}
	add := func(what string, refs []object.Ref) {
		if len(refs) > 0 {
			text += "; " + what + " " + names(refs)
		}
	}
	add("these go, too:", c.taken)
	add("these stay, without this owner:", c.orphaned)
	add("these are deleted, and held:", c.stuck)
	add("not known of", c.doubts)
	return text
}
