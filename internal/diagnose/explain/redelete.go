package explain

import (
	"context"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// redelete proposes a second delete of a stuck object: its policy replaces that of the first. The
// costs are simulated.
//
// Upstream: apiserver/pkg/registry/generic/registry/store.go deletionFinalizersForGarbageCollection,
// shouldOrphanDependents, shouldDeleteDependentsInForeground.
// Rule: spec §2.7, S028, S029.
func (q *question) redelete(ctx context.Context, e *report.Explanation) ([]report.Remedy, error) {
	var remedies []report.Remedy
	for _, policy := range []engine.Policy{engine.Background, engine.OrphanPolicy} {
		result, err := plan.Simulate(ctx, q.near, plan.DeleteSeed(policy, q.target.Ref), plan.Options{Surroundings: q.around, NoSteps: true})
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
	taken, stuck, orphaned, doubts []report.Ref
}

func (q *question) costOf(p *report.Plan, target report.Ref) cost {
	var c cost
	for i := range p.Effects {
		e := &p.Effects[i]
		switch {
		case e.Object == target:
			c.ends = e.Outcome == report.Deleted && !anyway(p, target)
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

// anyway reports whether an object is deleted without the request, too.
func anyway(p *report.Plan, r report.Ref) bool {
	return slices.ContainsFunc(p.Consequences, func(c report.Consequence) bool { return c.Object == r && c.Anyway })
}

// beingDeleted reports whether the snapshot shows an object as being deleted.
func (q *question) beingDeleted(r report.Ref) bool {
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
	add := func(what string, refs []report.Ref) {
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
