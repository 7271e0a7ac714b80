package kube

import (
	"context"

	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// departure searches when an object began to be deleted, and when it went.
type departure struct {
	*part
	leaving

	states map[uint64]*object.Object
	// asked and gone are what was found; 0 for nothing.
	asked, gone uint64
	changes     []history.Change
}

// search finds both, which may have been near given revisions.
func (d *departure) search(ctx context.Context, nearAsked, nearGone uint64) (err error) {
	begin := d.seen
	var last *object.Object
	if !d.BeingDeleted() {
		d.asked, err = firstOf(begin, d.to, nearAsked, func(revision uint64) (bool, error) {
			o, err := d.state(ctx, revision)
			return o == nil || o.BeingDeleted(), err
		})
		if err != nil {
			return err
		}
		if last, err = d.state(ctx, d.asked-1); err != nil {
			return err
		}
		now, err := d.state(ctx, d.asked)
		switch {
		case err != nil:
			return err
		case now == nil:
			d.gone = d.asked
			d.tell(history.Change{Revision: d.gone, Type: object.Deleted, Object: last, Old: last})
			return nil
		}
		d.tell(history.Change{Revision: d.asked, Type: object.Modified, Object: now, Old: last})
		begin = d.asked
	}
	if d.still {
		return nil
	}
	d.gone, err = firstOf(begin, d.to, nearGone, func(revision uint64) (bool, error) {
		o, err := d.state(ctx, revision)
		return o == nil, err
	})
	if err != nil {
		return err
	}
	if last, err = d.state(ctx, d.gone-1); err != nil {
		return err
	}
	d.tell(history.Change{Revision: d.gone, Type: object.Deleted, Object: last, Old: last})
	return nil
}

// tell keeps a change, unless the server has shown nothing of the object itself, as one does that
// was made anew meanwhile.
func (d *departure) tell(c history.Change) {
	if c.Object != nil {
		d.changes = append(d.changes, c)
	}
}

// state is the object as it was at a revision; nil if it was not there.
func (d *departure) state(ctx context.Context, revision uint64) (*object.Object, error) {
	if o, ok := d.states[revision]; ok {
		return o, nil
	}
	if d.part.asked == d.left {
		return nil, errEnough
	}
	d.part.asked++
	o, err := d.reader.stateAt(ctx, d.place, d.Ref, revision)
	if err != nil {
		return nil, err
	}
	if o != nil && o.UID != d.UID {
		o = nil
	}
	d.states[revision] = o
	return o, nil
}

// nearest is how far, more or less, a revision is from another one that it is near to.
const nearest = 8

// firstOf is the first revision behind low for which something holds, which does not at low, and
// does at high: it stays so once it does. It may be near a revision.
func firstOf(low, high, near uint64, holds func(uint64) (bool, error)) (uint64, error) {
	probe := func(revision uint64) error {
		yes, err := holds(revision)
		switch {
		case err != nil:
		case yes:
			high = revision
		default:
			low = revision
		}
		return err
	}
	for step := uint64(1); step <= nearest && low < near && near < high; step *= 2 {
		if err := probe(near); err != nil {
			return 0, err
		}
		if near == high { // it is before that
			near = max(near, low+step) - step
		} else {
			near += step
		}
	}
	for high-low > 1 {
		if err := probe(low + (high-low)/2); err != nil {
			return 0, err
		}
	}
	return high, nil
}
