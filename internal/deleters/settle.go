package deleters

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// retryUnknown is the interval of retries of kinds that cannot be read, while Settle waits for
// them.
const retryUnknown = 250 * time.Millisecond

// settledMark is a moment without any remaining work.
type settledMark struct {
	// revision is the server's revision before everything was checked.
	revision string
	// writes is the number of own writes, kinds the number of kind changes so far.
	writes, kinds uint64
}

// The shortest and longest pause between two checks.
const (
	firstPause = time.Millisecond
	lastPause  = 50 * time.Millisecond
)

// unsettledError lists the remaining work at a deadline.
type unsettledError struct {
	// After is how long Settle waited.
	After time.Duration
	// Left is the remaining work. Held are the objects that are being deleted, and what blocks
	// them.
	Left, Held []string
	// Cause is the error of the context.
	Cause error
}

// Error returns one line for each item.
func (e *unsettledError) Error() string {
	var b strings.Builder
	b.WriteString("not settled")
	if e.After > 0 {
		fmt.Fprintf(&b, " after %s", e.After.Round(time.Millisecond))
	}
	if errors.Is(e.Cause, context.Canceled) {
		b.WriteString(": the context was cancelled")
	} else if e.After == 0 {
		b.WriteString(": the deadline was over before")
	}
	for _, l := range e.Left {
		b.WriteString("\n  left to do: " + terminalSafe(l))
	}
	for _, h := range e.Held {
		b.WriteString("\n  " + terminalSafe(h))
	}
	return b.String()
}

// Unwrap returns the error of the context.
func (e *unsettledError) Unwrap() error { return e.Cause }

// Settle returns when everything that was written before the call was seen, and the only things
// left wait for others, for example for a finalizer that no controller here removes. It fails with
// an *unsettledError if the context ends before, and at once if something may not be read.
//
// The proof: the controllers are idle; then consistent reads of every kind show nothing that the
// watches have not delivered, compared by object and version; and meanwhile this program has
// written nothing and found no other kinds, and the controllers are still idle.
func (d *Deleters) Settle(ctx context.Context) error {
	began := time.Now()
	if errors.Is(ctx.Err(), context.Canceled) {
		return &unsettledError{Cause: ctx.Err()} // nothing was checked
	}
	deleted := d.deletes.count()
	if ctx.Err() != nil {
		return &unsettledError{Left: d.leftIn(ctx, deleted, nil), Held: d.terminatingObjects(), Cause: ctx.Err()}
	}
	pause := firstPause
	var retried time.Time
	var left []string
	for {
		now, err := d.checkRemaining(ctx, &retried)
		if len(now) > 0 && !errors.Is(ctx.Err(), context.Canceled) {
			left = now
		}
		switch {
		case ctx.Err() != nil:
			return &unsettledError{After: time.Since(began), Left: d.leftIn(ctx, deleted, left), Held: d.terminatingObjects(), Cause: ctx.Err()}
		case err != nil || len(now) == 0:
			return err
		}
		_, changed := d.store.now()
		select {
		case <-changed:
		case <-time.After(pause):
			pause = min(2*pause, lastPause)
		case <-ctx.Done():
		case <-d.done:
		}
	}
}

// accountTimeout is the time limit for finding the remaining work at a deadline.
const accountTimeout = time.Second

// leftIn returns the remaining work at a deadline from all sources, or last, the list of the last
// check, if no source has any. If objects are recreated after every delete, it reports only that, as
// the cause. deleted is the number of deletes before Settle began.
func (d *Deleters) leftIn(ended context.Context, deleted uint64, last []string) []string {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ended), accountTimeout)
	defer cancel()
	if remade := d.deletes.recreated(deleted); len(remade) > 0 {
		return append(remade, d.unknown()...)
	}
	list := d.unknown()
	for _, name := range truncate(d.expectedResources()) {
		list = append(list, name+" is not followed yet")
	}
	list = append(list, truncate(d.deletingCRDs())...)
	list = append(list, d.traffic.unanswered()...)
	list = append(list, truncate(d.answers.unread())...)
	list = append(list, truncate(d.pendingWork(d.lastWaits()))...)
	now := time.Now() // so that nothing is retried
	if c, err := d.collectorWork(ctx, &now); err == nil {
		list = append(list, truncate(append(c.open, c.again...))...)
	} else {
		list = append(list, err.Error())
	}
	if len(list) == 0 {
		return last
	}
	return unique(list)
}

// checkRemaining returns the remaining work; nothing if all is settled. retried is the time of the
// last retry of unreadable kinds or deferred attempts, which it updates.
func (d *Deleters) checkRemaining(ctx context.Context, retried *time.Time) (left []string, err error) {
	if left, err = d.busy(ctx, retried, false); err != nil || len(left) > 0 {
		return left, err
	}
	writes, _ := d.traffic.writes()
	m := settledMark{writes: writes, kinds: d.store.kindChanges()}
	list, err := d.client.List(ctx, kube.Place{Resource: object.Namespace.Resource()}, kube.Selection{Metadata: true}, kube.Listing{})
	if m.revision = list.ResourceVersion; err != nil { // the present one of the server, or a later one
		if apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) {
			return nil, err
		}
		return []string{d.answers.judge(ctx, object.Namespace.GroupResource(), err)}, nil
	}
	if d.settledAt(m) {
		return nil, nil
	}
	if left = d.undeliveredChanges(ctx); len(left) > 0 {
		return left, nil
	}
	if left, err = d.busy(ctx, retried, true); err != nil || len(left) > 0 {
		return left, err
	}
	if writes, underWay := d.traffic.writes(); writes != m.writes || underWay || d.store.kindChanges() != m.kinds {
		return []string{"something has just been written"}, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.settled = m
	return nil, nil
}

// settledAt reports whether nothing was written since everything was settled. It is false if there
// are extension servers, which have their own revisions.
func (d *Deleters) settledAt(m settledMark) bool {
	d.mu.Lock()
	same := d.settled == m && m.revision != ""
	d.mu.Unlock()
	return same && len(d.store.list(object.APIService.GroupResource(), "", mayBeExtension)) == 0
}

// mayBeExtension reports whether an APIService may belong to an extension server.
func mayBeExtension(o *object.Object) bool {
	return o.Labels.Get("kube-aggregator.kubernetes.io/automanaged") == ""
}

// busy returns the work in progress. compared is true if the state was just compared with the
// server.
func (d *Deleters) busy(ctx context.Context, retried *time.Time, compared bool) ([]string, error) {
	select {
	case <-d.done:
		return nil, d.endedError()
	default:
	}
	if err := forbiddenError(d.feed.Kinds()); err != nil {
		return nil, err
	}
	if unknown := d.unknown(); len(unknown) > 0 {
		if time.Since(*retried) > retryUnknown {
			*retried = time.Now()
			d.feed.Rediscover()
		}
		return unknown, nil
	}
	if expected := d.expectedResources(); len(expected) > 0 {
		return []string{"not followed yet: " + strings.Join(expected, ", ")}, nil
	}
	if leaving := d.deletingCRDs(); len(leaving) > 0 {
		return leaving, nil
	}
	if unanswered := d.traffic.unanswered(); len(unanswered) > 0 {
		return unanswered, nil
	}
	generation, _ := d.store.now()
	if s := d.lastWaits(); len(s.open) > 0 || !s.due.IsZero() || s.generation != generation {
		if s.generation == 0 {
			return []string{"the controllers have not begun"}, nil
		}
		return append([]string{"the controllers are examining what has changed"}, d.pendingWork(s)...), nil
	}
	c, err := d.collectorWork(ctx, retried)
	switch {
	case err != nil:
		return nil, err
	case !c.working && !c.unseen && len(c.open) == 0:
		return nil, nil
	case c.working || len(c.open) > 0:
		return append([]string{"the garbage collector is at work"}, c.open...), nil
	}
	if !compared {
		if left := d.undeliveredChanges(ctx); len(left) > 0 {
			return left, nil
		}
	}
	return []string{"the garbage collector is examining what it has written"}, d.betweenSteps(ctx, func(c *engine.Collector) {
		c.Refresh() // it reads its own writes that no watch has shown
		c.Refresh()
	})
}

// pendingWork returns the work that the controllers continue without a change by others: pods in
// their grace period, and waits that a later pass may end.
func (d *Deleters) pendingWork(s waitState) []string {
	var list []string
	if !s.due.IsZero() {
		list = append(list, d.podEnds(s.due))
	}
	for _, w := range s.open {
		list = append(list, w.Object.String()+": "+d.sentence(w))
	}
	return list
}

// undeliveredChanges reads every kind, and reports what the watches have not delivered and what
// cannot be read. The kind of the latter may be gone.
func (d *Deleters) undeliveredChanges(ctx context.Context) []string {
	kinds := d.feed.Kinds()
	found := make([]string, len(kinds))
	var all errgroup.Group
	all.SetLimit(maxReads)
	for i, k := range kinds {
		all.Go(func() error {
			found[i] = d.compare(ctx, k.Resource)
			return nil
		})
	}
	_ = all.Wait() // it returns no error
	left := slices.DeleteFunc(found, func(s string) bool { return s == "" })
	if n := len(left); ctx.Err() != nil && n > maxItems { // the deadline is the cause, not the kinds
		return []string{fmt.Sprintf("%d kinds could not be read in time", n)}
	}
	return truncate(left)
}

// maxCompares is how often a kind is read before everything is checked again.
const maxCompares = 5

// compare reads a kind until it matches what the watch has delivered, and reports the difference.
func (d *Deleters) compare(ctx context.Context, r object.Resource) string {
	for range maxCompares {
		l, err := d.read(ctx, kube.Place{Resource: r})
		if why := d.answers.judge(ctx, r.GroupResource(), err); why != "" {
			return why
		}
		if d.awaitList(ctx, l) {
			return ""
		}
	}
	return "the watch has not delivered all " + r.GroupResource().String()
}

// awaitList waits up to lastPause for the watch to deliver what a list shows.
func (d *Deleters) awaitList(ctx context.Context, l listed) bool {
	timeout := time.After(lastPause)
	for {
		_, changed := d.store.now()
		if d.store.hasReached(l) {
			return true
		}
		select {
		case <-changed:
		case <-timeout:
			return false
		case <-ctx.Done():
			return false
		}
	}
}

// read returns the versions of the objects at a place.
func (d *Deleters) read(ctx context.Context, at kube.Place) (listed, error) {
	l := listed{resource: at.Resource.GroupResource(), namespace: at.Namespace, versions: map[types.UID]string{}}
	got, err := d.client.List(ctx, at, kube.Selection{Metadata: true}, kube.Listing{
		Object: func(o *object.Object) error {
			l.versions[o.UID] = o.ResourceVersion
			return nil
		},
		Restart: func() { clear(l.versions) },
	})
	l.version = got.ResourceVersion
	return l, err
}

// maxHeld is how many objects that are being deleted are named.
const maxHeld = 20

// terminatingObjects describes the objects that are being deleted, and what blocks them.
func (d *Deleters) terminatingObjects() []string {
	var list []string
	for _, o := range d.store.all((*object.Object).BeingDeleted) {
		if len(list) == maxHeld {
			return append(list, "and more that are being deleted")
		}
		list = append(list, o.Ref.String()+" is being deleted"+d.blockedBy(o))
	}
	return list
}

// blockedBy describes what blocks an object that is being deleted, without the work of this program.
func (d *Deleters) blockedBy(o *object.Object) string {
	var why []string
	stays := d.externalWait(o)
	if f := strings.Join(o.Finalizers(), ", "); f != "" && !strings.Contains(stays, f) {
		why = append(why, "finalizers "+f)
	}
	if stays != "" {
		why = append(why, stays)
	}
	stands := d.lastWaits()
	for _, w := range stands.waits {
		if w.Object.UID == o.UID && !stands.canEnd(w) {
			why = append(why, d.sentence(w))
		}
	}
	if len(why) == 0 {
		return ""
	}
	return ": " + strings.Join(why, "; ")
}
