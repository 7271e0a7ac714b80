package deleters

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// attempt identifies a task of the collector about an object.
type attempt struct {
	work engine.Work
	ref  object.Ref
}

// deferrals has the errors of deferred attempts.
type deferrals map[attempt]deferral

type deferral struct {
	err error
	// kinds is the store's count of kind changes at that time.
	kinds uint64
}

// maxDeferred bounds deferrals. A forgotten attempt is retried.
const maxDeferred = 1 << 14

// record records a finished attempt.
func (d *Deleters) record(r engine.Record) {
	for _, x := range r.Exchanges {
		switch {
		case x.Err != nil:
		case x.Verb == object.Delete:
			d.deletes.add(deletion{ref: x.Ref, at: time.Now(), why: d.ownersOf(r.Decision), garbage: true})
		case x.Request != nil && x.Request.Finalizer == object.Foreground:
			d.deletes.removed(object.Foreground, x.Ref, "no dependent blocks its deletion")
		case x.Request != nil && x.Request.Finalizer == object.Orphan:
			d.deletes.removed(object.Orphan, x.Ref, "no dependent refers to it")
		}
	}
	if d.options.Record != nil {
		d.options.Record(r)
	}
	at := attempt{r.Decision.Attempt.Work, r.Decision.Attempt.Ref}
	if r.Disposition != engine.Defer {
		delete(d.deferred, at)
		return
	}
	if len(d.deferred) >= maxDeferred {
		clear(d.deferred)
	}
	d.deferred[at] = deferral{r.Err, d.store.kindChanges()}
}

// collector is the remaining work of the collector.
type collector struct {
	// working is true if it has work that it does now. unseen is true if watches have not yet shown
	// the results of its writes.
	working, unseen bool
	// open are the reasons of deferred attempts that may succeed later.
	open []string
	// again are the errors of deferred attempts that may be running again.
	again []string
}

// retryDeferred is the interval of retries of deferred attempts.
const retryDeferred = 50 * time.Millisecond

// collectorWork returns the collector's remaining work, read between two steps. It retries deferred
// attempts, except those that wait for a kind that is not served or an owner with an impossible
// name: Kubernetes never completes them either. last is the time of the last retry, which
// collectorWork updates.
func (d *Deleters) collectorWork(ctx context.Context, last *time.Time) (collector, error) {
	var got collector
	err := d.betweenSteps(ctx, func(c *engine.Collector) {
		got = collector{working: c.Ready()+c.UnderWay() > 0, unseen: c.Unseen() > 0}
		kinds := d.store.kindChanges()
		for _, work := range []engine.Work{engine.DeleteWork, engine.OrphanWork} {
			for _, ref := range c.Deferred(work) {
				if unseen := d.deferred.open(attempt{work, ref}, kinds); unseen != "" {
					got.open = append(got.open, unseen)
				}
			}
		}
		if len(got.open) > 0 && time.Since(*last) > retryDeferred {
			*last = time.Now()
			c.Wake()
		}
		if len(got.open) == 0 && c.UnderWay() > 0 {
			got.again = d.deferred.errors() // they are being retried now
		}
	})
	return got, err
}

// betweenSteps runs look on the collector between two of its steps.
func (d *Deleters) betweenSteps(ctx context.Context, look func(*engine.Collector)) error {
	seen := make(chan struct{})
	select {
	case d.do <- func(c *engine.Collector) { look(c); close(seen) }:
	case <-d.done:
		return d.endedError()
	case <-ctx.Done():
		return ctx.Err()
	}
	<-seen
	return nil
}

// deferredErrors returns the errors of the last deferred attempts on an object.
func (d *Deleters) deferredErrors(ctx context.Context, uid types.UID) []string {
	var list []string
	err := d.betweenSteps(ctx, func(*engine.Collector) {
		for at, why := range d.deferred {
			if _, unknown := errors.AsType[*object.UnknownKindError](why.err); at.ref.UID == uid && why.err != nil && !unknown {
				list = append(list, why.err.Error())
			}
		}
	})
	if err != nil {
		return nil // there is no collector to retry
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// open returns why an attempt is deferred. It is empty if a retry can't succeed: the kind is still
// not served, or the owner has an impossible name. kinds is the store's count of kind changes.
func (l deferrals) open(a attempt, kinds uint64) string {
	why, known := l[a]
	if _, unknown := errors.AsType[*object.UnknownKindError](why.err); known && unknown && why.kinds == kinds {
		return ""
	}
	if _, impossible := errors.AsType[*object.ImpossibleNameError](why.err); impossible {
		return ""
	}
	switch {
	case !known:
		return fmt.Sprintf("%s must be examined again", a.ref)
	case why.err == nil:
		return fmt.Sprintf("%s must be examined again: it has changed meanwhile", a.ref)
	}
	return fmt.Sprintf("%s: %v", a.ref, why.err)
}

// errors returns the errors of deferred attempts.
func (l deferrals) errors() []string {
	var list []string
	for at, why := range l {
		if why.err != nil {
			list = append(list, fmt.Sprintf("%s: %v", at.ref, why.err))
		}
	}
	slices.Sort(list)
	return list
}
