package kube

import (
	"context"
	"errors"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// leaving is an object that was there at some revision, and is gone later, or being deleted.
type leaving struct {
	*object.Object
	// seen is a revision at which it was there, and lacked an earlier one at which it was not; 0
	// where that is not known.
	seen, lacked uint64
	still        bool // it is there
}

// arrivals counts those that came after the beginning.
func arrivals(went []leaving) int {
	n := 0
	for i := range went {
		if went[i].lacked != 0 {
			n++
		}
	}
	return n
}

// storedAt is where an object is in the order of a list.
func storedAt(o *object.Object) string { return o.Namespace + "/" + o.Name }

// went are the objects that went between the beginning and a revision, or began to, in the order
// of a list. Where a list breaks off they are those of which is known that they did; some says
// whether that is so of any part of the lists.
func (rd *pastReader) went(ctx context.Context, at Place, to uint64) (went []leaving, some bool, err error) {
	then := map[object.Ref]*leaving{}
	failed := rd.seen(ctx, at, to, then)
	if failed != nil && len(then) == 0 {
		return nil, false, failed
	}
	last, sorted := "", true
	broke := rd.listed(ctx, at, Selection{Revision: to, Metadata: true}, rd.bytes, func(o *object.Object) error {
		sorted = sorted && last <= storedAt(o)
		last = storedAt(o)
		switch x := then[o.Ref]; {
		case x == nil:
		case o.BeingDeleted() && !x.BeingDeleted():
			x.still = true
		default:
			delete(then, o.Ref)
		}
		return nil
	})
	if broke != nil && (last == "" || !sorted) {
		return nil, false, broke
	}
	for _, x := range then {
		if broke == nil || storedAt(x.Object) < last {
			went = append(went, *x)
		}
	}
	slices.SortFunc(went, func(a, b leaving) int { return strings.Compare(storedAt(a.Object), storedAt(b.Object)) })
	return went, true, errors.Join(failed, broke)
}

// seen reads what was there when the past begins, and what was there just before the CRD of the
// place began to be deleted: that may have come since, and all of it went.
func (rd *pastReader) seen(ctx context.Context, at Place, to uint64, then map[object.Ref]*leaving) error {
	var failed error
	before := uint64(0) // the last revision of which all is known
	for _, revision := range append([]uint64{rd.from}, rd.ends[at.Resource.GroupResource()]...) {
		if revision < rd.from || revision >= to || revision == before {
			continue
		}
		err := rd.listed(ctx, at, Selection{Revision: revision, Metadata: true}, rd.bytes/2, func(o *object.Object) error {
			switch x := then[o.Ref]; {
			case (o.Namespace != "") != at.Resource.Namespaced:
				// It was made when the CRD had another scope: nobody can ask for it by its name.
			case x == nil:
				then[o.Ref] = &leaving{Object: o, seen: revision, lacked: before}
			case o.BeingDeleted() == x.BeingDeleted():
				x.seen = revision
			}
			return nil
		})
		before = revision
		if err != nil {
			failed, before = errors.Join(failed, err), 0
		}
	}
	return failed
}

// endsOf are the last revisions before CRDs began to be deleted, by what they define.
func endsOf(changes []history.Change) map[schema.GroupResource][]uint64 {
	ends := map[schema.GroupResource][]uint64{}
	begun := map[object.Ref]bool{}
	for i := range changes {
		c := &changes[i]
		crd := c.Object.Definition()
		going := c.Type == object.Deleted || c.Object.BeingDeleted()
		if crd == nil || !going || begun[c.Object.Ref] || c.Old != nil && c.Old.BeingDeleted() {
			continue
		}
		begun[c.Object.Ref] = true
		gr := schema.GroupResource{Group: crd.Group, Resource: crd.Plural}
		ends[gr] = append(ends[gr], c.Revision-1)
	}
	return ends
}

// arrive searches when an object came that was not there when the past began.
func (d *departure) arrive(ctx context.Context) error {
	if d.lacked == 0 {
		return nil
	}
	near, _ := revisionOf(d.Object) // of one that was not changed since, exactly then
	came, err := firstOf(d.lacked, d.seen, near, func(revision uint64) (bool, error) {
		o, err := d.state(ctx, revision)
		return o != nil, err
	})
	if err != nil {
		return err
	}
	o, err := d.state(ctx, came)
	if o != nil {
		d.changes = append(d.changes, history.Change{Revision: came, Type: object.Added, Object: o})
	}
	return err
}
