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

// stand reads the unchanged objects that the judgement of deletions depends on: owners, namespaces
// and CRDs, as they were at the end of the past. An object that did not exist then and has no
// changes did not exist at any time.
func (rd *pastReader) stand(ctx context.Context, past *history.Past) error {
	limited := map[schema.GroupKind]bool{} // changes of these kinds may be missing
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

// mostElsewhere is for how many owners other namespaces are searched.
const mostElsewhere = 50

// standElsewhere searches other namespaces for owners that their dependents' namespace lacks: an
// owner reference across namespaces is a reason to delete. Without permission to list all
// namespaces it finds none.
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

// chunks splits references into runs of one kind.
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

// named reads objects by name, because a user with permission for that may not be allowed to list
// them. Absence now says nothing about the past.
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

// stood reports whether an object existed when the past begins. A newer one does not show what
// existed before it.
func stood(o *object.Object, past *history.Past) bool {
	n, err := strconv.ParseUint(o.ResourceVersion, 10, 64)
	return err == nil && n <= past.From.Revision || o.Created != 0 && o.Created < past.From.Time
}

// unchanged returns the coordinates of owners, namespaces and CRDs of deleted objects that have no
// changes, sorted.
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
