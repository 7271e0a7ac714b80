package unserve

import (
	"context"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// The collector knows of an object of a kind that it does not watch, as an Event, only as
// long as one that it watches refers to it. In the worst world all of these may lose their
// references at once, and nobody would ask for that object any more, though in a cluster
// they lose them one after the other. A witness goes on to refer to it: an object of the
// kind of one that does, which stays thanks to an anchor.

// witness is the name that marks witnesses and their anchors: no object can have it.
const witness = " (witness)"

// witnesses are the objects that go on to refer to those that are not watched and have
// owners to lose, one with its anchor for each.
func (q *question) witnesses(ctx context.Context) []*object.Object {
	var list []*object.Object
	has := map[types.UID]bool{}
	for _, o := range q.snap.Objects {
		if len(o.Owners) == 0 || !q.watched(o) {
			continue
		}
		for _, ref := range o.Owners {
			if has[ref.UID] || !q.polled(ctx, ref, o.Namespace) {
				continue
			}
			has[ref.UID] = true
			anchor := standIn(o, "anchor-of-"+ref.UID)
			w := standIn(o, "witness-of-"+ref.UID)
			w.Owners = []object.OwnerReference{
				{APIVersion: ref.APIVersion, Kind: ref.Kind, Name: ref.Name, UID: ref.UID},
				{APIVersion: anchor.APIVersion, Kind: anchor.Kind, Name: anchor.Name, UID: anchor.UID},
			}
			list = append(list, anchor, w)
		}
	}
	return list
}

// polled reports whether the collector knows an owner by references alone, and finds it
// with references of its own.
func (q *question) polled(ctx context.Context, ref object.OwnerReference, namespace string) bool {
	g := q.collector.Graph()
	id, ok := g.Find(ref.UID)
	if !ok || !g.Virtual(id) {
		return false
	}
	owner, err := q.world.Get(ctx, ref.In(namespace))
	return err == nil && owner.UID == ref.UID && len(owner.Owners) > 0
}

// standIn is an object of the kind and in the namespace of another one, with nothing but
// a uid.
func standIn(o *object.Object, uid types.UID) *object.Object {
	return &object.Object{
		Ref:             object.Ref{APIVersion: o.APIVersion, Kind: o.Kind, Namespace: o.Namespace, Name: string(uid) + witness, UID: uid},
		ResourceVersion: o.ResourceVersion,
	}
}

// forget takes out of the ends of a world what became of the witnesses.
func (e ends) forget(witnesses []*object.Object) {
	for _, w := range witnesses {
		delete(e, report.RefOf(w.Ref))
	}
}
