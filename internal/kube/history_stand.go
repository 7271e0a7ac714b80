package kube

import (
	"context"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// stand reads what the judgement of the losses rests on and has not changed itself: owners,
// namespaces and definitions, as they were at the end of the past. Where nothing was then and
// no change is shown, nothing was all the time.
func (rd *pastReader) stand(ctx context.Context, past *history.Past) error {
	limited := map[schema.GroupKind]bool{} // of these something may have gone unseen
	for i := range past.Limits {
		r := past.Limits[i].Resource
		limited[schema.GroupKind{Group: r.Group, Kind: r.Kind}] = true
	}
	wanted := rd.unchanged(past)
	for _, some := range chunks(wanted) {
		at, err := rd.locate(some[0])
		if err != nil {
			continue
		}
		at.Namespace = ""
		then, err := rd.states(ctx, at, some, rd.to)
		if err != nil && len(some) <= fewByName {
			rd.named(ctx, some, then)
		}
		for _, ref := range some {
			switch o := then.of(ref); {
			case o == nil && err == nil && !limited[schema.GroupKind{Group: ref.Group(), Kind: ref.Kind}]:
				past.Absent = append(past.Absent, ref)
			case o != nil && stood(o, past):
				past.Standing = append(past.Standing, o)
			}
		}
	}
	rd.standElsewhere(ctx, past)
	return ctx.Err()
}

// mostElsewhere is for how many names of owners it is looked in other namespaces.
const mostElsewhere = 50

// standElsewhere looks in other namespaces for owners of what went that are not in its own: an owner
// reference that crosses namespaces is a reason to delete. Without the right to list all namespaces it finds none.
func (rd *pastReader) standElsewhere(ctx context.Context, past *history.Past) {
	absent := map[object.Ref]bool{}
	for _, ref := range past.Absent {
		absent[ref] = true
	}
	looked := map[object.Ref]bool{}
	for i := range past.Changes {
		c := &past.Changes[i]
		if c.Type != object.Deleted && !c.Object.BeingDeleted() {
			continue
		}
		for _, owner := range c.Object.Owners {
			at, err := rd.locate(owner.In(c.Object.Namespace))
			ref := object.Ref{APIVersion: owner.APIVersion, Kind: owner.Kind, Namespace: at.Namespace, Name: owner.Name}
			if err != nil || at.Namespace == "" || !absent[ref] || looked[ref] || len(looked) == mostElsewhere {
				continue
			}
			looked[ref] = true
			by := Selection{Fields: fields.OneTermEqualSelector("metadata.name", owner.Name).String(), Revision: c.Before(), Metadata: true}
			_, _ = rd.List(ctx, Place{Resource: at.Resource}, by, Listing{Object: func(o *object.Object) error {
				if o.UID == owner.UID {
					past.Elsewhere = append(past.Elsewhere, o)
				}
				return nil
			}})
		}
	}
}

// chunks are runs of coordinates of one kind.
func chunks(refs []object.Ref) [][]object.Ref {
	var all [][]object.Ref
	for len(refs) > 0 {
		n := slices.IndexFunc(refs, func(ref object.Ref) bool { return ref.APIVersion != refs[0].APIVersion || ref.Kind != refs[0].Kind })
		if n < 0 {
			n = len(refs)
		}
		all, refs = append(all, refs[:n]), refs[n:]
	}
	return all
}

// named asks for objects by their names: whoever may do that may not always list them. That
// there is none now says nothing of before.
func (rd *pastReader) named(ctx context.Context, refs []object.Ref, into standing) {
	now := make([]*object.Object, len(refs))
	tasks := make([]func(), len(refs))
	for i, ref := range refs {
		tasks[i] = func() { now[i], _ = rd.Get(ctx, ref) }
	}
	besides(tasks)
	for i, o := range now {
		if o != nil {
			into[nameOf(refs[i])] = o
		}
	}
}

// stood reports whether an object has not changed since before the end of the past: one that
// came after that says nothing of who was at its place before.
func stood(o *object.Object, past *history.Past) bool {
	n, err := strconv.ParseUint(o.ResourceVersion, 10, 64)
	return err == nil && n <= past.From.Revision || o.Created != 0 && o.Created < past.From.Time
}

// unchanged are the coordinates of owners, namespaces and definitions of what went that no
// change shows, sorted.
func (rd *pastReader) unchanged(past *history.Past) []object.Ref {
	shown := map[object.Ref]bool{}
	for i := range past.Changes {
		shown[past.Changes[i].Object.Ref.WithoutUID()] = true
	}
	wanted := map[object.Ref]bool{}
	want := func(ref object.Ref) {
		at, err := rd.locate(ref)
		if err != nil {
			return
		}
		ref = object.Ref{APIVersion: ref.APIVersion, Kind: ref.Kind, Namespace: at.Namespace, Name: ref.Name}
		if !shown[ref] {
			wanted[ref] = true
		}
	}
	for i := range past.Changes {
		ch := &past.Changes[i]
		if ch.Type != object.Deleted && !ch.Object.BeingDeleted() && (ch.Old == nil || len(ch.Old.Owners) <= len(ch.Object.Owners)) {
			continue
		}
		for _, o := range []*object.Object{ch.Old, ch.Object} {
			if o == nil {
				continue
			}
			for _, ref := range history.Around(o, past.Resources) {
				want(ref)
			}
		}
	}
	refs := make([]object.Ref, 0, len(wanted))
	for ref := range wanted {
		refs = append(refs, ref)
	}
	slices.SortFunc(refs, object.Compare)
	return refs
}
