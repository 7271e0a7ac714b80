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

// Late records the overdue deletions of the snapshot. The next step of each was possible at once, but
// its controller has not taken it for minutes, or has failed. The simulation does not take these
// steps either. A nil *Late has no entries.
type Late struct {
	Turns map[Turn]evidence.Lateness
	// Standing has the objects of Turns, without their UIDs.
	Standing map[object.Ref]Standstill
	// owners are the objects that wait for an overdue collector. byUID has their indexes in owners.
	owners []*object.Object
	byUID  map[types.UID][]int
}

// Turn is the step of one actor in the deletion of one object. The object is named without its UID.
type Turn struct {
	actor string
	of    object.Ref
}

// Standstill is why a deletion does not progress, and which finalizers stay because of it.
type Standstill struct {
	evidence.Lateness
	actor string
	holds []string
}

// Of returns the standstill of an object.
func (l *Late) Of(ref object.Ref) (Standstill, bool) {
	if l == nil {
		return Standstill{}, false
	}
	st, ok := l.Standing[ref.WithoutUID()]
	return st, ok
}

// Add records that an actor is overdue. The first actor recorded for an object is the one reported.
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

// Stops reports whether the step of an actor in the deletion of an object is overdue.
func (l *Late) Stops(actor string, of object.Ref) bool {
	if l == nil {
		return false
	}
	_, yes := l.Turns[Turn{actor, of.WithoutUID()}]
	return yes
}

// Owner returns the owner whose deletion should have made the collector write to the object long ago;
// nil if there is none. Of several owners it returns the one recorded first.
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

// lateOwner is an index in Late.owners, and the first reference to that owner.
type lateOwner struct {
	place int
	by    *object.OwnerReference
}

// ownersOf returns the owners of an object that are in l.owners, in that order. It starts from the
// references, because an object has few of them, and the list may have thousands.
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

// LateReason returns the reason of an effect for the reason of an overdue step.
func LateReason(why reason.Code) reason.Code {
	if why == reason.DeletionForgotten {
		return reason.DeletionMissed
	}
	return why
}
