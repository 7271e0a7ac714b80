package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// The defaults of RunOptions.
const (
	// Upstream: pkg/controller/garbagecollector/config/v1alpha1/defaults.go RecommendedDefaultGarbageCollectorControllerConfiguration.
	defaultWorkers = 20
	defaultQuiet   = 2 * time.Second
	defaultGrace   = 10 * time.Second
	// burst is how long attempts may rely on an owner that was found waiting.
	burst = 5 * time.Second
)

// RunOptions configure a live run. The zero value runs until the context ends.
type RunOptions struct {
	// Workers limits the concurrent attempts, and the concurrent requests. 0 means 20, as upstream.
	Workers int
	// Before is called before every write with the request that it carries out: for a limiter, a
	// circuit breaker, a lease. It may block; its context ends with the run. If it returns an
	// error, nothing is sent, the record has a *RefusedError, and the attempt is repeated. It is
	// called concurrently.
	Before func(ctx context.Context, r Request) error
	// Hold returns the minimum delay of an attempt after Before refused its request, unless an
	// event queues it earlier. Without it, a lasting refusal is retried in vain. Nil: the delay
	// after a failure.
	Hold func(*RefusedError) time.Duration
	// Record is called once for every finished attempt, on the goroutine of Run.
	Record func(Record)
	// Observed is called after the collector has observed an event, on the goroutine of Run. It
	// must not block.
	Observed func(object.Event)
	// Warn is called for every warning, on the goroutine of Run. Reported warnings are dropped, so
	// that the memory of a long run is bounded. Nil: the warnings are kept.
	Warn func(Warning)
	// Synced is closed when all events of the initial lists have been sent. Until then no attempt
	// starts, because a missing object would look absent. Nil: they are complete.
	Synced <-chan struct{}
	// Uncovered reports whether nothing is known now about the coordinates of an object, and why:
	// its kind is not watched yet, or its watch is broken. Objects there, and those that refer to
	// it, are kept. It is called concurrently.
	Uncovered func(ref object.Ref) (why string, uncovered bool)
	// UntilRest ends the run without an error when no work is left: no attempt is ready or in
	// progress, every write was seen in an event, no event has come for Quiet, and every deferred
	// attempt was repeated without effect since the last change. The attempts that are still
	// deferred are stuck; Deferred lists them.
	UntilRest bool
	// Quiet is how long no event may come before the world is at rest. 0 means 2 s.
	Quiet time.Duration
	// Idle is called before UntilRest ends the run. It returns true if the rest of the world has
	// acted, or is known to act; then the run continues.
	Idle func() bool
	// Do delivers functions that read the collector between two steps. They must not retain it.
	Do <-chan func(*Collector)
	// Grace is how long a write in progress may continue after the context has ended. Then it is
	// cancelled and its outcome is unknown. 0 means 10 s.
	Grace time.Duration
}

// Run is the live driver: it collects until the context ends and then returns the context's error.
// The caller's goroutine owns the collector; requests are sent by other goroutines. All available
// events and outcomes are applied before the next attempt starts. After the context has ended, no
// write starts, and Run waits for the requests in progress. No goroutine is left.
//
// An event without Old gets the last observed object.
func Run(ctx context.Context, c *Collector, api API, events <-chan object.Event, o RunOptions) error {
	if o.Workers <= 0 {
		o.Workers = defaultWorkers
	}
	if o.Quiet <= 0 {
		o.Quiet = defaultQuiet
	}
	if o.Grace <= 0 {
		o.Grace = defaultGrace
	}
	writing, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	r := &runner{
		c: c, api: api, o: o, events: events, synced: o.Synced, ended: ctx, writing: writing,
		looked: make(chan looked, o.Workers), acted: make(chan acted, o.Workers),
		slots:   make(chan struct{}, o.Workers),
		started: time.Now(), timer: time.NewTimer(time.Hour), changed: true, unshown: unshown{},
	}
	defer r.timer.Stop()
	if err := r.run(); err != nil {
		stop := time.AfterFunc(o.Grace, cancel)
		defer stop.Stop()
		r.finish()
		return err
	}
	return nil
}

type runner struct {
	c       *Collector
	api     API
	o       RunOptions
	events  <-chan object.Event
	synced  <-chan struct{} // nil after it was closed
	ended   context.Context // of the caller: no write starts after it
	writing context.Context // of writes: ends RunOptions.Grace later
	looked  chan looked
	acted   chan acted
	slots   chan struct{}
	reads   singleflight.Group

	busy     int // attempts in progress
	sequence uint64
	unshown  unshown
	alarms   alarms
	started  time.Time
	timer    *time.Timer
	// lastActivity is the time of the last event or accepted write, since started. changed is true
	// if that was after the last repetition of the deferred attempts. refreshAt is when to refresh
	// the collector, 0 for never.
	lastActivity time.Duration
	changed      bool
	refreshAt    time.Duration
}

// looked is an attempt after Lookup.
type looked struct {
	facts Facts
	sent  []Exchange
}

// acted is an attempt after Act.
type acted struct {
	out  Outcome
	sent []Exchange
}

func (r *runner) run() error {
	for {
		r.catchUp()
		r.warn()
		if err := r.ended.Err(); err != nil {
			return err
		}
		r.start()
		if r.atRest() {
			return nil
		}
		r.resetTimer()
		select {
		case <-r.ended.Done():
		case e, ok := <-r.events:
			r.observe(e, ok)
		case l := <-r.looked:
			r.decide(l)
		case a := <-r.acted:
			r.settle(a)
		case <-r.timer.C:
			r.onTimer()
		case <-r.synced:
			r.synced = nil
			r.lastActivity = r.now()
		case f := <-r.o.Do:
			f(r.c)
		}
	}
}

// now returns the time since the start.
func (r *runner) now() time.Duration { return time.Since(r.started) }

// catchUp applies all available events and outcomes: an attempt on an object that was just deleted
// or written would waste a request.
func (r *runner) catchUp() {
	for {
		select {
		case e, ok := <-r.events:
			r.observe(e, ok)
		case a := <-r.acted:
			r.settle(a)
		default:
			return
		}
	}
}

// observe passes an event to the collector. ok is false once the channel of events is closed.
func (r *runner) observe(e object.Event, ok bool) {
	if !ok {
		r.events = nil
		return
	}
	if e.Old == nil && e.Type != object.Deleted {
		e.Old = r.c.lastObserved(e.Object)
	}
	r.c.Observe(e)
	if r.o.Observed != nil {
		r.o.Observed(e)
	}
	r.lastActivity, r.changed = r.now(), true
}

// warn reports the warnings.
func (r *runner) warn() {
	if r.o.Warn == nil {
		return
	}
	for _, w := range r.c.takeWarnings() {
		r.o.Warn(w)
	}
}

// start starts attempts until all workers are busy.
func (r *runner) start() {
	for r.synced == nil && r.busy < r.o.Workers {
		a, ok := r.c.Next()
		if !ok {
			return
		}
		r.busy++
		w := r.wire(a)
		w.share = r.read
		go func() {
			f := Facts{Attempt: a}
			if f.Err = w.uncovered(a.Ref); f.Err == nil {
				f = Lookup(r.ended, w, r.c.rules, a)
			}
			r.looked <- looked{f, w.sent}
		}()
	}
}

func (r *runner) wire(a Attempt) *wire {
	return &wire{api: r.api, options: &r.o, slots: r.slots, ended: r.ended, item: a.Ref}
}

// decide judges the attempt and sends the requests of the decision.
func (r *runner) decide(l looked) {
	d := r.c.Decide(l.facts)
	if len(d.Requests) == 0 {
		r.settle(acted{Outcome{Decision: d, Disposition: d.Disposition, Err: d.Err}, l.sent})
		return
	}
	go func() {
		out, sent := r.act(d)
		r.acted <- acted{out, append(l.sent, sent...)}
	}()
}

// act sends the requests of a decision. An orphaning may have any number of dependents, so these
// are spread over as many goroutines as there are workers. The last request, which removes the
// finalizer, is sent once all others have succeeded.
func (r *runner) act(d Decision) (Outcome, []Exchange) {
	last := len(d.Requests) - 1
	if d.Attempt.Work == DeleteWork || last < 2 {
		w := r.wire(d.Attempt)
		return act(r.writing, w, d), w.sent
	}
	parts := min(r.o.Workers, last)
	outs, wires := make([]Outcome, parts), make([]*wire, parts)
	var all sync.WaitGroup
	for i := range parts {
		part := d
		part.Requests = d.Requests[i*last/parts : (i+1)*last/parts]
		wires[i] = r.wire(d.Attempt)
		all.Go(func() { outs[i] = act(r.writing, wires[i], part) })
	}
	all.Wait()
	whole := Outcome{Decision: d, Disposition: d.Disposition}
	var sent []Exchange
	for i, out := range outs {
		whole.Err = errors.Join(whole.Err, out.Err)
		sent = append(sent, wires[i].sent...)
	}
	if whole.Err != nil {
		whole.Disposition = Defer
		return whole, sent
	}
	end, w := d, r.wire(d.Attempt)
	end.Requests = d.Requests[last:]
	out := act(r.writing, w, end)
	out.Decision.Requests = d.Requests
	return out, append(sent, w.sent...)
}

func (r *runner) settle(a acted) {
	r.busy--
	r.c.Settle(a.out)
	attempt := a.out.Decision.Attempt
	if a.out.Disposition == Defer {
		delay := time.Duration(delayAfter(r.c.failures(attempt)))
		if refused, ok := errors.AsType[*RefusedError](a.out.Err); ok && r.o.Hold != nil {
			delay = max(delay, r.o.Hold(refused))
		}
		r.alarms.set(int64(r.now()+delay), attempt.Work, attempt.ID)
	}
	if a.out.Disposition != Defer {
		delete(r.unshown, attempt.ID)
	}
	if wrote(a.sent) && !r.unshown.inVain(a.out) {
		r.lastActivity, r.changed = r.now(), true
	}
	if r.refreshAt == 0 && r.c.Unsure() {
		r.refreshAt = r.now() + burst
	}
	r.sequence++
	if r.o.Record != nil {
		r.o.Record(Record{r.sequence, a.out.Decision, a.sent, a.out.Disposition, a.out.Err})
	}
}

// onTimer wakes the attempts that are due.
func (r *runner) onTimer() {
	now := r.now()
	for {
		next, ok := r.alarms.take(int64(now))
		if !ok {
			break
		}
		r.c.wakeOne(next.work, next.id)
	}
	if r.refreshAt > 0 && now >= r.refreshAt {
		r.c.Refresh()
		r.refreshAt = 0
		if r.c.Unsure() {
			r.refreshAt = now + burst
		}
	}
}

// resetTimer sets the timer to the next due time.
func (r *runner) resetTimer() {
	next := time.Hour
	if due, ok := r.alarms.next(); ok {
		next = min(next, time.Duration(due)-r.now())
	}
	if r.refreshAt > 0 {
		next = min(next, r.refreshAt-r.now())
	}
	if r.o.UntilRest && r.synced == nil && r.busy == 0 && r.c.Unseen() == 0 {
		next = min(next, r.lastActivity+r.o.Quiet-r.now())
	}
	r.timer.Reset(max(next, 0))
}

// atRest reports whether a run with UntilRest can end. It wakes the deferred attempts first.
func (r *runner) atRest() bool {
	if !r.o.UntilRest || r.synced != nil || r.busy > 0 || r.c.Ready() > 0 || r.c.Unseen() > 0 || r.now()-r.lastActivity < r.o.Quiet {
		return false
	}
	if r.changed && r.c.DeferredCount() > 0 {
		r.changed = false
		r.c.Wake()
		r.start()
		return false
	}
	if r.o.Idle != nil && r.o.Idle() {
		r.lastActivity, r.changed = r.now(), true
		return false
	}
	return true
}

// finish waits for the attempts in progress. Those that are not decided yet are dropped.
func (r *runner) finish() {
	for r.busy > 0 {
		select {
		case <-r.looked:
			r.busy--
		case a := <-r.acted:
			r.settle(a)
		}
	}
}

// read sends a read, or shares the result of an equal one in progress.
func (r *runner) read(ref object.Ref, get func() (*object.Object, error)) (*object.Object, error) {
	found, err, _ := r.reads.Do(fmt.Sprintf("%#v", ref), func() (any, error) { return get() })
	return found.(*object.Object), err
}
