package differential

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/release"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// predict is what a dry run says of a world: in which state it ends, and what the
// collector asks for until then. Without acts it is what a collector does that
// starts over the world.
//
// A dry run knows deletes of one policy. Whatever else users do is simulated with
// the same engine and server, in the same order. The steps of a dry run leave out
// on which conditions a request is sent: what it says stems from that simulation,
// too, and has to be what the steps say.
func predict(ctx context.Context, world []*object.Object, on platform, acts []scenario.Act) (end, error) {
	seed, ok := seedOf(world, acts)
	r := run{acts: [][]scenario.Act{acts}, settled: len(acts) > 0}
	ends, err := r.do(ctx, world, on, nil)
	if err != nil {
		return end{}, err
	}
	if !ok || on.own && on.rules() != (release.Rules{}) {
		return ends[0], nil // a dry run over an older release knows the collector of that release alone
	}
	snap, err := on.snapshot(world)
	if err != nil {
		return end{}, err
	}
	result, err := plan.Simulate(ctx, snap, seed, plan.Options{})
	if err != nil {
		return end{}, err
	}
	e := end{text(listed(result.After())), ends[0].requests}
	if e.state != ends[0].state {
		return e, nil // a dry run counts on more than the collector and the server
	}
	steps, err := stepsOf(result.Plan, on.Resources)
	if err == nil && steps != unconditional(e.requests) {
		err = fmt.Errorf("the steps of a dry run are\n%sbut the requests of the engine\n%s", steps, e.requests)
	}
	return e, err
}

// announce asks a dry run, which nobody has told to explore, whether it marks every object
// that is not as it says: announced if it does, and unsaid, the names of the others, if it
// does not. It cannot be asked about everything that users do.
func (t *trial) announce(ctx context.Context, on platform) error {
	seed, ok := seedOf(t.before, t.acts[t.phase])
	if !ok {
		return nil
	}
	snap, err := on.snapshot(t.before)
	if err != nil {
		return err
	}
	result, err := plan.Simulate(ctx, snap, seed, plan.Options{Record: plan.RecordRequests, Explore: plan.Usual, Seed: 1})
	if err != nil {
		return err
	}
	_, t.unsaid = compared(result, t.world)
	t.announced = len(t.unsaid) == 0
	return nil
}

// compared counts the objects that did not end as a plan says, and names those of them
// that it calls neither contested nor Unknown.
func compared(result *plan.Result, now []*object.Object) (differ int, unsaid []string) {
	contested := map[string]bool{}
	for _, e := range result.Plan.Effects {
		contested[e.Object.String()] = e.DependsOnTiming || e.Outcome == report.Unknown
	}
	after := listed(result.After())
	return len(otherThan(now, after, nil)), otherThan(now, after, contested)
}

// otherThan names the objects that are not as expected, without those of which that may be.
func otherThan(now, expected []*object.Object, maybe map[string]bool) (list []string) {
	was, want := stateOf(now), stateOf(expected)
	names := map[string]bool{}
	for name := range was {
		names[name] = true
	}
	for name := range want {
		names[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if was[name] != want[name] && !maybe[name] {
			list = append(list, name)
		}
	}
	return list
}

// seedOf is the acts as what a dry run is asked for, if it can be.
func seedOf(world []*object.Object, acts []scenario.Act) (plan.Seed, bool) {
	if len(acts) == 0 {
		return plan.CollectSeed(), true
	}
	policies := map[metav1.DeletionPropagation]engine.Policy{
		metav1.DeletePropagationBackground: engine.Background,
		metav1.DeletePropagationForeground: engine.ForegroundPolicy,
		metav1.DeletePropagationOrphan:     engine.OrphanPolicy,
	}
	policy, known := policies[acts[0].Policy]
	var targets []object.Ref
	for _, a := range acts {
		exists := slices.ContainsFunc(world, func(o *object.Object) bool { return o.Ref == a.Ref })
		if !known || !exists || a.Drop != "" || a.Policy != acts[0].Policy {
			return plan.Seed{}, false
		}
		targets = append(targets, a.Ref)
	}
	return plan.DeleteSeed(policy, targets...), true
}

// run is one way in which a story may go.
type run struct {
	// acts of each phase. The first phase of a run that is not settled has none:
	// the collector starts.
	acts [][]scenario.Act
	// settled: the collector is at rest before the first phase. What it asks for
	// until it is counts as asked for in that phase.
	settled bool
	// fine: schedules are as fine as single requests.
	fine bool
}

// end is how a phase ends: the state, and what the collector asked for with
// success.
type end struct {
	state, requests string
}

// do runs the phases and returns how each of them ends. With random it is one of
// many schedules; without it is the reference.
func (r run) do(ctx context.Context, world []*object.Object, on platform, random *rand.Rand) ([]end, error) {
	m := &mirror{Server: on.server(world), resources: on.Resources, random: random}
	c := on.collector()
	m.start(c, random, !r.settled)
	if r.settled {
		if err := engine.Drain(ctx, c, m, engine.Follow{}); err != nil {
			return nil, err
		}
	}
	var ends []end
	for _, acts := range r.acts {
		m.begin(slices.Clone(acts))
		m.act(ctx)
		follow := engine.Follow{Idle: func() bool { return m.act(ctx) || m.kubelet(ctx) }}
		var err error
		switch {
		case random == nil:
			for m.act(ctx) {
			}
			err = engine.Drain(ctx, c, m, follow)
		case r.fine:
			err = (&schedule{c: c, m: m, random: random, idle: follow.Idle}).run(ctx)
		default:
			err = engine.Explore(ctx, c, m, follow, random)
		}
		if err != nil {
			return nil, err
		}
		ends = append(ends, end{text(listed(m.Objects())), m.page.text()})
		m.page = page{}
	}
	return ends, nil
}

// mirror is a simulated server as the collector sees it, and the users beside it.
type mirror struct {
	*apisim.Server
	resources *object.Resources
	pending   []object.Event
	random    *rand.Rand
	// acts are what users are still going to do: one in haste steps of the
	// collector, or the next one when the collector is at rest; only then if haste is 0.
	acts  []scenario.Act
	haste int
	// page is what the collector asked for.
	page page
}

// Delete deletes in the name of the collector.
func (m *mirror) Delete(ctx context.Context, ref object.Ref, o metav1.DeleteOptions) error {
	err := m.Server.Delete(ctx, ref, o)
	m.page.note(deleteLine("", asSent(m.resources, ref), o), err == nil)
	return err
}

// Patch patches in the name of the collector.
func (m *mirror) Patch(ctx context.Context, ref object.Ref, p object.Patch) error {
	err := m.Server.Patch(ctx, ref, p)
	m.page.note(patchLine("", asSent(m.resources, ref), p), err == nil)
	return err
}

// begin prepares what users are going to do. They are as fast as the collector, or
// slower; or it is through with one request before the next one comes.
func (m *mirror) begin(acts []scenario.Act) {
	m.acts, m.haste = acts, 1
	if m.random == nil {
		return
	}
	m.haste = 1 << m.random.IntN(7)
	if m.haste == 1<<6 {
		m.haste = 0
	}
}

// act carries out the next act, if there is one.
func (m *mirror) act(ctx context.Context) bool {
	if len(m.acts) == 0 {
		return false
	}
	m.acts[0].Apply(ctx, m.Server)
	m.acts = m.acts[1:]
	return true
}

// start has the collector see the lists of all kinds. Where the collector is
// starting, kinds arrive interleaved as random says, the objects of a kind in any
// order, and workers may be faster than lists.
//
// Upstream: client-go/tools/cache/reflector.go Reflector.watchList: hands over what a map held.
func (m *mirror) start(c *engine.Collector, random *rand.Rand, starting bool) {
	var lists [][]object.Event
	last := ""
	objects := m.Objects()
	// In this order a dry run sees them.
	slices.SortFunc(objects, func(a, b *object.Object) int { return object.Compare(a.Ref, b.Ref) })
	for _, o := range objects {
		if !m.watched(o) {
			continue
		}
		if k := o.APIVersion + " " + o.Kind; k != last || len(lists) == 0 {
			lists, last = append(lists, nil), k
		}
		lists[len(lists)-1] = append(lists[len(lists)-1], object.Event{Type: object.Added, Object: o})
	}
	if random != nil && starting {
		for _, l := range lists {
			random.Shuffle(len(l), func(i, j int) { l[i], l[j] = l[j], l[i] })
		}
	}
	late := starting && random != nil && random.IntN(2) == 0
	for len(lists) > 0 {
		i := 0
		if random != nil && starting {
			i = random.IntN(len(lists))
		}
		n := 1
		if random != nil && random.IntN(2) == 0 {
			n = len(lists[i])
		}
		for _, e := range lists[i][:n] {
			if late {
				m.pending = append(m.pending, e)
			} else {
				c.Observe(e)
			}
		}
		if lists[i] = lists[i][n:]; len(lists[i]) == 0 {
			lists = slices.Delete(lists, i, i+1)
		}
	}
}

// kubelet finishes the pods whose grace period runs.
func (m *mirror) kubelet(ctx context.Context) bool {
	pods := m.Lingering()
	for _, ref := range pods {
		// That it is gone meanwhile is what was wanted.
		_ = m.Server.Delete(ctx, ref, finished(ref.UID))
	}
	return len(pods) > 0
}

// finished is what a kubelet says once the containers of a pod have stopped.
func finished(uid types.UID) metav1.DeleteOptions {
	return metav1.DeleteOptions{
		TypeMeta:           metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"},
		GracePeriodSeconds: new(int64(0)), Preconditions: &metav1.Preconditions{UID: &uid},
	}
}

func (m *mirror) watched(o *object.Object) bool {
	r, err := m.resources.For(o.APIVersion, o.Kind)
	return err == nil && m.resources.Monitored(r)
}

// Events hands over what the collector's watches show. It is called at every step
// of the collector.
func (m *mirror) Events() []object.Event {
	for m.random != nil && m.haste > 0 && len(m.acts) > 0 && m.random.IntN(m.haste) == 0 {
		m.act(context.Background())
	}
	if m.random != nil && m.random.IntN(8) == 0 {
		m.kubelet(context.Background())
	}
	events := m.pending
	m.pending = nil
	for _, e := range m.Server.Events() {
		if m.watched(e.Object) {
			events = append(events, e)
		}
	}
	return events
}

func clones(objects []*object.Object) []*object.Object {
	c := make([]*object.Object, len(objects))
	for i, o := range objects {
		c[i] = o.Clone()
	}
	return c
}

// explored is how many schedules as fine as single requests are tried before an end
// counts as impossible: on a busy machine ends come about that one in a thousand
// leads to. The coarser ones come first because they are fewer, and find most ends.
const explored, exploredCoarsely = 9000, 1000

// possible reports whether one more phase can end so. Before it the world was as the
// server showed it, or the collector has seen the whole story: then the states after
// the phases before must have come about, too.
func possible(ctx context.Context, world []*object.Object, on platform, r run, before []string, want *sought, seed uint64) (bool, error) {
	tries := uint64(exploredCoarsely)
	if r.fine {
		tries = explored
	}
	for i := range tries {
		ends, err := r.do(ctx, world, on, rand.New(rand.NewPCG(seed, i)))
		if err != nil {
			return false, fmt.Errorf("schedule %d: %w", i, err)
		}
		last := len(ends) - 1
		same := slices.EqualFunc(ends[:last], before, func(e end, state string) bool { return e.state == state })
		if same && want.found(ends[last]) {
			return true, nil
		}
	}
	return false, nil
}
