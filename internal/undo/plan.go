package undo

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// state is what becomes of a saved object.
type state uint8

const (
	skipped state = iota
	made          // it is created
	alive         // it is there under its UID
)

// node is a saved object on its way into the plan.
type node struct {
	Saved
	content map[string]any
	owners  []object.OwnerReference
	state   state
	skip    Skip
	live    *object.Object
	step    Step
	// before are the nodes that have to be made before this one.
	before []edge
}

type planning struct {
	lookup Lookup
	nodes  []node // sorted by object
	byUID  map[types.UID][]int
	// again are the new UIDs of what an earlier undo made, by the old ones.
	again map[types.UID]types.UID
	// places are those that are filled by the plan.
	places map[place]bool
	// first are the nodes that others may want to have before them.
	first []int
}

// place is where only one object can be.
type place struct{ group, kind, namespace, name string }

func placeOf(r object.Ref) place { return place{r.Group(), r.Kind, r.Namespace, r.Name} }

// Make plans an undo. The plan does not depend on the order of the saved objects.
func Make(saved []Saved, lookup Lookup) *Plan { return Resume(saved, lookup, nil) }

// Resume plans the rest of an undo that was cut short. Again has the UIDs that
// objects got then, by their old ones: what is there under such a UID is not made a
// second time, and references to it are written with that UID.
func Resume(saved []Saved, lookup Lookup, again map[types.UID]types.UID) *Plan {
	p := &planning{lookup: lookup, again: again, byUID: map[types.UID][]int{}, places: map[place]bool{}}
	for _, s := range saved {
		p.nodes = append(p.nodes, node{Saved: s, skip: Skip{Object: s.Object}})
	}
	slices.SortStableFunc(p.nodes, func(a, b node) int { return object.Compare(a.Object, b.Object) })
	for i := range p.nodes {
		n := &p.nodes[i]
		p.byUID[n.Object.UID] = append(p.byUID[n.Object.UID], i)
		p.look(n)
		if n.state == made && p.places[placeOf(n.Object)] {
			n.leave(ListedTwice)
		}
		if n.state == made {
			p.places[placeOf(n.Object)] = true
		}
	}
	for i := range p.nodes {
		n := &p.nodes[i]
		if n.state == made && p.controllerMakes(i) {
			n.leave(ControllerMakesIt)
		}
		if n.state == made && n.rank() < lastRank {
			p.first = append(p.first, i)
		}
	}
	for i := range p.nodes {
		p.refer(i)
	}
	return p.plan(p.order())
}

func (n *node) leave(why SkipReason) {
	n.state, n.skip.Reason = skipped, why
}

// look decides by what the cluster has now.
func (p *planning) look(n *node) {
	live, err := p.lookup(n.Object)
	switch {
	case err != nil:
		n.skip.Detail = err.Error()
		n.leave(CannotTell)
		return
	case live != nil && live.UID == p.again[n.Object.UID] && !live.BeingDeleted():
		n.skip.Live, n.skip.Reason = live.UID, MadeBefore
		n.state = alive
		return
	case live != nil && live.UID != n.Object.UID:
		n.skip.Live = live.UID
		n.leave(TakenByAnother)
		return
	case live != nil && live.BeingDeleted():
		n.skip.Live = live.UID
		n.leave(StillTerminating)
		return
	case live == nil && n.Raw == nil:
		n.leave(NotSaved)
		return
	}
	if live != nil {
		n.skip.Live, n.skip.Reason = live.UID, StillAlive
		n.state, n.live = alive, live
		if n.Raw == nil || !n.Changed {
			return
		}
	} else {
		n.state = made
	}
	if err := n.decode(); err != nil {
		n.skip.Detail, n.skip.Reason = err.Error(), Unreadable
		n.content, n.owners = nil, nil
		if n.state == made {
			n.state = skipped
		}
		return
	}
	if n.state == made && n.ranToItsEnd() {
		n.leave(WouldRunAgain)
	}
}

// refer decides on the references of a node.
func (p *planning) refer(i int) {
	n := &p.nodes[i]
	switch {
	case n.state == made:
		n.step = Step{Verb: Create, Object: n.Object, content: n.content}
		p.keep(i, n.owners)
		n.strip(p)
		p.wants(i)
	case n.state == alive && n.content != nil:
		p.giveBack(i)
	}
}

// giveBack plans to restore the references that a live object has lost.
func (p *planning) giveBack(i int) {
	n := &p.nodes[i]
	_, controlled := n.live.Controller()
	var lost []object.OwnerReference
	for _, ref := range n.owners {
		switch {
		case n.live.RefersTo(ref.UID), p.again[ref.UID] != "" && n.live.RefersTo(p.again[ref.UID]):
		case controlled && ref.Controller == object.True:
			n.step.Dropped = append(n.step.Dropped, Dropped{ref, ControllerTaken})
		default:
			lost = append(lost, ref)
		}
	}
	p.keep(i, lost)
	n.before = nil // all that is made is made before anything is restored
	switch {
	case len(n.step.References) > 0:
		n.step.Verb, n.step.Object, n.step.live = Restore, n.Object, n.live
		if slices.ContainsFunc(texts(n.content, "metadata", "finalizers"), func(f string) bool { return !n.live.HasFinalizer(f) }) {
			n.step.Notes = append(n.step.Notes, FinalizersNotRestored)
		}
	case len(n.step.Dropped) > 0:
		n.skip.Reason, n.skip.Dropped = ReferencesLost, n.step.Dropped
	}
}

// plan numbers the steps: what is made, in the order, then what is restored.
func (p *planning) plan(order []int) *Plan {
	plan := &Plan{}
	add := func(s Step) {
		s.N = len(plan.Steps) + 1
		plan.Steps = append(plan.Steps, s)
	}
	for _, i := range order {
		add(p.nodes[i].step)
	}
	for i := range p.nodes {
		switch n := &p.nodes[i]; {
		case n.state == made:
		case n.step.Verb == Restore:
			add(n.step)
		default:
			plan.Skipped = append(plan.Skipped, n.skip)
		}
	}
	return plan
}
