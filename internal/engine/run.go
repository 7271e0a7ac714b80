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
	// burst is for how long others may rely on an owner having been found waiting.
	burst = 5 * time.Second
)

// RunOptions say how a live run goes. The zero value is a collector that runs
// until its context ends.
type RunOptions struct {
	// Workers is the largest number of attempts, and of requests, under way at
	// the same time; 20 when it is 0, as upstream.
	Workers int
	// Before is asked before every write that is sent, with the intent that the
	// write carries out: the place of a limiter, a circuit breaker, a lease. It may wait;
	// the context ends with the run. An error keeps the object: nothing is sent,
	// the record carries it as a *RefusedError, and the attempt comes again. It is
	// called from many goroutines.
	Before func(ctx context.Context, r Request) error
	// Hold says how long at least an attempt waits whose request Before refused, unless
	// an event brings it back before. Where Before refuses forever, to ask again soon
	// is to ask for nothing. Nil: no longer than one that failed.
	Hold func(*RefusedError) time.Duration
	// Record is called once for every finished attempt, by the goroutine that
	// called Run.
	Record func(Record)
	// Observed is called after the collector has observed an event, by the goroutine that
	// called Run. It must not block.
	Observed func(object.Event)
	// Warn is called for every warning, by the goroutine that called Run. The
	// collector does not keep what it was called for, so that a long run keeps its
	// size. Nil: they are kept.
	Warn func(Warning)
	// Synced is closed when all events that make up the present world have been
	// sent. Until then nothing is attempted, so that nothing is read or written:
	// what is not there yet looks like what is absent. Nil: it is complete.
	Synced <-chan struct{}
	// Uncovered reports whether nothing may be concluded about the place of an object
	// now, and why: its kind is not watched yet, or its watch is broken. Who
	// stands there or refers there is kept. It is called from many goroutines.
	Uncovered func(ref object.Ref) (why string, uncovered bool)
	// UntilRest ends the run, without an error, when nothing is left to do: no
	// attempt is ready or under way, every write has been seen in an event, no
	// event has come for Quiet, and every deferred attempt was repeated since the
	// last change without an effect. What is deferred then is stuck; the collector
	// lists it.
	UntilRest bool
	// Quiet is how long a world has to be silent to be at rest; 2 s when it is 0.
	Quiet time.Duration
	// Idle is asked when the run would end by UntilRest: it returns true when the
	// rest of the world has acted, or is known to act, so that it is too early.
	Idle func() bool
	// Do hands in functions that look at the collector between two steps. They
	// must not keep it.
	Do <-chan func(*Collector)
	// Grace is how long a write under way may go on after the context has ended,
	// before it is cancelled as well and its outcome is unknown; 10 s when it is 0.
	Grace time.Duration
}

// Run is the live driver: it collects until the context ends, and then returns
// the context's error. One goroutine, the caller's, owns the collector; what asks
// and writes runs beside it. Whatever is known is observed before the next
// attempt is handed out. When the context has ended no write starts any more, the
// requests under way are waited for, and no goroutine is left.
//
// An event without Old is given what was last observed.
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
	synced  <-chan struct{} // nil once it was closed
	ended   context.Context
	writing context.Context
	looked  chan looked
	acted   chan acted
	slots   chan struct{}
	reads   singleflight.Group

	busy     int
	sequence uint64
	unshown  unshown
	alarms   alarms
	started  time.Time
	timer    *time.Timer
	// lastActivity is when an event came or a write was answered for the last time;
	// changed reports whether that was after all deferred attempts were repeated;
	// refreshAt is when the collector is refreshed, 0 when there is no need to.
	lastActivity time.Duration
	changed      bool
	refreshAt    time.Duration
}

// looked is an attempt with its facts, acted one with its outcome.
type looked struct {
	facts Facts
	sent  []Exchange
}

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

// now is the time since the start.
func (r *runner) now() time.Duration { return time.Since(r.started) }

// catchUp takes in all that has come already: a look at an object that has just
// gone, or was just written, is a request for nothing.
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

// warn hands out the warnings.
func (r *runner) warn() {
	if r.o.Warn == nil {
		return
	}
	for _, w := range r.c.takeWarnings() {
		r.o.Warn(w)
	}
}

// start fills the free slots.
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

// decide judges, and has the requests sent that follow.
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

// act sends the requests of a decision. An owner may have any number of
// dependents to release; that is spread over as many goroutines as there are
// slots.
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

// onTimer wakes whom it is time for.
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

// resetTimer sets the timer to the next thing that time alone will bring.
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

// atRest reports whether a run until rest is over. It repeats what is deferred
// first.
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

// finish waits for what is under way. Whoever has only looked will not act.
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

// read sends a read unless the same one is under way: its answer is as good.
func (r *runner) read(ref object.Ref, get func() (*object.Object, error)) (*object.Object, error) {
	found, err, _ := r.reads.Do(fmt.Sprintf("%#v", ref), func() (any, error) { return get() })
	return found.(*object.Object), err
}
