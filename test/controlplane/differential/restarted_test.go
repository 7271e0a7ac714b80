package differential

import (
	"cmp"
	"context"
	"flag"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/test/extent"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

var restarted = flag.Int("restarted", extent.Of(20, 150), "the number of worlds whose garbage collector starts after the dump")

// TestCollectorStartsAfterTheDump takes a dump of worlds without a garbage collector, starts the one
// of Kubernetes, and deletes. A plan from the dump for a collector that has just started says how
// each world ends, or that it may end so. The log says how many plans agree in full, with and without
// that assumption.
func TestCollectorStartsAfterTheDump(t *testing.T) {
	l, err := open(t.Context(), *restarted)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Stop(); err != nil {
			t.Error(err)
		}
	})
	on := platform{Resources: l.resources, release: l.Release()}
	trials, objects := drawAwakenings(*restarted)
	if err := l.put(t.Context(), objects); err != nil {
		t.Fatal(err)
	}
	dumps, err := l.worlds(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range trials {
		if err := a.foresee(t.Context(), dumps[a.slot], on); err != nil {
			t.Fatalf("seed %d: %v\n%s", a.seed, err, text(dumps[a.slot]))
		}
	}
	if err := l.collect(); err != nil {
		t.Fatal(err)
	}
	rest := func(calm func(*awakening) bool) {
		if err := l.awaitRest(t.Context(), trials, calm); err != nil {
			t.Fatal(err)
		}
	}
	rest(func(a *awakening) bool { return text(a.now) == a.started })
	for _, a := range trials {
		a.afterStart = text(a.now)
		for _, act := range a.acts {
			if err := l.act(t.Context(), a.slot, act); err != nil {
				t.Fatal(err)
			}
		}
	}
	rest(func(a *awakening) bool { return !a.differs(a.expected) })
	agree, without, told := 0, 0, 0
	for _, a := range trials {
		if !a.differs(a.usual) {
			without++
		}
		if !a.differs(a.expected) {
			agree++
			continue
		}
		_, unsaid := compared(a.expected, a.now)
		if len(unsaid) == 0 {
			told++
			continue
		}
		raced, err := a.raced(t.Context(), on)
		if err != nil {
			t.Fatal(err)
		}
		if !raced {
			t.Errorf("seed %d: %v not said\nbefore\n%s\n%v\npredicted\n%sand is\n%s", a.seed, unsaid, text(a.before), a.acts, text(listed(a.expected.After())), text(a.now))
		}
	}
	t.Logf("of %d worlds %d end as the plan for a collector that has just started says, and %d more as it says that they may; %d end as the plan without the flag says",
		len(trials), agree, told, without)
	if agree <= without {
		t.Error("the state of the collector makes no difference: the test shows nothing")
	}
}

// awakening is a world whose collector starts after the dump.
type awakening struct {
	seed uint64
	slot int
	acts []scenario.Act
	// before is the dump, and now is the world as last seen, unchanged since then.
	before, now []*object.Object
	since       time.Time
	// started is the state that the start of the collector is expected to lead to, and afterStart the
	// one that it did.
	started, afterStart string
	// expected is the plan for a collector that has just started, and usual is the one without that
	// assumption.
	expected, usual *plan.Result
}

// drawAwakenings draws worlds with a deletion that a collector has to continue, and deletes that one
// plan can be asked about. Pods do not terminate in them: a kubelet that is late is not what is
// compared.
func drawAwakenings(n int) (trials []*awakening, objects []*object.Object) {
	for i := *seed; len(trials) < n; i++ {
		s := draw(i)
		unfinished := slices.ContainsFunc(s.objects, func(o *object.Object) bool { return o.BeingDeleted() && o.HandlesDependents() })
		if !unfinished || len(graceful(s.objects)) > 0 {
			continue
		}
		a := &awakening{seed: s.seed, slot: len(trials), acts: s.phases[0]}
		for i := range a.acts {
			a.acts[i].Policy, a.acts[i].Drop = cmp.Or(a.acts[0].Policy, metav1.DeletePropagationBackground), ""
		}
		for _, o := range s.objects {
			objects = append(objects, placeOf(a.slot).put(o))
		}
		trials = append(trials, a)
	}
	return trials, objects
}

// foresee makes the plans from the dump, an hour after the last deletion in it.
func (a *awakening) foresee(ctx context.Context, dump []*object.Object, on platform) error {
	a.before = dump
	a.acts = slices.DeleteFunc(a.acts, func(act scenario.Act) bool {
		return !slices.ContainsFunc(dump, func(o *object.Object) bool { return o.Ref == act.Ref })
	})
	start, err := predict(ctx, dump, on, nil)
	if err != nil {
		return err
	}
	a.started = start.state
	snap, err := on.snapshot(dump)
	if err != nil {
		return err
	}
	request, ok := seedOf(dump, a.acts)
	if !ok || len(a.acts) == 0 {
		request = plan.CollectSeed()
	}
	last := time.Time{}.Unix()
	for _, o := range dump {
		last = max(last, o.DeletionTimestamp())
	}
	for _, p := range []struct {
		result **plan.Result
		state  report.CollectorState
	}{{&a.expected, report.CollectorRestarted}, {&a.usual, ""}} {
		around := health.New(snap, &health.Evidence{}, last+int64(time.Hour.Seconds()))
		*p.result, err = plan.Simulate(ctx, snap, request, plan.Options{Record: plan.RecordRequests, Explore: plan.Usual, Seed: 1, Health: around, Collector: p.state})
		if err != nil {
			return err
		}
	}
	return nil
}

// differs reports whether an object is not as a plan says.
func (a *awakening) differs(from *plan.Result) bool {
	return len(otherThan(a.now, listed(from.After()), nil)) > 0
}

// raced reports whether some schedule of a collector that starts over the dump leads here.
func (a *awakening) raced(ctx context.Context, on platform) (bool, error) {
	want := newSought(end{state: text(a.now)})
	want.silent = true
	for _, fine := range []bool{false, true} {
		r := run{acts: [][]scenario.Act{nil, a.acts}, fine: fine}
		if ok, err := possible(ctx, a.before, on, r, []string{a.afterStart}, want, a.seed); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}

// awaitRest returns when all worlds have stayed as they are for a while: longer for those that are
// not calm.
func (l *live) awaitRest(ctx context.Context, trials []*awakening, calm func(*awakening) bool) error {
	const longer = 30 * time.Second
	for _, a := range trials {
		a.since = time.Time{}
	}
	for {
		if err := l.fence(ctx); err != nil {
			return err
		}
		worlds, err := l.worlds(ctx)
		if err != nil {
			return err
		}
		now, busy := time.Now(), false
		for _, a := range trials {
			for _, pod := range graceful(worlds[a.slot]) {
				if err := l.finish(ctx, placeOf(a.slot).ref(pod)); err != nil {
					return err
				}
			}
			if a.since.IsZero() || text(worlds[a.slot]) != text(a.now) {
				a.now, a.since = worlds[a.slot], now
			}
			rest := now.Sub(a.since)
			busy = busy || rest < dwell || rest < longer && !calm(a)
		}
		if !busy {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		pause(ctx, 300*time.Millisecond)
	}
}
