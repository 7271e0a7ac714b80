package apply

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/backup"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// Reasons for the end of a collector run, as causes of its context.
var (
	errDone       = errors.New("everything that was planned is done")
	errNoProgress = errors.New("nothing has happened for a while, and not everything that was planned was done")
)

// Collect executes the plan of a collection: the collector runs over the cluster under strict
// rules, and only its writes that are in the plan are sent. Each owner is proven absent again at
// the moment of the write.
//
// If nothing was written, the error is a *RefusedError or a failure. After the first write there is
// always a report.
func Collect(ctx context.Context, client *kube.Client, snap *snapshot.Snapshot, result *plan.Result, o Options) (*report.Run, error) {
	r := newRun(ctx, client, snap, result, o)
	for _, w := range result.Writes() {
		r.plan(w)
	}
	if err := r.begin(ctx); err != nil {
		return nil, err
	}
	if err := r.rehearseDeletes(ctx, engine.Background, 1); err != nil {
		return nil, r.abandon(err)
	}
	if err := r.recheck(ctx); err != nil {
		return r.finish(ctx, err)
	}
	c := &collectorRun{run: r, gate: &gate{wave: 1, changed: make(chan struct{})}}
	end := c.collect(ctx)
	return r.finish(ctx, end)
}

// collectorRun is a run of the collector within a plan.
type collectorRun struct {
	*run
	gate *gate
	stop context.CancelCauseFunc
}

// collect runs until the plan is complete, progress stops or something unplanned happens. It
// returns the reason, which is errDone for success.
func (c *collectorRun) collect(ctx context.Context) error {
	if len(c.order) == 0 {
		return errDone
	}
	within, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	c.stop = stop
	synced, ended := make(chan struct{}), make(chan struct{})
	watching := make(chan struct{})
	go func() {
		defer close(watching)
		c.watch(synced, ended)
	}()
	err := kube.Collect(within, c.client, kube.CollectorOptions{
		Rules:   engine.Strict,
		Through: c.wrapAPI,
		Follow: func(f *kube.Feed) {
			go func() {
				select {
				case <-f.Synced():
					close(synced)
				case <-ended:
				}
			}()
		},
		Run: engine.RunOptions{
			Before: c.checkWrite, Record: c.record, UntilRest: true,
			Hold: func(*engine.RefusedError) time.Duration { return time.Hour },
		},
	})
	close(ended)
	<-watching
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case within.Err() != nil:
		return context.Cause(within)
	case err != nil:
		return err
	case c.missing():
		return errNoProgress
	}
	return errDone
}

// wrapAPI wraps the API of the collector: first the bounds of the plan, then the journal.
func (c *collectorRun) wrapAPI(api engine.API) engine.API {
	written := &journalledAPI{API: api, journal: c.journal, save: c.backup.saveAgain, done: c.recordAnswer}
	return &plannedAPI{API: written, guard: c.result.Guard(readOnlyAPI{written}), run: c}
}

// checkWrite passes a write if the plan does not withhold it, its object is unchanged and
// unprotected, and the wave has room.
func (c *collectorRun) checkWrite(ctx context.Context, q engine.Request) error {
	// Removing references only changes an object.
	if q.Live != nil && (q.Verb == engine.DeleteObject || q.Verb == engine.RemoveFinalizer) {
		if err := c.protected(q.Live); err != nil {
			return err
		}
	}
	if why := c.result.Withheld(q); why != "" {
		return fmt.Errorf("kept: %s", why)
	}
	if c.backup.changed[q.Ref] {
		return errors.New("it has changed since the plan was made")
	}
	return c.gate.enter(ctx)
}

// recordAnswer records the result of a write. If the first write fails, the run ends.
func (c *collectorRun) recordAnswer(w sentWrite) {
	c.recordResult(w)
	if w.Outcome == backup.Confirmed || !c.gate.first() {
		return
	}
	if code := backup.ResultOf(w.Err).Code; code != http.StatusNotFound && code != http.StatusConflict {
		c.stopWrites(fmt.Errorf("the first write was not done, so no other was tried: %w", w.Err))
	}
}

// endUnplanned ends the run: the cluster is not as planned.
func (c *collectorRun) endUnplanned(s plan.Surprise) {
	c.mu.Lock()
	c.surprises = append(c.surprises, report.Surprise{Object: s.Object, Verb: s.Verb, Message: s.Why})
	c.mu.Unlock()
	c.stopWrites(fmt.Errorf("the plan does not have this: %s %s", s.Verb, s.Object))
}

// stopWrites stops further writes. Writes in progress finish.
func (c *collectorRun) stopWrites(err error) {
	c.gate.close(err)
	c.stop(err)
}

// record keeps the reason why a planned write was not sent.
func (c *collectorRun) record(rec engine.Record) {
	a := rec.Decision.Attempt
	if a.Work != engine.DeleteWork || rec.Decision.Reason == reason.NotFound || errors.Is(rec.Err, context.Canceled) {
		return // an interruption is reported for the run as a whole
	}
	text := reason.Collector.Sentence(rec.Decision.Reason)
	if rec.Err != nil {
		text = rec.Err.Error()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_, kept := errors.AsType[*protectedError](rec.Err)
	for _, deletes := range []bool{true, false} {
		if p := c.byKey[plannedKey{a.Ref, deletes}]; p != nil {
			p.why, p.kept = text, kept
		}
	}
}

// missing reports whether a planned write is not confirmed and may still be sent.
func (c *collectorRun) missing() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(c.order, func(p *planned) bool {
		ref := p.write.Object
		return !p.confirmed() && !p.kept && !c.backup.gone[ref] && !c.backup.changed[ref]
	})
}

// tick is the interval between two checks of a run.
const tick = 100 * time.Millisecond

// watch ends the run if everything is done or nothing has happened for too long. In a busy cluster,
// the collector alone would never report that it is idle.
func (c *collectorRun) watch(synced, ended <-chan struct{}) {
	select {
	case <-synced:
	case <-ended:
		return
	}
	c.mu.Lock()
	c.lastActivity = c.o.Now()
	c.mu.Unlock()
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for {
		select {
		case <-ended:
			return
		case <-ticker.C:
		}
		c.mu.Lock()
		quiet := c.o.Now().Sub(c.lastActivity)
		c.mu.Unlock()
		switch {
		case c.gate.busy():
		case !c.missing():
			c.stop(errDone)
			return
		case quiet > c.o.stallTimeout():
			c.stop(errNoProgress)
			return
		}
	}
}

// plannedAPI is an API that passes only writes in the plan, and reports to the gate of the run when
// one is answered. The Guard judges one write at a time, under a lock; the writes themselves are
// concurrent.
type plannedAPI struct {
	engine.API
	mu    sync.Mutex
	guard *plan.Guard // its API sends nothing
	run   *collectorRun
}

// errUnpinned refuses a write without a resourceVersion, which would apply to any version.
var errUnpinned = errors.New("the request does not name the version of the object")

// Delete passes a DELETE of the plan that requires a UID and a resourceVersion.
func (b *plannedAPI) Delete(ctx context.Context, ref object.Ref, o metav1.DeleteOptions) error {
	defer b.run.gate.leave()
	if p := o.Preconditions; p == nil || p.ResourceVersion == nil || *p.ResourceVersion == "" {
		return errUnpinned
	}
	if err := b.judge(func() error { return b.guard.Delete(ctx, ref, o) }); err != nil {
		return err
	}
	return b.endIfUnrecorded(b.API.Delete(ctx, ref, o))
}

// Patch passes a PATCH of the plan.
func (b *plannedAPI) Patch(ctx context.Context, ref object.Ref, p object.Patch) error {
	defer b.run.gate.leave()
	if err := b.judge(func() error { return b.guard.Patch(ctx, ref, p) }); err != nil {
		return err
	}
	return b.endIfUnrecorded(b.API.Patch(ctx, ref, p))
}

func (b *plannedAPI) judge(ask func() error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	err := ask()
	if refused, ok := errors.AsType[*plan.RefusedError](err); ok {
		b.run.endUnplanned(refused.Surprise)
	}
	return err
}

// endIfUnrecorded ends the run if a write could not be recorded.
func (b *plannedAPI) endIfUnrecorded(err error) error {
	if _, ok := errors.AsType[*backup.JournalError](err); ok {
		b.run.stopWrites(err)
	}
	return err
}

// readOnlyAPI is an API that sends no write.
type readOnlyAPI struct{ engine.API }

// Delete sends nothing.
func (readOnlyAPI) Delete(context.Context, object.Ref, metav1.DeleteOptions) error { return nil }

// Patch sends nothing.
func (readOnlyAPI) Patch(context.Context, object.Ref, object.Patch) error { return nil }
