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

// attempt names what the collector is to do about an object.
type attempt struct {
	work engine.Work
	ref  object.Ref
}

// deferrals are why attempts wait.
type deferrals map[attempt]deferral

type deferral struct {
	err error
	// kinds is what was known of kinds then.
	kinds uint64
}

// mostDeferred bounds what is remembered. What is forgotten is tried again.
const mostDeferred = 1 << 14

// record takes note of a finished attempt.
func (d *Deleters) record(r engine.Record) {
	d.deletes.note(r)
	at := attempt{r.Decision.Attempt.Work, r.Decision.Attempt.Ref}
	if r.Disposition != engine.Defer {
		delete(d.deferred, at)
		return
	}
	if len(d.deferred) >= mostDeferred {
		clear(d.deferred)
	}
	d.deferred[at] = deferral{r.Err, d.store.kindChanges()}
}

// collector is what the collector has left to do.
type collector struct {
	// working: it has something to do that it does now; unseen: it waits for watches to show
	// what its writes have brought about.
	working, unseen bool
	// open are attempts that wait and may end another time, and why.
	open []string
	// again is why attempts have waited that may be under way.
	again []string
}

func (c collector) idle() bool { return !c.working && !c.unseen && len(c.open) == 0 }

// retryDeferred is how often what waits is tried again.
const retryDeferred = 50 * time.Millisecond

// ask looks at the collector between two steps. What waits is tried again, except for what
// waits for a kind that nobody serves, or for an owner of a name that no object can have: it has
// always stayed so in Kubernetes.
func (d *Deleters) ask(ctx context.Context, last *time.Time) (collector, error) {
	var got collector
	err := d.between(ctx, func(c *engine.Collector) {
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
			got.again = d.deferred.errors() // they are being tried just now
		}
	})
	return got, err
}

// between has a look at the collector between two of its steps.
func (d *Deleters) between(ctx context.Context, look func(*engine.Collector)) error {
	seen := make(chan struct{})
	select {
	case d.do <- func(c *engine.Collector) { look(c); close(seen) }:
	case <-d.done:
		return d.ended()
	case <-ctx.Done():
		return ctx.Err()
	}
	<-seen
	return nil
}

// failed are the errors with which the last attempts at an object were put off.
func (d *Deleters) failed(ctx context.Context, uid types.UID) []string {
	var list []string
	err := d.between(ctx, func(*engine.Collector) {
		for at, why := range d.deferred {
			if _, unknown := errors.AsType[*object.UnknownKindError](why.err); at.ref.UID == uid && why.err != nil && !unknown {
				list = append(list, why.err.Error())
			}
		}
	})
	if err != nil {
		return nil // there is no collector that would try again
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// open says why an attempt waits; empty if nothing can come of it as things are.
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
		return fmt.Sprintf("%s is to be looked at again", a.ref)
	case why.err == nil:
		return fmt.Sprintf("%s is to be looked at again: it has changed meanwhile", a.ref)
	}
	return fmt.Sprintf("%s: %v", a.ref, why.err)
}

// errors are those with which attempts were put off.
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

// refresh has the collector read what it has written and no watch has shown.
func (d *Deleters) refresh(ctx context.Context) error {
	return d.between(ctx, func(c *engine.Collector) {
		c.Refresh()
		c.Refresh()
	})
}
