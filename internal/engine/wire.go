package engine

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// wire is the API of one attempt of a live run. It asks Before ahead of each write, limits the
// concurrent requests, and records them. It must be used by one goroutine.
type wire struct {
	api     API
	options *RunOptions
	// slots is a semaphore with the number of concurrent requests as its capacity.
	slots chan struct{}
	// ended is done when no write may start any more. Writes use another context, so that their
	// answers are awaited.
	ended context.Context
	// item is the object of the attempt.
	item object.Ref
	// share, unless nil, merges concurrent reads of an owner by several attempts.
	share func(ref object.Ref, get func() (*object.Object, error)) (*object.Object, error)
	sent  []Exchange
}

// Resource calls the API. That is no request.
func (w *wire) Resource(apiVersion, kind string) (object.Resource, error) {
	return w.api.Resource(apiVersion, kind)
}

// Get reads an object unless it is uncovered.
func (w *wire) Get(ctx context.Context, ref object.Ref) (*object.Object, error) {
	if err := w.uncovered(ref); err != nil {
		return nil, err
	}
	// The attempt's own object must be fresh, so its read is never shared.
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

// Delete sends a DELETE if allowed.
func (w *wire) Delete(ctx context.Context, r *Request, o metav1.DeleteOptions) error {
	if err := w.allowed(r); err != nil {
		return err
	}
	defer w.leave()
	err := w.api.Delete(ctx, r.Ref, o)
	w.note(Exchange{Verb: object.Delete, Ref: r.Ref, Request: r, Err: err})
	return err
}

// Patch sends a PATCH if allowed.
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

// allowed takes a slot for a write. If the write is refused, it takes none. The context is checked
// last, right before the request.
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
