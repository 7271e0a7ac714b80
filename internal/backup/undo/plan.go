package undo

import (
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// state is what the plan does with a saved object.
type state uint8

const (
	skipped state = iota
	made          // it is created
	alive         // it exists under its UID
)

// node is a saved object during planning.
type node struct {
	Saved
	content map[string]any
	owners  []object.OwnerReference
	state   state
	skip    Skip
	live    *object.Object
	step    Step
	// later are references that are added once their owners are created, which is after the node.
	later []Reference
	// status is the status that a step of its own restores; nil for none.
	status any
	// managers are the saved managedFields.
	managers []any
	// left reports that an earlier undo created the object and did not restore its managedFields.
	left bool
	// compared is the step that would overwrite the object that exists again.
	compared Step
	// before are the nodes that must be created before this one.
	before []edge
}

type planning struct {
	now   Cluster
	nodes []node // sorted by object
	byUID map[types.UID][]int
	// again are the UIDs of objects that an earlier undo created, by their old UIDs.
	again map[types.UID]types.UID
	// places are the coordinates of nodes that are created or exist again, with the latest node of
	// each.
	places map[object.Coordinates]int
	// occupied are the coordinates of saved objects that exist under their own UID or the one from
	// an earlier undo.
	occupied map[object.Coordinates]bool
	// terminating caches whether a namespace is being deleted.
	terminating map[string]bool
	// first are the created nodes of a rank below lastRank, which other nodes may require.
	first []int
	// definitions are the nodes of CustomResourceDefinitions, services those of Services.
	definitions []int
	services    map[object.Coordinates]int
}

// Resume plans an undo, or the rest of an interrupted one. again maps the old UIDs of objects to
// those from the interrupted undo. Such an object is not created a second time, and references to
// it get its new UID. The plan does not depend on the order of the saved objects.
func Resume(saved []Saved, now Cluster, again map[types.UID]types.UID) *Plan {
	p := &planning{now: now, again: again, byUID: map[types.UID][]int{}, places: map[object.Coordinates]int{}, occupied: map[object.Coordinates]bool{}, services: map[object.Coordinates]int{}, terminating: map[string]bool{}}
	for _, s := range saved {
		p.nodes = append(p.nodes, node{Saved: s, skip: Skip{Object: s.Object}})
	}
	slices.SortStableFunc(p.nodes, func(a, b node) int { return object.Compare(a.Object, b.Object) })
	for i := range p.nodes {
		n := &p.nodes[i]
		p.byUID[n.Object.UID] = append(p.byUID[n.Object.UID], i)
		switch {
		case n.Object.Is(object.CRD):
			p.setState(n) // before its instances, which need it
			p.definitions = append(p.definitions, i)
		case n.Object.Is(object.Service):
			p.services[n.Object.Coordinates()] = i // unless fill corrects it
		}
	}
	for i := range p.nodes {
		n := &p.nodes[i]
		if !slices.Contains(p.definitions, i) {
			p.setState(n)
		}
		switch {
		case n.state == made, n.canCompare():
			p.fill(i)
		case n.state == alive:
			p.occupied[n.Object.Coordinates()] = true
		}
	}
	for i := range p.nodes {
		n := &p.nodes[i]
		if n.state == made {
			if why := p.byItself(i); why != "" {
				n.skipBecause(why)
			} else if p.leaving(n.Object.Namespace) {
				n.skipBecause(reason.NamespaceTerminates)
			}
		} else if n.canCompare() {
			p.compare(i)
		} else if n.skip.Reason == reason.StillTerminating && n.content != nil {
			if why := p.byItself(i); why != "" {
				n.skipBecause(why)
			} else if !p.now.Finished && n.ranToItsEnd(p) {
				n.skipBecause(reason.WouldRunAgain)
			}
		}
		if n.state == made && n.rank() < lastRank {
			p.first = append(p.first, i)
		}
	}
	for i := range p.nodes {
		p.refer(i)
	}
	p.settleTwice() // after every reference to one is decided
	recognised := slices.ContainsFunc(p.nodes, func(n node) bool { return n.skip.Reason == reason.MadeBefore })
	p.compareMadeBefore()
	plan := p.plan(p.order())
	plan.madeBefore = recognised
	return plan
}

// fill assigns the coordinates to a node. If several saved objects have them, the latest one is
// restored.
func (p *planning) fill(i int) {
	at := p.nodes[i].Object.Coordinates()
	other, taken := p.places[at]
	switch {
	case !taken:
		p.places[at] = i
	case p.nodes[i].revision() > p.nodes[other].revision():
		p.nodes[other].skipBecause(reason.ListedTwice)
		p.places[at] = i
	default:
		p.nodes[i].skipBecause(reason.ListedTwice)
	}
	if p.nodes[i].Object.Is(object.Service) {
		p.services[at] = p.places[at]
	}
}

// revision returns the resourceVersion as a number; 0 if it is none.
func (n *node) revision() uint64 {
	v, _ := strconv.ParseUint(textAt(n.content, "metadata", "resourceVersion"), 10, 64)
	return v
}

func (n *node) skipBecause(why reason.Code) {
	n.state, n.skip.Reason = skipped, why
}

// canCompare reports whether an object exists again under the name and its saved content is
// readable.
func (n *node) canCompare() bool { return n.skip.Reason == reason.TakenByAnother && n.live != nil }

// compare decides about an object that was recreated by a user or a controller. Differences are
// overwritten only with Cluster.Overwrite.
func (p *planning) compare(i int) {
	n := &p.nodes[i]
	why := p.byItself(i)
	switch {
	case p.now.Content == nil, p.occupied[n.Object.Coordinates()]: // a later version of it exists
		return
	case why != "":
		n.skipBecause(why)
		return
	case n.hasBuiltInController():
		n.skipBecause(reason.ControllerMakesIt)
		return
	case n.ranToItsEnd(p) && !p.now.Finished:
		n.skipBecause(reason.WouldRunAgain)
		return
	}
	if err := p.readDifferences(n); err != nil {
		n.skip.Detail = "it cannot be compared: " + err.Error()
		return
	}
	p.differs(n, n.compared.Differences)
}

// readDifferences reads the present content of an object and compares it with the saved one.
func (p *planning) readDifferences(n *node) error {
	raw, err := p.now.Content(n.Object)
	if err != nil {
		return err
	}
	s := Step{Verb: Overwrite, Object: n.Object, live: n.live, now: raw, content: intended(n.Object, n.content), managers: n.managers}
	if s.Differences, err = s.Differs(raw); err != nil {
		return err
	}
	s.lackFinalizers(texts(n.content, "metadata", "finalizers"))
	n.compared = s
	return nil
}

// compareMadeBefore decides about the objects that an earlier undo created and that need no other step: what
// the server or another client has changed in them differs, as it did for that undo.
func (p *planning) compareMadeBefore() {
	for i := range p.nodes {
		n := &p.nodes[i]
		if n.skip.Reason != reason.MadeBefore || n.step.Verb != "" || n.status != nil || n.content == nil ||
			p.now.Content == nil || n.hasBuiltInController() || n.ranToItsEnd(p) {
			continue
		}
		if err := p.readDifferences(n); err != nil {
			n.skip.Detail = "it cannot be compared: " + err.Error()
		} else if len(n.compared.Differences) > 0 {
			p.differs(n, n.compared.Differences)
		}
	}
}

// differs decides about an object that exists again by its differences. Its dependents see the
// decision through the reason.
func (p *planning) differs(n *node, list []Difference) {
	n.compared.Differences = list
	switch {
	case len(list) == 0:
		n.skipBecause(reason.SameContent)
	case p.now.Overwrite:
		n.skipBecause(reason.Differs)
		n.step = n.compared
	default:
		n.skipBecause(reason.Differs)
		n.skip.Differences = list
	}
}

// leaving reports whether a namespace is being deleted, so nothing can be created in it.
func (p *planning) leaving(namespace string) bool {
	if namespace == "" {
		return false
	}
	is, asked := p.terminating[namespace]
	if !asked {
		live, err := p.now.Lookup(object.Namespace.Ref("", namespace))
		is = err == nil && live != nil && live.BeingDeleted()
		p.terminating[namespace] = is
	}
	return is
}

// refer decides about the references of a node.
func (p *planning) refer(i int) {
	n := &p.nodes[i]
	switch {
	case n.state == made:
		n.step = Step{Verb: Create, Object: n.Object, content: n.content, Notes: n.step.Notes}
		if n.isDefaultAccount() && n.hasContent() {
			n.step.Notes = append(n.step.Notes, reason.FilledIn)
		}
		p.keep(i, n.owners)
		n.strip(p)
		p.wants(i)
	case n.compared.Verb == Overwrite:
		p.compareOwners(i)
	case n.state == alive && n.content != nil:
		p.giveBack(i)
		if n.skip.Reason == reason.MadeBefore {
			p.statusLeft(i)
			p.manage(i)
		}
	}
	p.findCollected(n)
}

// giveBack plans to restore the references that a live object has lost, or will lose because their
// owner is recreated with another UID.
func (p *planning) giveBack(i int) {
	n := &p.nodes[i]
	_, controlled := n.live.Controller()
	var lost []object.OwnerReference
	for _, ref := range n.owners {
		owner, why := p.owner(i, ref)
		recreated := p.recreatedOwner(i, ref, why)
		again := why == "" && owner >= 0 || recreated != "" || p.isMadeBefore(ref.UID)
		switch {
		case n.live.RefersTo(ref.UID) && again:
			lost = append(lost, ref)
		// What the run should have deleted has lost only references to what it did delete.
		case !n.Changed && n.skip.Reason == reason.StillAlive && !again && (why == "" || len(p.byUID[ref.UID]) == 0):
		case n.live.RefersTo(ref.UID), p.again[ref.UID] != "" && n.live.RefersTo(p.again[ref.UID]), recreated != "" && n.live.RefersTo(recreated):
		case controlled && ref.Controller == object.True:
			n.step.Dropped = append(n.step.Dropped, Dropped{ref, reason.ControllerTaken})
		default:
			lost = append(lost, ref)
		}
	}
	p.keep(i, lost)
	n.before = nil // all creations precede all restores
	switch {
	case len(n.step.References) > 0:
		n.step.Verb, n.step.Object, n.step.live = Restore, n.Object, n.live
		if n.Changed && slices.ContainsFunc(texts(n.content, "metadata", "finalizers"), func(f string) bool { return !n.live.HasFinalizer(f) }) {
			n.step.Notes = append(n.step.Notes, reason.FinalizersNotRestored)
		}
	case len(n.step.Dropped) > 0:
		n.skip.Dropped = n.step.Dropped
		if n.skip.Reason == reason.StillAlive {
			n.skip.Reason = reason.ReferencesLost
		}
	case n.Changed && n.skip.Reason == reason.StillAlive:
		p.rewritten(n)
	}
}

// plan numbers the steps: creations in order, each followed by the references postponed until then,
// and after them the restores.
func (p *planning) plan(order []int) *Plan {
	plan := &Plan{}
	add := func(s Step) {
		s.N = len(plan.Steps) + 1
		plan.Steps = append(plan.Steps, s)
	}
	missing := make([]int, len(p.nodes)) // number of owners in later that are not created yet
	wait := map[types.UID][]int{}
	for _, i := range order {
		n := &p.nodes[i]
		missing[i] = len(n.later)
		for _, r := range n.later {
			wait[r.UID] = append(wait[r.UID], i)
		}
	}
	done := map[types.UID]bool{}
	for _, i := range order {
		n := &p.nodes[i]
		if n.status == nil && len(n.later) == 0 {
			n.step.managers = n.managers
		}
		add(n.step)
		if n.status != nil {
			add(n.statusStep())
		}
		done[n.Object.UID] = true
		for _, r := range n.later {
			if done[r.UID] {
				missing[i]--
			}
		}
		ready := wait[n.Object.UID]
		if len(n.later) > 0 && missing[i] == 0 {
			add(n.relink())
		}
		for _, j := range ready {
			if !done[p.nodes[j].Object.UID] {
				continue // its own iteration adds the step
			}
			if missing[j]--; missing[j] == 0 {
				add(p.nodes[j].relink())
			}
		}
	}
	for i := range p.nodes {
		switch n := &p.nodes[i]; {
		case n.state == made:
		case n.step.Verb == Restore:
			add(n.step)
			if n.status != nil {
				add(n.statusStep())
			}
		case n.step.Verb == Overwrite, n.step.Verb == Manage, n.step.Verb == Secrets:
			add(n.step)
		case n.status != nil:
			add(n.statusStep())
		default:
			plan.Skipped = append(plan.Skipped, n.skip)
		}
	}
	return plan
}

// settleTwice marks earlier versions of objects that an earlier undo created as ListedTwice instead
// of TakenByAnother.
func (p *planning) settleTwice() {
	made := map[object.Coordinates]bool{}
	for i := range p.nodes {
		if n := &p.nodes[i]; n.skip.Reason == reason.MadeBefore {
			made[n.Object.Coordinates()] = true
		}
	}
	for i := range p.nodes {
		if n := &p.nodes[i]; n.skip.Reason == reason.TakenByAnother && made[n.Object.Coordinates()] {
			n.skip.Reason = reason.ListedTwice
		}
	}
}

// relink returns the step that adds the postponed references.
func (n *node) relink() Step {
	return Step{Verb: Restore, Object: n.Object, References: n.later, managers: n.managers}
}

// Recognised reports whether a saved object exists under its own UID or the one from an earlier
// undo of this backup. This proves that the cluster is the same.
func (p *Plan) Recognised() bool {
	for i := range p.Steps {
		s := &p.Steps[i]
		if s.live != nil && s.Verb != Overwrite {
			return true
		}
		if slices.ContainsFunc(s.References, func(r Reference) bool { return !r.Made }) {
			return true // these owners were found under their UIDs
		}
	}
	return p.madeBefore || slices.ContainsFunc(p.Skipped, func(s Skip) bool { return s.Live != "" && s.Live == s.Object.UID })
}
