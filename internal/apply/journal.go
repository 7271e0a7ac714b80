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

// The verbs of intents.
const (
	verbDelete = "DELETE"
	verbPatch  = "PATCH"
)

// settling is how long it may take to find out what became of a request that was
// not answered.
const settling = 10 * time.Second

// journal writes down every request before it is sent and what became of it
// after. Nothing is sent that could not be written down. It is safe for concurrent
// use.
type journal struct {
	writer *backup.Writer
	// Look reads an object afresh, to find out what became of a request that was
	// not answered.
	look func(context.Context, object.Ref) (*object.Object, error)
	now  func() time.Time
	// Points are told of every point at which a run may be killed; nil for nobody.
	// Begun counts the writes, to name the points.
	points func(string)
	begun  atomic.Int64
}

// newJournal returns a journal into a sealed backup. Look reads the metadata of an
// object afresh; now is the clock.
func newJournal(w *backup.Writer, look func(context.Context, object.Ref) (*object.Object, error), now func() time.Time) *journal {
	return &journal{writer: w, look: look, now: now}
}

// Do writes the intent down, sends, and writes down what became of it. A request that the client
// repeats is one intent: if its object is gone, or is as the request makes it, the request was carried
// out. The outcome
// is Unknown only when nothing that the server says afterwards proves that the
// request was carried out: that its object is gone, or that done holds for it, which
// may be nil. Err is the answer of send, or a *backup.JournalError.
func (j *journal) Do(ctx context.Context, i backup.Intent, done func(*object.Object) bool, send func(context.Context) error) (backup.Outcome, error) {
	i.Time = j.now()
	n := j.begun.Add(1)
	j.at("before-intent", n)
	seq, err := j.writer.Intent(i)
	if err != nil {
		return backup.Refused, &backup.JournalError{Err: err}
	}
	j.at("before-write", n)
	err = send(ctx)
	j.at("after-write", n)
	r := backup.ResultOf(err)
	if r.Outcome == backup.Unknown {
		r.Outcome = j.settle(ctx, i.Object, done)
		if r.Outcome == backup.Unknown && r.Code != 0 && r.Code < http.StatusInternalServerError {
			r.Outcome = backup.Refused // every attempt was answered, and none was carried out
		}
	}
	r.Time = j.now()
	j.at("before-journal-result", n)
	if failed := j.writer.Result(seq, r); failed != nil {
		return r.Outcome, &backup.JournalError{Err: errors.Join(failed, err)}
	}
	j.at("after-journal-result", n)
	return r.Outcome, err
}

func (j *journal) at(point string, n int64) {
	if j.points != nil {
		j.points(fmt.Sprintf("%s-%d", point, n))
	}
}

// looks are the pauses before the looks at an object whose request was not answered: a
// server may be about to carry it out.
var looks = []time.Duration{0, 250 * time.Millisecond, 750 * time.Millisecond}

// settle looks at an object whose request was not answered. That it is gone, or is as
// the request makes it, proves that it was carried out, by us or by somebody who wished
// the same. That it stands there as before proves nothing: the request may still be
// under way. (spec §18)
func (j *journal) settle(ctx context.Context, ref object.Ref, done func(*object.Object) bool) backup.Outcome {
	if j.look == nil {
		return backup.Unknown
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), settling)
	defer stop()
	for _, pause := range looks {
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

// journalled is an API whose writes go through a journal.
type journalled struct {
	engine.API
	journal *journal
	// save keeps the version of an object that is pinned by a request which gets rid of
	// it, when the backup has another one; nil: such a DELETE is not sent.
	save func(context.Context, object.Ref, string) error
	// done is told what became of a write; nil for nobody.
	done func(sentWrite)

	mu sync.Mutex
	// open are the requests that were not answered.
	open map[request]bool
}

// request is a request of which one has an effect: it is for one version.
type request struct {
	ref           object.Ref
	verb, version string
}

// errUnanswered says that a request is not sent twice.
var errUnanswered = errors.New("the same request was not answered before, and may still be under way")

// Delete deletes, and says so before and after.
func (a *journalled) Delete(ctx context.Context, ref object.Ref, o metav1.DeleteOptions) error {
	i := backup.Intent{Object: ref, Verb: verbDelete}
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

// Patch patches, and says so before and after.
func (a *journalled) Patch(ctx context.Context, ref object.Ref, p object.Patch) error {
	i := backup.Intent{Object: ref, Verb: verbPatch, ResourceVersion: p.ResourceVersion, Body: p.Body()}
	if p.Finalizers != nil {
		if err := a.keep(ctx, i); err != nil {
			return err
		}
	}
	return a.send(ctx, i, patched(p), func(ctx context.Context) error { return a.API.Patch(ctx, ref, p) })
}

func (a *journalled) keep(ctx context.Context, i backup.Intent) error {
	if a.save == nil {
		return nil
	}
	return a.save(ctx, i.Object, i.ResourceVersion)
}

// patched reports whether an object is as a patch makes it.
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

func (a *journalled) send(ctx context.Context, i backup.Intent, done func(*object.Object) bool, send func(context.Context) error) error {
	one := request{i.Object, i.Verb, i.ResourceVersion}
	if a.unanswered(one) {
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
		return nil // the answer may be lost: whoever takes that for a failure sends it twice
	}
	return err
}

func (a *journalled) unanswered(r request) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.open[r]
}

// sentWrite is a request that was sent, and what became of it.
type sentWrite struct {
	Object  object.Ref
	Verb    string
	Outcome backup.Outcome
	Err     error
}
