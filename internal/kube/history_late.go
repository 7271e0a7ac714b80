package kube

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// mostLate is of how many objects of a place it is searched when they went.
const mostLate = 1000

// lateOf reads a place up to a revision, or 0 for now, of which a watch does not reach back so
// far: of a kind that changes all the time the server remembers the changes of a minute or two,
// and of a kind whose definition has changed none from before. Its storage still has the
// states, so that the list of then and that of the end show what went, and the object itself,
// at ever closer revisions, when. What came and went in between is not found, and that is said.
func (c *Client) lateOf(ctx context.Context, at Place, from, to uint64) placePast {
	then, _, err := c.listAt(ctx, at, from)
	if err != nil {
		return placePast{why: err}
	}
	now, to, err := c.listAt(ctx, at, to)
	if err != nil {
		return placePast{why: err}
	}
	here := make(map[object.Ref]bool, len(now))
	for _, o := range now {
		here[o.Ref] = !o.BeingDeleted()
	}
	then = slices.DeleteFunc(then, func(o *object.Object) bool { return here[o.Ref] })
	got := placePast{from: from, why: fmt.Errorf("%s: the server does not remember what came and went before revision %d", at.subject(), to)}
	if len(then) > mostLate {
		got.why = fmt.Errorf("%s: %d objects went, and the server does not remember in which order", at.subject(), len(then))
		return got
	}
	found := make([][]history.Change, len(then))
	failed := make([]error, len(then))
	tasks := make([]func(), len(then))
	for i, o := range then {
		tasks[i] = func() { found[i], failed[i] = c.endOf(ctx, at, o, from, to) }
	}
	besides(tasks)
	got.changes = slices.Concat(found...)
	slices.SortStableFunc(got.changes, func(a, b history.Change) int { return cmp.Compare(a.Revision, b.Revision) })
	if i := slices.IndexFunc(failed, func(err error) bool { return err != nil }); i >= 0 {
		got.why = failed[i]
	}
	return got
}

// listAt lists a place as it was at a revision; 0 for now.
func (c *Client) listAt(ctx context.Context, at Place, revision uint64) ([]*object.Object, uint64, error) {
	var objects []*object.Object
	got, err := c.List(ctx, at, Selection{Revision: revision}, Listing{
		Object:  func(o *object.Object) error { objects = append(objects, o); return nil },
		Restart: func() { objects = nil },
	})
	if err != nil {
		return nil, 0, err
	}
	shown, err := strconv.ParseUint(got.ResourceVersion, 10, 64)
	if err != nil {
		return nil, 0, &UnexpectedAnswerError{About: at.subject().String(), What: "a list with the resourceVersion " + quote(got.ResourceVersion)}
	}
	return objects, shown, nil
}

// endOf searches when an object that was there at from began to be deleted, and when it went,
// which was before to if it did at all.
func (c *Client) endOf(ctx context.Context, at Place, first *object.Object, from, to uint64) ([]history.Change, error) {
	states := map[uint64]*object.Object{from: first}
	state := func(revision uint64) (*object.Object, error) {
		if o, ok := states[revision]; ok {
			return o, nil
		}
		o, err := c.stateAt(ctx, at, first.Ref, revision)
		if err == nil {
			states[revision] = o
		}
		return o, err
	}
	var changes []history.Change
	asked, err := firstOf(from, to, func(revision uint64) (bool, error) {
		o, err := state(revision)
		return o == nil || o.BeingDeleted(), err
	})
	if err != nil {
		return nil, err
	}
	last := states[asked-1]
	if o := states[asked]; o != nil && asked > from {
		changes = append(changes, history.Change{Revision: asked, Type: object.Modified, Object: o, Old: last})
	}
	gone, err := firstOf(asked, to, func(revision uint64) (bool, error) {
		o, err := state(revision)
		return o == nil, err
	})
	if err != nil || states[gone] != nil {
		return changes, err
	}
	if o, err := state(gone - 1); err == nil && o != nil {
		last = o
	}
	return append(changes, history.Change{Revision: gone, Type: object.Deleted, Object: last, Old: last}), nil
}

// firstOf is the first revision from one to another for which something holds, which stays so
// once it does. It is the last one where it never holds.
func firstOf(from, to uint64, holds func(uint64) (bool, error)) (uint64, error) {
	for from < to {
		middle := from + (to-from)/2
		yes, err := holds(middle)
		switch {
		case err != nil:
			return 0, err
		case yes:
			to = middle
		default:
			from = middle + 1
		}
	}
	_, err := holds(from)
	return from, err
}

// stateAt is an object as it was at a revision; nil if it was not there.
func (c *Client) stateAt(ctx context.Context, at Place, ref object.Ref, revision uint64) (*object.Object, error) {
	var found *object.Object
	at.Namespace = ref.Namespace
	_, err := c.List(ctx, at, Selection{Fields: "metadata.name=" + ref.Name, Revision: revision}, Listing{
		Object: func(o *object.Object) error {
			if o.UID == ref.UID {
				found = o
			}
			return nil
		},
	})
	return found, err
}
