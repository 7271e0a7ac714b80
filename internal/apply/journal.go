package apply

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/backup"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// settleTimeout is the timeout for finding out the effect of an unanswered request.
const settleTimeout = 10 * time.Second

// journal records every request before it is sent, and its result. A request that can't be recorded
// is not sent. It is safe for concurrent use.
type journal struct {
	// writer is that of a sealed backup.
	writer *backup.Writer
	// look reads an object, to find out the effect of an unanswered request.
	look func(context.Context, object.Ref) (*object.Object, error)
	// now returns the time.
	now func() time.Time
	// onFailpoint is called at every point where a run may be killed; it may be nil. begun counts
	// the writes, to name the points.
	onFailpoint func(string)
	begun       atomic.Int64
}

// Do records the intent, calls send and records the result. Retries by the client are part of the
// same intent. If the result is unclear, the object is read: the request counts as confirmed if the
// object is gone or done holds for it. done may be nil. The outcome is Unknown if that proves
// nothing. err is the error of send, or a *backup.JournalError.
func (j *journal) Do(ctx context.Context, i backup.Intent, done func(*object.Object) bool, send func(context.Context) error) (backup.Outcome, error) {
	i.Time = j.now()
	n := j.begun.Add(1)
	j.failpoint("before-intent", n)
	seq, err := j.writer.Intent(i)
	if err != nil {
		return backup.Refused, &backup.JournalError{Err: err}
	}
	j.failpoint("before-write", n)
	err = send(ctx)
	j.failpoint("after-write", n)
	r := backup.ResultOf(err)
	if r.Outcome == backup.Unknown {
		r.Outcome = j.settle(ctx, i.Object, done)
		if r.Outcome == backup.Unknown && r.Code != 0 && r.Code < http.StatusInternalServerError {
			r.Outcome = backup.Refused // every attempt was answered and none succeeded
		}
	}
	r.Time = j.now()
	j.failpoint("before-journal-result", n)
	if failed := j.writer.Result(seq, r); failed != nil {
		return r.Outcome, &backup.JournalError{Err: errors.Join(failed, err)}
	}
	j.failpoint("after-journal-result", n)
	return r.Outcome, err
}

func (j *journal) failpoint(point string, n int64) {
	if j.onFailpoint != nil {
		j.onFailpoint(fmt.Sprintf("%s-%d", point, n))
	}
}

// settlePauses are the pauses before the reads of an object after an unanswered request, since a
// server may still be executing it.
var settlePauses = []time.Duration{0, 250 * time.Millisecond, 750 * time.Millisecond}

// settle reads an object after an unanswered request. The request counts as confirmed if the object
// is gone or is as the request makes it, even if another client caused that. An unchanged object
// proves nothing, since the request may still be in progress. (spec §18)
func (j *journal) settle(ctx context.Context, ref object.Ref, done func(*object.Object) bool) backup.Outcome {
	if j.look == nil {
		return backup.Unknown
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	defer stop()
	for _, pause := range settlePauses {
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return backup.Unknown
		}
		o, err := j.look(ctx, ref)
		if apierrors.IsNotFound(err) || err == nil && (o.UID != ref.UID || done != nil && done(o)) {
			return backup.Confirmed
		}
	}
	return backup.Unknown
}

// journalledAPI is an API that records its writes in a journal.
type journalledAPI struct {
	engine.API
	journal *journal
	// save saves the version of an object that a removing request requires, if the backup has
	// another one. Nil: nothing is saved, and the backup refuses such a DELETE.
	save func(context.Context, object.Ref, string) error
	// done is called with the result of each write; it may be nil.
	done func(sentWrite)

	mu sync.Mutex
	// open are the unanswered requests.
	open map[request]bool
}

// request identifies a request for one version. It can have an effect only once.
type request struct {
	ref           object.Ref
	verb, version string
}

// errUnanswered refuses to send an unanswered request again.
var errUnanswered = errors.New("the same request was not answered before, and may still be under way")

// Delete records and sends a DELETE.
func (a *journalledAPI) Delete(ctx context.Context, ref object.Ref, o metav1.DeleteOptions) error {
	i := backup.Intent{Object: ref, Verb: http.MethodDelete}
	if p := o.Preconditions; p != nil && p.ResourceVersion != nil {
		i.ResourceVersion = *p.ResourceVersion
	}
	var err error
	if i.Body, err = json.Marshal(&o); err != nil {
		return err
	}
	if err := a.keep(ctx, i); err != nil {
		return err
	}
	return a.send(ctx, i, (*object.Object).BeingDeleted, func(ctx context.Context) error { return a.API.Delete(ctx, ref, o) })
}

// Patch records and sends a PATCH.
func (a *journalledAPI) Patch(ctx context.Context, ref object.Ref, p object.Patch) error {
	i := backup.Intent{Object: ref, Verb: http.MethodPatch, ResourceVersion: p.ResourceVersion, Body: p.Body()}
	if p.Finalizers != nil {
		if err := a.keep(ctx, i); err != nil {
			return err
		}
	}
	return a.send(ctx, i, patched(p), func(ctx context.Context) error { return a.API.Patch(ctx, ref, p) })
}

// keep saves the version of an object that a request removes something from.
func (a *journalledAPI) keep(ctx context.Context, i backup.Intent) error {
	if a.save == nil {
		return nil
	}
	return a.save(ctx, i.Object, i.ResourceVersion)
}

// patched returns a function that reports whether an object is as a patch makes it.
func patched(p object.Patch) func(*object.Object) bool {
	return func(o *object.Object) bool {
		gone := func(ref object.OwnerReference) bool { return slices.Contains(p.DeleteOwners, ref.UID) }
		blocks := func(ref object.OwnerReference) bool {
			return ref.Blocks() && slices.ContainsFunc(p.MergeOwners, func(m object.OwnerReference) bool { return m.UID == ref.UID && !m.Blocks() })
		}
		return !slices.ContainsFunc(o.Owners, gone) && !slices.ContainsFunc(o.Owners, blocks) &&
			(p.Owners == nil || slices.Equal(o.Owners, *p.Owners)) && (p.Finalizers == nil || slices.Equal(o.Finalizers(), *p.Finalizers))
	}
}

// send sends a request through the journal. A request that was not answered is never repeated.
func (a *journalledAPI) send(ctx context.Context, i backup.Intent, done func(*object.Object) bool, send func(context.Context) error) error {
	one := request{i.Object, i.Verb, i.ResourceVersion}
	a.mu.Lock()
	unanswered := a.open[one]
	a.mu.Unlock()
	if unanswered {
		return errUnanswered
	}
	outcome, err := a.journal.Do(ctx, i, done, send)
	if outcome == backup.Unknown {
		a.mu.Lock()
		if a.open == nil {
			a.open = map[request]bool{}
		}
		a.open[one] = true
		a.mu.Unlock()
	}
	if a.done != nil {
		a.done(sentWrite{Object: i.Object, Verb: i.Verb, Outcome: outcome, Err: err})
	}
	if _, broken := errors.AsType[*backup.JournalError](err); outcome == backup.Confirmed && !broken {
		return nil // the answer may be lost; an error would make the caller retry
	}
	return err
}

// sentWrite is a sent request with its result.
type sentWrite struct {
	Object  object.Ref
	Verb    string
	Outcome backup.Outcome
	Err     error
}
