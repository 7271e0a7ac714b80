package engine

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/graph"
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

// Resource maps a kind as the API does. It sends no request.
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

// allowed asks Before about a write and then takes a slot for it. After an error it holds no slot.
// The context is checked last, right before the request.
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

// enter waits for a slot. leave returns it.
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

// Record is the protocol of one finished attempt of a live run.
type Record struct {
	// Sequence is the number of the attempt in the run, from 1.
	Sequence uint64
	// Decision has the attempt, the classes of the owners, the reason and the requests.
	Decision Decision
	// Exchanges are the requests that were sent, reads included, in order. Those of a parallel
	// orphaning are in the order of the dependents. A request that Before refused is not included.
	// A read that several attempts shared is in the record of the one that sent it.
	Exchanges []Exchange
	// Disposition is what happens to the attempt.
	Disposition Disposition
	// Err is why no decision was possible, or the first failure of a request.
	Err error
}

// Exchange is one request on the wire and its result.
type Exchange struct {
	// Verb is object.Get, object.Delete or object.PatchVerb.
	Verb object.Verbs
	Ref  object.Ref
	// Request is the request that a write carries out; nil for a read.
	Request *Request
	// Err is the server's error; nil means success.
	Err error
}

// RefusedError says that RunOptions.Before refused a request. It was not sent: the object is kept,
// and the attempt is repeated.
type RefusedError struct {
	Request Request
	Err     error
}

// Error returns the object and the reason.
func (e *RefusedError) Error() string {
	return e.Request.Ref.String() + ": the request is not sent: " + e.Err.Error()
}

// Unwrap returns the reason.
func (e *RefusedError) Unwrap() error { return e.Err }

// wrote reports whether any write was accepted.
func wrote(sent []Exchange) bool {
	return slices.ContainsFunc(sent, func(x Exchange) bool { return x.Verb != object.Get && x.Err == nil })
}

// unshown maps written objects that no watch shows, by their virtual node, to the version that was
// written last.
type unshown map[graph.ID]string

// inVain reports whether an attempt repeats a write without effect on an object that no watch
// shows: the object still has the version of the previous write, for example because it is being
// deleted and a finalizer holds it. Every repetition succeeds, so that a run would never settle.
func (u unshown) inVain(out Outcome) bool {
	a := out.Decision.Attempt
	if out.Disposition != Defer || !a.Virtual {
		delete(u, a.ID)
		return false
	}
	version := ""
	for _, r := range out.Decision.Requests {
		if r.Live != nil {
			version = r.Live.ResourceVersion
		}
	}
	before, written := u[a.ID]
	u[a.ID] = version
	return written && before == version
}
