package differential

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

const (
	// dwell is how long a world has to stay as it is before it counts as settled:
	// what was not predicted has that long to happen.
	dwell = 1500 * time.Millisecond
	// patience is how long a world that is not as predicted may stay unchanged
	// before that is a disagreement, beside the time that its collector had run when
	// it changed last: whatever fails is tried again after twice the time that it
	// waited before, so that the next attempt may be as far away as the first one. And
	// all retries of a collector share ten a second, those of the references that never
	// resolve first of all: of some hundred worlds they queue for minutes.
	patience = 3 * time.Minute
)

// verdict is how a phase of a world ended.
type verdict uint8

const (
	undecided verdict = iota
	// predicted: the state that a dry run shows, by the requests that it shows.
	predicted
	// contested: an end, state and requests, that the same world comes to under
	// another schedule of the engine's exploring driver.
	contested
	// raced: the same, under a schedule as fine as single requests.
	raced
	// remembered: an end that comes about under some schedule of a collector that
	// has seen the whole story; a dry run always begins with one that restarts.
	remembered
	// wrong: an end that no schedule came to.
	wrong
)

func (v verdict) String() string {
	return [...]string{"undecided", "predicted", "timing", "raced", "remembered", "wrong"}[v]
}

// trial is a story on its way through a real cluster.
type trial struct {
	story
	slot int
	// phase counts from 0; that is the start of the collector.
	phase int
	// acts of each phase so far, and the states in which they ended.
	acts   [][]scenario.Act
	states []string

	first    []*object.Object // the world before the first phase, as the server showed it
	before   []*object.Object // and before this one
	expected end
	now      end
	world    []*object.Object // now
	// asked is the page on which now.requests stand.
	asked    page
	since    time.Time // now has been so
	searched bool      // for schedules that lead to now
	// silent: what the collector asked for is not compared.
	silent  bool
	verdict verdict
	want    *sought // what the search has left
	// announced: a dry run says that this may happen, without being asked to explore;
	// unsaid are the objects of which it does not.
	announced bool
	unsaid    []string
}

// site is a server with a collector: where stories are tried.
type site interface {
	// put stores objects as they are, and clear removes them all; no collector
	// may be running.
	put(ctx context.Context, objects []*object.Object) error
	clear() error
	// collect starts a collector, and rest ends it.
	collect() error
	rest() error
	// fence returns when the collector has begun with everything enqueued before.
	fence(ctx context.Context) error
	// turn begins a phase, and page is what the collector has asked for since.
	turn()
	page(slot int) page
	// worlds are the objects of every slot, under the names they were drawn with.
	worlds(ctx context.Context) ([][]*object.Object, error)
	act(ctx context.Context, slot int, a scenario.Act) error
	// finish does to a pod what a kubelet does once its containers have stopped.
	finish(ctx context.Context, pod object.Ref) error
}

// court judges what happens at a site.
type court struct {
	site
	on    platform
	slots int
	// silent: only the states are compared, not how the collector came there.
	silent bool
	// began is when the collector was started.
	began time.Time
}

// batch runs stories through a site, all at once. It tells done of every phase of
// every story.
func (c *court) batch(ctx context.Context, stories []story, done func(*trial)) error {
	var objects []*object.Object
	trials := make([]*trial, len(stories))
	for slot, s := range stories {
		trials[slot] = &trial{story: s, slot: slot, silent: c.silent}
		for _, o := range s.objects {
			objects = append(objects, placeOf(slot).put(o))
		}
	}
	if err := c.put(ctx, objects); err != nil {
		return err
	}
	if err := c.verify(ctx, trials); err != nil {
		return err
	}
	for phase := 0; len(trials) > 0; phase++ {
		if err := c.phase(ctx, trials, phase); err != nil {
			return err
		}
		var more []*trial
		for _, t := range trials {
			done(t)
			if t.phase < len(t.phases) && t.verdict != wrong {
				more = append(more, t)
			}
		}
		trials = more
	}
	if err := c.rest(); err != nil {
		return err
	}
	return c.clear()
}

// verify makes sure that the server holds what was drawn.
func (c *court) verify(ctx context.Context, trials []*trial) error {
	worlds, err := c.worlds(ctx)
	if err != nil {
		return err
	}
	for _, t := range trials {
		if drawn, held := text(t.objects), text(worlds[t.slot]); drawn != held {
			return fmt.Errorf("seed %d: the server does not hold the world that was drawn\n%s\n%s", t.seed, drawn, held)
		}
	}
	return nil
}

// phase carries out one phase of all trials and judges each of them.
func (c *court) phase(ctx context.Context, trials []*trial, phase int) error {
	worlds, err := c.worlds(ctx)
	if err != nil {
		return err
	}
	err = each(len(trials), func(i int) error { return trials[i].begin(ctx, worlds[trials[i].slot], c.on, phase) })
	if err != nil {
		return err
	}
	c.turn()
	if phase == 0 {
		c.began = time.Now()
		if err := c.collect(); err != nil {
			return err
		}
		if err := c.fence(ctx); err != nil {
			return err
		}
	}
	err = each(len(trials), func(i int) error {
		for _, a := range trials[i].acts[phase] {
			if err := c.act(ctx, trials[i].slot, a); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return c.settle(ctx, trials)
}

// begin notes the world before a phase and what a dry run says of it.
func (t *trial) begin(ctx context.Context, world []*object.Object, on platform, phase int) (err error) {
	var acts []scenario.Act
	if phase == 0 {
		t.first = world
	} else {
		acts = t.phases[phase-1]
	}
	t.phase, t.before, t.verdict = phase, world, undecided
	t.acts = append(t.acts, acts)
	t.now, t.since, t.announced, t.unsaid = end{}, time.Time{}, false, nil
	t.expected, err = predict(ctx, world, on, acts)
	if err != nil {
		return fmt.Errorf("seed %d: %w\n%s", t.seed, err, text(world))
	}
	if t.silent {
		t.expected.requests = ""
	}
	return nil
}

// settle watches the trials until each of them has a verdict, and all have rested
// since.
func (c *court) settle(ctx context.Context, trials []*trial) error {
	for {
		if err := c.fence(ctx); err != nil {
			return err
		}
		worlds, err := c.worlds(ctx)
		if err != nil {
			return err
		}
		busy := false
		now := time.Now()
		var resting []*trial
		for _, t := range trials {
			for _, pod := range graceful(worlds[t.slot]) {
				if err := c.finish(ctx, placeOf(t.slot).ref(pod)); err != nil {
					return err
				}
			}
			if !t.silent {
				t.asked = c.page(t.slot)
			}
			if e := (end{text(worlds[t.slot]), t.asked.text()}); e != t.now || t.since.IsZero() {
				t.world = worlds[t.slot]
				t.now, t.since, t.searched, t.verdict = e, now, false, undecided
			}
			if now.Sub(t.since) < dwell {
				busy = true
				continue
			}
			resting = append(resting, t)
		}
		err = each(len(resting), func(i int) error {
			t := resting[i]
			return t.judge(ctx, c.on, now.Sub(t.since) > patience+t.since.Sub(c.began))
		})
		if err != nil {
			return err
		}
		busy = busy || slices.ContainsFunc(resting, func(t *trial) bool { return t.verdict == undecided })
		if !busy {
			for _, t := range trials {
				t.states = append(t.states, t.now.state)
			}
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		pause(ctx, 300*time.Millisecond)
	}
}

// graceful are the pods whose grace period runs.
func graceful(world []*object.Object) []object.Ref {
	var pods []object.Ref
	for _, o := range world {
		if grace := o.GracePeriod(); o.Kind == "Pod" && o.BeingDeleted() && grace != nil && *grace > 0 {
			pods = append(pods, o.Ref)
		}
	}
	return pods
}

// judge compares how a trial rests. Over tells that nothing can be waited for any more.
func (t *trial) judge(ctx context.Context, on platform, over bool) error {
	if t.now == t.expected {
		t.verdict = predicted
		return nil
	}
	if !t.searched {
		t.searched = true
		v, err := t.search(ctx, on)
		if err != nil {
			return fmt.Errorf("seed %d: %w", t.seed, err)
		}
		t.verdict = v
		if v != undecided && t.now.state != t.expected.state {
			if err = t.announce(ctx, on); err != nil {
				return fmt.Errorf("seed %d: %w", t.seed, err)
			}
		}
	}
	if t.verdict == undecided && over {
		t.verdict = wrong
	}
	return nil
}

// search looks for a schedule that leads to this end.
func (t *trial) search(ctx context.Context, on platform) (verdict, error) {
	r := run{acts: t.acts[t.phase:], settled: t.phase > 0}
	want := newSought(t.now)
	want.silent = t.silent
	t.want = want
	if want.found(t.expected) { // the dry run is a schedule, too
		return contested, nil
	}
	ok, err := possible(ctx, t.before, on, r, nil, want, t.seed)
	if ok || err != nil {
		return contested, err
	}
	r.fine = true
	ok, err = possible(ctx, t.before, on, r, nil, want, t.seed)
	if ok || err != nil || want.pieces() {
		return raced, err
	}
	if t.phase == 0 {
		return undecided, nil
	}
	for _, fine := range []bool{false, true} {
		r := run{acts: t.acts, fine: fine}
		ok, err = possible(ctx, t.first, on, r, t.states, want, t.seed)
		if ok || err != nil {
			return remembered, err
		}
	}
	return undecided, nil
}

// each calls do for n slots, some at a time, and returns all errors.
func each(n int, do func(slot int) error) error {
	const most = 16
	var wg sync.WaitGroup
	errs := make([]error, n)
	places := make(chan struct{}, most)
	for slot := range n {
		places <- struct{}{}
		wg.Go(func() {
			defer func() { <-places }()
			errs[slot] = do(slot)
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// pause waits: a real collector is not told to hurry.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// Totals is what one test compared with a control plane, over all cells. The flag
// -totals names a file for those of a run.
type Totals struct {
	// Release is the version of Kubernetes of the control plane.
	Release string `json:"release"`
	// Worlds is how many states were drawn, or read from files.
	Worlds int `json:"worlds"`
	// Phases is how often a world was compared when it had come to rest, and Objects how
	// many objects that were.
	Phases  int `json:"phases"`
	Objects int `json:"objects"`
	// Wrong is how many phases ended in a way that is neither predicted nor that of any
	// other schedule.
	Wrong int `json:"wrong"`
}
