package engine

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// wire is the API as one attempt of a live run sees it: it asks before it writes,
// keeps to the number of requests in flight, and notes what went over it. It is
// for one goroutine.
type wire struct {
	api     API
	options *RunOptions
	// slots has room for as many requests as may be in flight.
	slots chan struct{}
	// ended is done when no write may start any more. The writes themselves run
	// with another context, so that their answers are waited for.
	ended context.Context
	// item is whom the attempt is about.
	item object.Ref
	// share, when not nil, lets the reads of an owner by several attempts be one.
	share func(ref object.Ref, get func() (*object.Object, error)) (*object.Object, error)
	sent  []Exchange
}

// Resource asks the API: that is no request.
func (w *wire) Resource(apiVersion, kind string) (object.Resource, error) {
	return w.api.Resource(apiVersion, kind)
}

// Get asks for an object, unless nothing can be known of it.
func (w *wire) Get(ctx context.Context, ref object.Ref) (*object.Object, error) {
	if err := w.uncovered(ref); err != nil {
		return nil, err
	}
	// Who reads an object to judge it afresh does not want what was read before.
	if w.share == nil || ref == w.item {
		return w.get(ctx, ref)
	}
	return w.share(ref, func() (*object.Object, error) { return w.get(ctx, ref) })
}

// get sends a GET.
func (w *wire) get(ctx context.Context, ref object.Ref) (*object.Object, error) {
	if err := w.enter(ctx); err != nil {
		return nil, err
	}
	defer w.leave()
	o, err := w.api.Get(ctx, ref)
	w.note(Exchange{Verb: object.Get, Ref: ref, Err: err})
	return o, err
}

// Delete sends a DELETE if it may.
func (w *wire) Delete(ctx context.Context, r *Request, o metav1.DeleteOptions) error {
	if err := w.allowed(r); err != nil {
		return err
	}
	defer w.leave()
	err := w.api.Delete(ctx, r.Ref, o)
	w.note(Exchange{Verb: object.Delete, Ref: r.Ref, Request: r, Err: err})
	return err
}

// Patch sends a PATCH if it may.
func (w *wire) Patch(ctx context.Context, r *Request, p object.Patch) error {
	if err := w.allowed(r); err != nil {
		return err
	}
	defer w.leave()
	err := w.api.Patch(ctx, r.Ref, p)
	w.note(Exchange{Verb: object.PatchVerb, Ref: r.Ref, Request: r, Err: err})
	return err
}

func (w *wire) uncovered(ref object.Ref) error {
	if w.options.Uncovered == nil {
		return nil
	}
	if why, ok := w.options.Uncovered(ref); ok {
		return &object.UncoveredError{Ref: ref, Why: why}
	}
	return nil
}

// allowed takes a slot for a write, and leaves it untaken when the write is
// refused. Nothing stands between the last look at the context and the request.
func (w *wire) allowed(r *Request) error {
	if w.options.Before != nil {
		if err := w.options.Before(w.ended, *r); err != nil {
			return &RefusedError{Request: *r, Err: err}
		}
	}
	if err := w.enter(w.ended); err != nil {
		return &RefusedError{Request: *r, Err: err}
	}
	return nil
}

func (w *wire) enter(ctx context.Context) error {
	select {
	case w.slots <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := ctx.Err(); err != nil {
		w.leave()
		return err
	}
	return nil
}

func (w *wire) leave() { <-w.slots }

func (w *wire) note(x Exchange) { w.sent = append(w.sent, x) }
