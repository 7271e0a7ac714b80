package unserve

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// ends are how a world ends when the collector has looked at everything, by object.
type ends map[report.Ref]*report.Effect

// outcome is what becomes of an object; Kept when nothing touches it.
func (e ends) outcome(r report.Ref) report.Outcome {
	if x := e[r]; x != nil {
		return x.Outcome
	}
	return report.Kept
}

// differs reports whether something else becomes of an object than in another world.
func (e ends) differs(other ends, r report.Ref) bool {
	if e.outcome(r) != other.outcome(r) {
		return true
	}
	x, y := e[r], other[r]
	return x != nil && y != nil && !slices.Equal(removed(x), removed(y))
}

// goes reports whether an object is deleted, or will be once nothing holds it.
func (e ends) goes(r report.Ref) bool {
	return e.outcome(r) == report.Deleted || e.outcome(r) == report.Blocked
}

// removed are the uids to which an object loses its references.
func removed(x *report.Effect) []types.UID {
	var uids []types.UID
	for _, r := range x.RemovedReferences {
		uids = append(uids, r.UID)
	}
	slices.Sort(uids)
	return slices.Compact(uids)
}

// run has a collector that has just started look at everything.
func run(ctx context.Context, snap *snapshot.Snapshot) (ends, error) {
	e, _, err := orders(ctx, snap, 0)
	return e, err
}

// orders is run, and with plan.Usual other orders are tried, too: then what one of them spares
// is kept. It says whether they were too many to try.
func orders(ctx context.Context, snap *snapshot.Snapshot, explore int) (e ends, tooLarge bool, err error) {
	result, err := plan.Simulate(ctx, snap, plan.CollectSeed(), plan.Options{NoSteps: true, Explore: explore})
	if err != nil {
		return nil, false, err
	}
	e = ends{}
	for i := range result.Plan.Effects {
		x := &result.Plan.Effects[i]
		e[x.Object] = x
	}
	x := result.Plan.Exploration
	return e, x != nil && x.State == report.TooLarge, nil
}

// lookedAt is the world in which the references through the version find nothing, where
// an owner is known to live.
func (q *question) lookedAt() *snapshot.Snapshot {
	return q.rewrite(func(o *object.Object) *object.Object {
		if q.dependents[o.Ref] == nil {
			return nil
		}
		return q.without(o, q.lost(o))
	})
}

// lost tells which references of an object find nothing.
func (q *question) lost(o *object.Object) func(i int) bool {
	d := q.dependents[o.Ref]
	return func(i int) bool { return d != nil && slices.Contains(d.through, i) && lives(&d.facts[i]) }
}

// without is an object with references that find nothing: they name the definition, and
// that has another uid, which to the collector is the same as 404. Who is whose
// dependent and who blocks whom goes by uid, and stays as it is; and it does not matter
// what of the owners' kind was seen. (spec §3.10 step 5)
func (q *question) without(o *object.Object, lost func(i int) bool) *object.Object {
	c := o.Clone()
	c.Owners = slices.Clone(o.Owners)
	for i := range c.Owners {
		ref := &c.Owners[i]
		decoy := q.subject.object.Ref
		if ref.UID == decoy.UID {
			decoy = o.Ref
		}
		if lost(i) && q.lookedFor(*ref, o.Namespace) {
			ref.APIVersion, ref.Kind, ref.Name = decoy.APIVersion, decoy.Kind, decoy.Name
		}
	}
	return c
}

// lookedFor reports whether the collector gets as far as to ask for an owner. Where it
// does not, it never decides anything.
func (q *question) lookedFor(ref object.OwnerReference, namespace string) bool {
	r, err := q.snap.Resources.For(ref.APIVersion, ref.Kind)
	return err == nil && (!r.Namespaced || namespace != "")
}

// rewrite is the snapshot with other objects in the place of some; nil leaves one as
// it is.
func (q *question) rewrite(other func(*object.Object) *object.Object) *snapshot.Snapshot {
	objects := slices.Clone(q.snap.Objects)
	for i, o := range objects {
		if c := other(o); c != nil {
			objects[i] = c
		}
	}
	return q.snap.With(objects)
}

// worst is how the world ends when of whoever loses a reference all other owners go as
// well, and what holds others gives way. It begins with those that lose one in the world
// of look, and goes on until nobody new loses one.
func (q *question) worst(ctx context.Context, base, look ends) (ends, error) {
	losers, freed := map[object.Ref]bool{}, map[object.Ref]bool{}
	last, witnesses := look, q.witnesses(ctx)
	for q.spread(base, last, losers, freed) {
		world := q.rewrite(func(o *object.Object) *object.Object {
			if q.dependents[o.Ref] == nil && !losers[o.Ref] && !freed[o.Ref] {
				return nil
			}
			c := q.without(o, q.lost(o))
			if losers[o.Ref] {
				c = q.without(o, func(int) bool { return true })
			}
			if freed[o.Ref] {
				c.Edit().Finalizers = slices.DeleteFunc(slices.Clone(o.Finalizers()), foreign)
			}
			return c
		})
		var err error
		if last, err = run(ctx, world.With(append(world.Objects, witnesses...))); err != nil {
			return nil, err
		}
		last.forget(witnesses)
	}
	return last, nil
}

// spread adds who loses a reference, or may lose one, and who is held in a world, and not
// in the base. It reports whether there was anybody new.
func (q *question) spread(base, now ends, losers, freed map[object.Ref]bool) bool {
	grown := false
	for r, x := range now {
		ref := object.Ref(r)
		unknown := x.Outcome == report.Unknown && q.dependents[ref] != nil && len(q.dependents[ref].through) > 0
		if !now.differs(base, r) && !unknown {
			continue
		}
		switch {
		case (x.Outcome == report.Pruned || x.Outcome == report.Orphaned || x.Outcome == report.Unknown) && !losers[ref]:
			losers[ref], grown = true, true
		case x.Outcome == report.Blocked && !freed[ref] && q.held(ref):
			freed[ref], grown = true, true
		}
	}
	return grown
}

// held reports whether a finalizer of somebody else holds an object.
func (q *question) held(r object.Ref) bool {
	o := q.snap.Find(r.APIVersion, r.Kind, r.Namespace, r.Name)
	return o != nil && slices.ContainsFunc(o.Finalizers(), foreign)
}

func foreign(finalizer string) bool {
	return finalizer != object.Foreground && finalizer != object.Orphan
}
