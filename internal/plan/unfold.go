package plan

import (
	"errors"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/impact"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan/outcome"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// errUnlike is the end of a simulation among objects that stand for others, where what became of
// one does not say what becomes of those.
var errUnlike = errors.New("objects that are alike come to different ends")

// worthFolding is how many objects have to be reached for it to be worth finding those that are
// alike: that costs as much as some thousand objects that are simulated. So many are not explored.
const worthFolding = 4 * MostInReach

// fold finds the part of a seed among the objects that stand for all that are alike; nil where
// these are more than so many, or where others than these count: see impact.Fold.
func fold(snap *snapshot.Snapshot, paths *impact.Map, starts []*object.Object, rules engine.Rules, most int) *seen {
	f := paths.Positions().Fold()
	less := snap.With(f.Objects())
	if len(less.Objects) > most || slices.ContainsFunc(starts, func(o *object.Object) bool { return f.Limb(snap.Place(o)) }) {
		return nil
	}
	reach := impact.New(less, Start(less, rules).Graph())
	region := reach.Region(starts...)
	others := outcome.NewNeighbours(snap, nil)
	simulated := controllerSet{controllers: controllers.All(others, others, snap.Version().Rules())}
	unfoldable := func(o *object.Object) bool {
		switch {
		case o.Is(object.Node):
			return reach.Settled(o)
		case f.Times(snap.Place(o)) == 1:
			return false
		default: // where a finalizer of others holds it, there is more to say
			return slices.ContainsFunc(o.Finalizers(), func(name string) bool { return !simulated.releases(name) })
		}
	}
	if region.Any(unfoldable) {
		return nil
	}
	return &seen{paths: reach, part: region.Part().Objects, fold: f}
}

// foldable reports whether a seed may be simulated among objects that stand for others: nothing
// is known by which objects that are alike are told apart, and nobody asks for more than a plan.
// Who asks for other schedules has them tried on all objects.
func (o Options) foldable() bool {
	return o.NoSteps && o.Unrecorded && o.Explore == Usual && o.Keep == nil && (o.Surroundings == nil || !o.Surroundings.TellApart())
}

// size is for how many objects those of a region stand.
func (o Options) size(region *impact.Region, snap *snapshot.Snapshot) int {
	if o.seen == nil || o.seen.fold == nil {
		return region.Size()
	}
	n := 0
	for _, x := range region.Objects() {
		n += o.seen.fold.Times(snap.Place(x))
	}
	return n
}

// unfolding tells of all objects what a plan says of those that stand for them.
type unfolding struct {
	*impact.Fold
	snap    *snapshot.Snapshot
	effects []report.Effect
	// of are the numbers of the effects by the places of their objects, one more than they are;
	// causes are what is different for those for which one stands.
	of     []int32
	causes []causeAbove
}

// causeAbove is what an effect says of the object above that takes its own along: its owner, or its
// claim. Siblings share it.
type causeAbove struct {
	// there: the effect names that object at all; before and behind are the message without its name.
	there          bool
	before, behind string
	// above is the one for which because and message were made.
	above   *object.Object
	because []report.Ref
	message string
}

// unfold has a plan of those that stand for others say the same of these, or returns errUnlike.
func unfold(snap *snapshot.Snapshot, f *impact.Fold, p *report.Plan) error {
	u := unfolding{Fold: f, snap: snap, effects: p.Effects, of: make([]int32, len(snap.Objects)), causes: make([]causeAbove, len(p.Effects))}
	total, consequences := 0, 0
	along := snap.Along()
	for k := range u.effects {
		e := &u.effects[k]
		o := along.Find(object.Ref(e.Object))
		if o == nil || o.UID != e.Object.UID {
			return errUnlike // a controller makes it
		}
		place := snap.Place(o)
		if !u.says(k, place) {
			return errUnlike
		}
		u.of[place] = int32(k) + 1
		total += f.Times(place)
		if e.Consequence != nil {
			consequences += f.Times(place)
		}
	}
	if len(p.Stuck) > 0 {
		return errUnlike
	}
	p.Effects, p.Consequences = u.all(total, consequences)
	return nil
}

// says reports whether an effect on the object at a place says what becomes of those for which
// it stands, and names nobody who stands for others.
func (u *unfolding) says(k, place int) bool {
	e := &u.effects[k]
	if u.Times(place) == 1 {
		return !slices.ContainsFunc(named(e), u.stands)
	}
	plain := e.Outcome == report.Deleted && e.AtOnce == "" && e.Later == "" && len(e.Once) == 0 && e.BlockedBy == nil && len(e.RemovedReferences) == 0 &&
		!e.AlreadyHappening && !e.DependsOnTiming && len(e.Otherwise) == 0 && e.Recreator == "" && e.RecreatedBy == nil
	switch {
	case !plain || len(e.Because) > 1:
		return false
	case len(e.Because) == 0:
		return true
	}
	by := e.Because[0]
	above := u.Above(place)
	if above < 0 || !u.Limb(above) || u.snap.Objects[above].UID != by.UID {
		return !u.stands(by)
	}
	c := &u.causes[k]
	c.before, c.behind, c.there = strings.Cut(e.Message, by.ShortName())
	return c.there && !strings.Contains(c.behind, by.ShortName())
}

// stands reports whether an object is one of those that may stand for others, by whatever name
// of its kind it is called.
func (u *unfolding) stands(ref report.Ref) bool {
	if r, err := u.snap.Resources.For(ref.APIVersion, ref.Kind); err == nil {
		if kept, ok := u.snap.Resources.Stored(r.GroupResource()); ok {
			ref.APIVersion, ref.Kind = kept.APIVersion(), kept.Kind
		}
		if !r.Namespaced {
			ref.Namespace = ""
		}
	}
	o := u.snap.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name)
	return o != nil && u.Limb(u.snap.Place(o))
}

// named are the objects that an effect names beside its own.
func named(e *report.Effect) []report.Ref {
	list := slices.Concat(e.Because, e.RemovedReferences)
	if e.BlockedBy != nil {
		list = append(list, e.BlockedBy.Dependents...)
	}
	if e.RecreatedBy != nil {
		list = append(list, *e.RecreatedBy)
	}
	for i := range e.Once {
		list = append(list, e.Once[i].Object)
	}
	return list
}

// all are the effects on all objects, in the order of these, with their consequences.
func (u *unfolding) all(total, consequences int) ([]report.Effect, []report.Consequence) {
	effects, list := make([]report.Effect, 0, total), make([]report.Consequence, 0, consequences)
	for place, o := range u.snap.Objects {
		by := u.By(place)
		k := int(u.of[by]) - 1
		if k < 0 {
			continue
		}
		effects = append(effects, u.effects[k])
		e := &effects[len(effects)-1]
		if by != place {
			e.Object = report.RefOf(o.Ref)
			if c := &u.causes[k]; c.there {
				e.Because, e.Message = c.of(u.snap.Objects[u.Above(place)], e.Because[0])
			}
		}
		if e.Consequence != nil {
			list = append(list, *e.Consequence)
			e.Consequence = &list[len(list)-1]
			e.Consequence.Object = e.Object
		}
	}
	return effects, list
}

// of is what the effect says where this is the object above: siblings call it by the same kind.
func (c *causeAbove) of(above *object.Object, ref report.Ref) ([]report.Ref, string) {
	if c.above != above {
		ref.Name, ref.UID = above.Name, above.UID
		c.above, c.because, c.message = above, []report.Ref{ref}, c.before+ref.ShortName()+c.behind
	}
	return c.because, c.message
}
