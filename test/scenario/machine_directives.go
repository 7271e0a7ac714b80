package scenario

import (
	"context"
	"fmt"
	"strings"

	"github.com/cockroachdb/datadriven"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Collect gives the environment a collector and the directives that drive it.
// The collector's graph is checked after every directive. It is made anew, with
// the usual settings, with every cluster, and sees nothing of the world until it
// is told to observe.
func Collect(e *Env) {
	m := &machine{env: e}
	m.serve(m.directives())
}

// serve lets the environment hand directives to the machine.
func (m *machine) serve(directives map[string]order) {
	for name, carryOut := range directives {
		m.env.Handle(name, func(_ *Env, d *datadriven.TestData) (string, error) {
			return carryOut(context.Background(), d)
		})
	}
	m.env.After(func(*Env) error {
		m.follow()
		return m.collector.Graph().Check()
	})
	m.follow()
}

// order carries out a directive and returns what it prints.
type order func(context.Context, *datadriven.TestData) (string, error)

// directives are what a scenario can ask of the collector.
func (m *machine) directives() map[string]order {
	return map[string]order{
		"observe":   m.observe,
		"attempt":   m.attempt,
		"lookup":    m.lookup,
		"decide":    m.decide,
		"act":       m.act,
		"settle":    m.settle,
		"wake":      m.wake,
		"drain":     m.drain,
		"explore":   m.explore,
		"restart":   m.restarted,
		"collector": m.configured,
		"watch":     m.watch,
		"kubelet":   m.finishPods,
		"graph":     m.showGraph,
		"queue":     m.showQueue,
		"deferred":  m.showDeferred,
		"absent":    m.showAbsent,
		"recorded":  m.showRecorded,
	}
}

// observe delivers pending watch events: `n=` of them, all when absent, of one
// `kind=` when given.
func (m *machine) observe(_ context.Context, d *datadriven.TestData) (string, error) {
	a := readArgs(d)
	n, kind := a.number("n", len(m.pending)), a.word("kind")
	if err := a.done(); err != nil {
		return "", err
	}
	var b strings.Builder
	var kept []object.Event
	for _, e := range m.pending {
		if n == 0 || kind != "" && e.Object.Kind != kind {
			kept = append(kept, e)
			continue
		}
		n--
		m.collector.Observe(e)
		fmt.Fprintln(&b, FormatEvent(e, m.env.Names))
	}
	m.pending = kept
	return orNone(b.String()), nil
}

// attempt carries ready attempts out from Next to Settle: `n=` of them, one when
// absent; of one `work=`, or of the object with the UID `id=`, when given.
func (m *machine) attempt(ctx context.Context, d *datadriven.TestData) (string, error) {
	a := readArgs(d)
	n := a.number("n", 1)
	next, err := m.chooser(a)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for range n {
		attempt, ok := next()
		if !ok {
			fmt.Fprintln(&b, "nothing is ready")
			break
		}
		decision := m.collector.Decide(engine.Lookup(ctx, m.wire, m.collector.Rules(), attempt))
		out := engine.Act(ctx, m.wire, decision)
		m.collector.Settle(out)
		fmt.Fprintln(&b, outcomeText(out))
		writeCalls(&b, m.wire.take(), true)
	}
	return b.String(), nil
}

// chooser is how the next attempt is found.
func (m *machine) chooser(a *args) (func() (engine.Attempt, bool), error) {
	id := types.UID(a.word("id"))
	work := engine.DeleteWork
	switch w := a.word("work"); w {
	case "", "delete":
		if id == "" && w == "" {
			return m.collector.Next, a.done()
		}
	case "orphan":
		work = engine.OrphanWork
	default:
		return nil, fmt.Errorf("there is no work %q", w)
	}
	return func() (engine.Attempt, bool) {
		m.collector.TakeVanished()
		for i, ref := range m.collector.Queued(work) {
			if id == "" || ref.UID == id {
				return m.collector.NextOf(work, i)
			}
		}
		return engine.Attempt{}, false
	}, a.done()
}

// lookup starts an attempt and holds it: its facts are known, nothing is decided
// yet. It takes `work=` and `id=` as attempt does.
func (m *machine) lookup(ctx context.Context, d *datadriven.TestData) (string, error) {
	next, err := m.chooser(readArgs(d))
	if err != nil {
		return "", err
	}
	attempt, ok := next()
	if !ok {
		return "nothing is ready", nil
	}
	facts := engine.Lookup(ctx, m.wire, m.collector.Rules(), attempt)
	m.held = append(m.held, &held{attempt: attempt, facts: &facts})
	var b strings.Builder
	fmt.Fprintln(&b, attemptText(attempt)+classesText(facts.Owners))
	writeCalls(&b, m.wire.take(), true)
	return b.String(), nil
}

// decide judges the held attempt, by the graph as it is now.
func (m *machine) decide(_ context.Context, d *datadriven.TestData) (string, error) {
	h, err := m.holding(readArgs(d))
	if err != nil {
		return "", err
	}
	if h.decision != nil {
		return "", fmt.Errorf("%s is decided already", h.attempt.Ref)
	}
	decision := m.collector.Decide(*h.facts)
	h.decision = &decision
	return attemptText(h.attempt) + " " + decision.Reason.String(), nil
}

// act sends the requests of the held attempt.
func (m *machine) act(ctx context.Context, d *datadriven.TestData) (string, error) {
	h, err := m.holding(readArgs(d))
	if err != nil {
		return "", err
	}
	if h.decision == nil || h.outcome != nil {
		return "", fmt.Errorf("%s is not decided, or has been acted on already", h.attempt.Ref)
	}
	out := engine.Act(ctx, m.wire, *h.decision)
	h.outcome = &out
	var b strings.Builder
	fmt.Fprintln(&b, attemptText(h.attempt))
	writeCalls(&b, m.wire.take(), true)
	return b.String(), nil
}

// settle takes the outcome of the held attempt back.
func (m *machine) settle(_ context.Context, d *datadriven.TestData) (string, error) {
	h, err := m.holding(readArgs(d))
	if err != nil {
		return "", err
	}
	if h.outcome == nil {
		return "", fmt.Errorf("%s has not been acted on", h.attempt.Ref)
	}
	m.collector.Settle(*h.outcome)
	for i := range m.held {
		if m.held[i] == h {
			m.held = append(m.held[:i], m.held[i+1:]...)
			break
		}
	}
	return outcomeText(*h.outcome), nil
}

// holding is the held attempt of the UID `id=`, or the only one.
func (m *machine) holding(a *args) (*held, error) {
	id := types.UID(a.word("id"))
	if err := a.done(); err != nil {
		return nil, err
	}
	var found *held
	for _, h := range m.held {
		if id != "" && h.attempt.Ref.UID != id {
			continue
		}
		if found != nil {
			return nil, fmt.Errorf("%d attempts are held: say which one with id=", len(m.held))
		}
		found = h
	}
	if found == nil {
		return nil, fmt.Errorf("no such attempt is held: start one with lookup")
	}
	return found, nil
}

// wake makes deferred attempts ready: all, or those of the UIDs `id=`.
func (m *machine) wake(_ context.Context, d *datadriven.TestData) (string, error) {
	a := readArgs(d)
	ids := a.words("id")
	if err := a.done(); err != nil {
		return "", err
	}
	var refs []object.Ref
	for _, w := range []engine.Work{engine.DeleteWork, engine.OrphanWork} {
		for _, ref := range m.collector.Deferred(w) {
			for _, id := range ids {
				if string(ref.UID) == id {
					refs = append(refs, ref)
				}
			}
		}
	}
	if len(ids) == 0 || len(refs) > 0 {
		m.collector.Wake(refs...)
	}
	return orNone(m.queueText()), nil
}

// restarted is a new collector over the same server.
func (m *machine) restarted(_ context.Context, d *datadriven.TestData) (string, error) {
	if err := readArgs(d).done(); err != nil {
		return "", err
	}
	m.restart()
	return fmt.Sprintf("%d objects to list", len(m.pending)), nil
}

// configured is a new collector with other settings: `rules=strict`, `economy`,
// `cache=N`, `absent=(uid,…)` for what it remembers, `blind=(Kind,…)` for what it does
// not watch yet.
func (m *machine) configured(_ context.Context, d *datadriven.TestData) (string, error) {
	a := readArgs(d)
	rules, cache, economy := a.word("rules"), a.number("cache", 0), a.has("economy")
	absent, blind := a.words("absent"), a.words("blind")
	if err := a.done(); err != nil {
		return "", err
	}
	m.options, m.blind = nil, blind
	switch rules {
	case "", "upstream":
	case "strict":
		m.options = append(m.options, engine.WithRules(engine.Strict))
	default:
		return "", fmt.Errorf("there are no rules %q", rules)
	}
	if economy {
		m.options = append(m.options, engine.WithEconomy())
	}
	if cache > 0 {
		m.options = append(m.options, engine.WithAbsentCapacity(cache))
	}
	for _, uid := range absent {
		ref, err := m.identity(types.UID(uid))
		if err != nil {
			return "", err
		}
		m.options = append(m.options, engine.WithAbsent(ref))
	}
	m.restart()
	return fmt.Sprintf("%d objects to list", len(m.pending)), nil
}

// watch starts the watch of a `kind=` that was not watched so far: its objects
// are listed.
func (m *machine) watch(_ context.Context, d *datadriven.TestData) (string, error) {
	a := readArgs(d)
	kind := a.word("kind")
	if err := a.done(); err != nil {
		return "", err
	}
	blind := m.blind[:0]
	for _, k := range m.blind {
		if k != kind {
			blind = append(blind, k)
		}
	}
	if len(blind) == len(m.blind) {
		return "", fmt.Errorf("kind %q is watched already", kind)
	}
	m.blind = blind
	n := 0
	for _, o := range m.server.Objects() {
		if o.Kind == kind {
			m.arrive(added([]*object.Object{o}))
			n++
		}
	}
	return fmt.Sprintf("%d objects to list", n), nil
}

// kubelet finishes the pods whose grace period runs.
func (m *machine) finishPods(ctx context.Context, d *datadriven.TestData) (string, error) {
	if err := readArgs(d).done(); err != nil {
		return "", err
	}
	lines, err := kubelet(ctx, m.server)
	return orNone(strings.Join(lines, "\n")), err
}
