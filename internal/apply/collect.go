package apply

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/kubectl-gc/kubectl-gc/internal/backup"
	"github.com/kubectl-gc/kubectl-gc/internal/collect"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// The ends of a run of the collector, as causes of its context.
var (
	errDone       = errors.New("everything that was planned is done")
	errNoProgress = errors.New("nothing has happened for a while, and not everything that was planned was done")
)

// Collect carries out the plan of a collection: the collector runs over the
// cluster under strict rules, and of what it wants that is sent which the plan
// has. Every owner is proven absent again at the moment of the write.
//
// The error is a *RefusedError, or a failure, when nothing was written. After the
// first write there is always a report.
func Collect(ctx context.Context, client *kube.Client, snap *snapshot.Snapshot, result *plan.Result, o Options) (*report.Run, error) {
	r := newRun(ctx, client, snap, result, o)
	for _, w := range result.Writes() {
		r.plan(w)
	}
	if err := r.begin(ctx); err != nil {
		return nil, err
	}
	if err := r.rehearseCanary(ctx); err != nil {
		return nil, r.abandon(err)
	}
	if err := r.recheck(ctx); err != nil {
		return r.finish(ctx, err)
	}
	c := &collecting{run: r, gate: newGate()}
	end := c.collect(ctx)
	return r.finish(ctx, end)
}

// collecting is a run of the collector inside of a plan.
type collecting struct {
	*run
	gate *gate
	stop context.CancelCauseFunc
}

// collect runs until everything planned is done, or nothing more comes, or
// something is not as planned. It returns why it ended; errDone when all is well.
func (c *collecting) collect(ctx context.Context) error {
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
	err := collect.Run(within, c.client, collect.Options{
		Rules:   engine.Strict,
		Through: c.through,
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
			Workers: c.o.Workers, Before: c.before, Record: c.record, UntilRest: true,
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
	case c.missing() > 0:
		return errNoProgress
	}
	return errDone
}

// through stands between the collector and the server: the bounds of the plan
// first, then the journal.
func (c *collecting) through(api engine.API) engine.API {
	written := &journalled{API: api, journal: c.journal, save: c.backup.again, done: c.answered}
	return &waves{API: newBounds(written, c.result, c.surprised), gate: c.gate, broken: c.broken}
}

// before lets a write through when the plan does not withhold it, when its object is what
// was backed up, and when the wave has room.
func (c *collecting) before(ctx context.Context, q engine.Request) error {
	if q.Live != nil && takes(q) {
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

// answered takes the answer to a write. That the very first one is not done is
// reason enough to stop.
func (c *collecting) answered(w sentWrite) {
	c.note(w)
	if w.Outcome == backup.Confirmed || !c.gate.first() {
		return
	}
	if code := backup.ResultOf(w.Err).Code; code != http.StatusNotFound && code != http.StatusConflict {
		c.halt(fmt.Errorf("the first write was not done, so no other was tried: %w", w.Err))
	}
}

// surprised ends the run: the cluster is not what was planned for.
func (c *collecting) surprised(s plan.Surprise) {
	c.mu.Lock()
	c.surprises = append(c.surprises, report.Surprise{Object: report.RefOf(s.Object), Verb: s.Verb, Message: s.Why})
	c.mu.Unlock()
	c.halt(fmt.Errorf("the plan does not have this: %s %s", s.Verb, s.Object))
}

// broken ends the run when the journal cannot be written.
func (c *collecting) broken(err error) { c.halt(err) }

// halt lets no further write start. What is under way is waited for.
func (c *collecting) halt(err error) {
	c.gate.close(err)
	c.stop(err)
}

// record keeps why a planned write was not sent.
func (c *collecting) record(rec engine.Record) {
	a := rec.Decision.Attempt
	if a.Work != engine.DeleteWork || rec.Decision.Reason == reason.NotFound || errors.Is(rec.Err, context.Canceled) {
		return // that the run was interrupted is said of the run
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

// missing is the number of planned writes that are neither confirmed nor needless.
func (c *collecting) missing() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, p := range c.order {
		if !c.settled(p) {
			n++
		}
	}
	return n
}

// settled reports whether nothing more is to be expected of a planned write.
func (r *run) settled(p *planned) bool {
	ref := p.write.Object
	return p.last != nil && p.last.Outcome == backup.Confirmed || p.kept || r.backup.gone[ref] || r.backup.changed[ref]
}

// tick is how often a run is looked at.
const tick = 100 * time.Millisecond

// watch ends the run when everything is done, or when nothing has happened for too
// long. A cluster in which others are busy never settles by itself.
func (c *collecting) watch(synced, ended <-chan struct{}) {
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
		case c.missing() == 0:
			c.stop(errDone)
			return
		case quiet > c.o.patience():
			c.stop(errNoProgress)
			return
		}
	}
}
