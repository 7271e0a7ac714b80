package impact

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/graph"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// Outline is a snapshot without its leaves: the objects that have no dependents and no content,
// and stay as long as their owners do. Most objects are leaves; a collector that has not seen them knows
// all the same what a delete may reach, if somebody says whose dependents they are.
type Outline struct {
	snap *snapshot.Snapshot
	// objects are the others, with those that the collector does not watch.
	objects []*object.Object
	// owners are all that somebody names as an owner, by uid; owns and leaf tell of the objects, by
	// place, whether they are among these, and among the leaves.
	owners     map[types.UID]*ownerOfLeaves
	owns, leaf []bool
}

// ownerOfLeaves is an object, nil where there is none with that uid, and its leaves.
type ownerOfLeaves struct {
	*object.Object
	leaves []span
}

// OutlineOf finds the leaves of a snapshot. It is nil where objects share a uid, or where
// references name objects without one.
func OutlineOf(snap *snapshot.Snapshot) *Outline {
	if slices.ContainsFunc(snap.Problems, func(p snapshot.Problem) bool { return p.Kind == snapshot.DuplicateUID }) || namesNameless(snap) {
		return nil
	}
	m := &Map{snap: snap, nodes: map[string]*object.Object{}}
	out := &Outline{snap: snap, owners: map[types.UID]*ownerOfLeaves{}, owns: make([]bool, len(snap.Objects)), leaf: make([]bool, len(snap.Objects))}
	out.enterOwners()
	for same := range snap.ByKind() {
		if same[0].Is(object.Node) {
			m.enterNodes(same)
		}
	}
	at := int32(0)
	for same := range snap.ByKind() {
		out.sort(m, same, at)
		at += int32(len(same))
	}
	return out
}

// enterOwners notes who is named as an owner, and finds these.
func (out *Outline) enterOwners() {
	var last []object.OwnerReference
	for _, o := range out.snap.Objects {
		if len(o.Owners) == 0 || object.SameOwners(last, o.Owners) {
			continue
		}
		last = o.Owners
		for i := range last {
			if out.owners[last[i].UID] == nil {
				out.owners[last[i].UID] = &ownerOfLeaves{}
			}
		}
	}
	for i, o := range out.snap.Objects {
		if owner := out.owners[o.UID]; owner != nil {
			owner.Object, out.owns[i] = o, true
		}
	}
}

// sort puts the objects of one kind, which are at a place, among the leaves or the others.
func (out *Outline) sort(m *Map, same []*object.Object, at int32) {
	if !out.watched(same[0]) || Container(same[0]) {
		out.objects = append(out.objects, same...)
		return
	}
	var known *object.Object // an object whose owners are there
	for _, o := range same {
		if out.owns[at] || m.stirs(o) || !alike(known, o) && !out.owned(m, o) {
			out.objects = append(out.objects, o)
		} else {
			out.leaf[at] = true
			for i := range o.Owners {
				out.owners[o.Owners[i].UID].add(at)
			}
			if len(o.Owners) > 0 {
				known = o
			}
		}
		at++
	}
}

// add adds the object at a place to the leaves.
func (owner *ownerOfLeaves) add(at int32) {
	if n := len(owner.leaves); n > 0 && owner.leaves[n-1].to >= at {
		owner.leaves[n-1].to = at + 1 // an owner that is named twice has it already
		return
	}
	owner.leaves = append(owner.leaves, span{at, at + 1})
}

// owned reports whether all owners of an object are there, just as it says.
func (out *Outline) owned(m *Map, o *object.Object) bool {
	for _, ref := range o.Owners {
		if owner := out.owners[ref.UID]; owner.Object == nil || !out.watched(owner.Object) || !m.means(ref, owner.Ref, o) {
			return false
		}
	}
	return true
}

// watched reports whether the collector watches the kind of an object.
func (out *Outline) watched(o *object.Object) bool {
	r, err := out.snap.Resources.For(o.APIVersion, o.Kind)
	return err == nil && out.snap.Resources.Monitored(r)
}

// Snapshot is the outline as a snapshot: what a collector has to see.
func (out *Outline) Snapshot() *snapshot.Snapshot { return out.snap.With(out.objects) }

// Map maps the whole snapshot; the graph is that of a collector which has seen the outline and
// done nothing.
func (out *Outline) Map(g *graph.Graph) *Map { return mapOf(out.snap, g, out) }

// isLeaf reports whether the object at a place is a leaf; nothing is where there is no outline.
func (out *Outline) isLeaf(place int) bool { return out != nil && place >= 0 && out.leaf[place] }

// leavesOf are the leaves of an owner.
func (out *Outline) leavesOf(o *object.Object) []span {
	if out == nil || out.owners[o.UID] == nil {
		return nil
	}
	return out.owners[o.UID].leaves
}
