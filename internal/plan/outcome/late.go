package outcome

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim"
	"github.com/kubectl-gc/kubectl-gc/internal/evidence"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// Late are the deletions in the snapshot with which somebody could have gone on at once,
// and has not for minutes, or has tried and failed: what nobody does is not simulated.
// A nil late stands for none.
type Late struct {
	Turns map[Turn]evidence.Lateness
	// Standing are the objects of the turns.
	Standing map[object.Ref]Standstill
	// owners are those for which the collector is late, and byUID their places in the list.
	owners []*object.Object
	byUID  map[types.UID][]int
}

// Turn is the part of one actor in the end of one object, which is named without its
// UID.
type Turn struct {
	actor string
	of    object.Ref
}

// Standstill is why an object does not go, and the finalizers that stay therefore.
type Standstill struct {
	evidence.Lateness
	actor string
	holds []string
}

// Of is why an object stands still.
func (l *Late) Of(ref object.Ref) (Standstill, bool) {
	if l == nil {
		return Standstill{}, false
	}
	st, ok := l.Standing[ref.WithoutUID()]
	return st, ok
}

// Add takes up that an actor is late. Of several who are, the first is named.
func (l *Late) Add(actor string, o *object.Object, why evidence.Lateness, holds string) {
	key := o.Ref.WithoutUID()
	l.Turns[Turn{actor, key}] = why
	st, known := l.Standing[key]
	if !known {
		st = Standstill{Lateness: why, actor: actor}
	}
	if holds != "" {
		st.holds = append(st.holds, holds)
	}
	l.Standing[key] = st
	if actor == ActorCollector {
		if l.byUID == nil {
			l.byUID = map[types.UID][]int{}
		}
		l.byUID[o.UID] = append(l.byUID[o.UID], len(l.owners))
		l.owners = append(l.owners, o)
	}
}

// Stops reports whether an actor is late with what an object is to go with.
func (l *Late) Stops(actor string, of object.Ref) bool {
	if l == nil {
		return false
	}
	_, yes := l.Turns[Turn{actor, of.WithoutUID()}]
	return yes
}

// Owner is the owner for the sake of whose deletion the collector should long have
// written to an object; nil if there is none. Of several it is the one that was found
// first.
func (l *Late) Owner(server *apisim.Server, ref object.Ref) *object.Object {
	if l == nil || len(l.owners) == 0 {
		return nil
	}
	o, err := server.Get(context.Background(), ref)
	if err != nil || o.BeingDeleted() {
		return nil
	}
	for _, c := range l.ownersOf(o) {
		owner := l.owners[c.place]
		now, err := server.Get(context.Background(), owner.Ref)
		if err != nil || now.UID != owner.UID {
			continue
		}
		if now.HasFinalizer(object.Orphan) || now.HasFinalizer(object.Foreground) && c.by.Blocks() {
			return owner
		}
	}
	return nil
}

// lateOwner is an owner by its place in the list, and the first reference to it.
type lateOwner struct {
	place int
	by    *object.OwnerReference
}

// ownersOf are the owners of an object for which the collector is late, in the order of the
// list: an object has few owners, and there may be thousands in the list.
func (l *Late) ownersOf(o *object.Object) []lateOwner {
	var list []lateOwner
	for i := range o.Owners {
		for _, place := range l.byUID[o.Owners[i].UID] {
			list = append(list, lateOwner{place, &o.Owners[i]})
		}
	}
	slices.SortStableFunc(list, func(a, b lateOwner) int { return a.place - b.place })
	return slices.CompactFunc(list, func(a, b lateOwner) bool { return a.place == b.place })
}

// LateReason is the reason of an effect for a lateness.
func LateReason(why reason.Code) reason.Code {
	if why == reason.DeletionForgotten {
		return reason.DeletionMissed
	}
	return why
}
