package kube

import (
	"context"
	"slices"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// stand reads what the judgement of the losses rests on and has not changed itself: owners,
// namespaces and definitions.
func (c *Client) stand(ctx context.Context, past *history.Past) error {
	wanted := c.unchanged(past)
	found := make([]*object.Object, len(wanted))
	absent := make([]bool, len(wanted))
	tasks := make([]func(), len(wanted))
	for i, ref := range wanted {
		tasks[i] = func() {
			o, err := c.Get(ctx, ref)
			found[i], absent[i] = o, apierrors.IsNotFound(err)
		}
	}
	besides(tasks)
	limited := map[schema.GroupKind]bool{} // of these something may have gone unseen
	for i := range past.Limits {
		r := past.Limits[i].Resource
		limited[schema.GroupKind{Group: r.Group, Kind: r.Kind}] = true
	}
	for i, ref := range wanted {
		switch {
		case absent[i] && !limited[schema.GroupKind{Group: ref.Group(), Kind: ref.Kind}]:
			past.Absent = append(past.Absent, ref)
		case found[i] != nil && c.stood(found[i], past):
			past.Standing = append(past.Standing, found[i])
		}
	}
	return ctx.Err()
}

// stood reports whether an object has not changed since before the end of the past: one that
// came after that says nothing of who was at its place before.
func (c *Client) stood(o *object.Object, past *history.Past) bool {
	n, err := strconv.ParseUint(o.ResourceVersion, 10, 64)
	return err == nil && n <= past.From.Revision || o.Created != 0 && o.Created < past.From.Time
}

// unchanged are the coordinates of owners, namespaces and definitions of what went that no
// change shows, sorted.
func (c *Client) unchanged(past *history.Past) []object.Ref {
	shown := map[object.Ref]bool{}
	for i := range past.Changes {
		shown[past.Changes[i].Object.Ref.WithoutUID()] = true
	}
	wanted := map[object.Ref]bool{}
	want := func(ref object.Ref) {
		at, err := c.locate(ref)
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
