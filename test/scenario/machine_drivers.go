package scenario

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/cockroachdb/datadriven"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// drain runs the collector to rest and prints the writes that it sent (with
// `reads`: all requests) and then the events that it observed. With `kubelet`
// pods finish when nothing else is left to do.
func (m *machine) drain(ctx context.Context, d *datadriven.TestData) (string, error) {
	a := readArgs(d)
	reads, pods := a.has("reads"), a.has("kubelet")
	if err := a.done(); err != nil {
		return "", err
	}
	w := &world{wire: m.wire, machine: m, happened: func() []object.Event {
		m.env.Drain()
		return m.env.Unseen()
	}}
	var failed error
	follow := engine.Follow{}
	if pods {
		follow.Idle = func() bool {
			lines, err := kubelet(ctx, m.server)
			failed = err
			for _, l := range lines {
				m.wire.sent = append(m.wire.sent, call{text: "kubelet " + l, write: true})
			}
			return len(lines) > 0
		}
	}
	if err := engine.Drain(ctx, m.collector, w, follow); err != nil {
		return "", err
	}
	if failed != nil {
		return "", failed
	}
	m.quiescent()
	var b strings.Builder
	for _, c := range m.wire.take() {
		if c.write || reads {
			fmt.Fprintln(&b, c.text)
		}
	}
	for _, e := range w.seen {
		fmt.Fprintln(&b, FormatEvent(e, m.env.Names))
	}
	return orNone(b.String()), nil
}

// explore runs the collector to rest under `runs=` schedules made from `seed=`
// and prints the different final states. Every run starts where the collector
// last came to rest, with all events since then not observed yet; if it never
// did, it starts with the lists of all kinds, as after a restart. The scenario's
// own server and collector stay as they are.
func (m *machine) explore(ctx context.Context, d *datadriven.TestData) (string, error) {
	a := readArgs(d)
	seed, runs, pods := a.number("seed", 1), a.number("runs", 100), a.has("kubelet")
	if err := a.done(); err != nil {
		return "", err
	}
	var states []string
	for run := range runs {
		state, err := m.exploreOnce(ctx, rand.New(rand.NewPCG(uint64(seed), uint64(run))), pods)
		if err != nil {
			return "", err
		}
		if !slices.Contains(states, state) {
			states = append(states, state)
		}
	}
	slices.Sort(states)
	var b strings.Builder
	for i, s := range states {
		fmt.Fprintf(&b, "state %d of %d\n%s", i+1, len(states), s)
	}
	return b.String(), nil
}

func (m *machine) exploreOnce(ctx context.Context, random *rand.Rand, pods bool) (string, error) {
	run := &machine{env: m.env, server: m.server.Clone(), collector: m.newCollector(), blind: m.blind}
	if m.settled != nil {
		if err := m.rest(ctx, run.collector); err != nil {
			return "", err
		}
		run.pending = slices.Clone(m.since)
	} else {
		run.lists(random)
	}
	run.server.Events()
	follow := engine.Follow{}
	var failed error
	if pods {
		follow.Idle = func() bool {
			lines, err := kubelet(ctx, run.server)
			failed = err
			return len(lines) > 0
		}
	}
	w := &world{wire: &wire{api: run.server}, machine: run, happened: run.server.Events}
	if err := engine.Explore(ctx, run.collector, w, follow, random); err != nil {
		return "", err
	}
	if failed != nil {
		return "", failed
	}
	if err := run.collector.Graph().Check(); err != nil {
		return "", err
	}
	return run.finalText(), nil
}

// lists has a new collector observe the list of every kind. The kinds arrive in
// an order, and interleaved, as random says; workers start after that.
// (spec §3.1, start order)
func (m *machine) lists(random *rand.Rand) {
	m.arrive(added(m.server.Objects()))
	var kinds [][]object.Event
	at := map[string]int{}
	for _, e := range m.pending {
		kind := e.Object.APIVersion + " " + e.Object.Kind
		i, ok := at[kind]
		if !ok {
			i = len(kinds)
			at[kind] = i
			kinds = append(kinds, nil)
		}
		kinds[i] = append(kinds[i], e)
	}
	m.pending = nil
	for len(kinds) > 0 {
		i := random.IntN(len(kinds))
		m.collector.Observe(kinds[i][0])
		if kinds[i] = kinds[i][1:]; len(kinds[i]) == 0 {
			kinds = slices.Delete(kinds, i, i+1)
		}
	}
}

// rest brings a new collector to rest over the world as it was when the
// scenario's own last was.
func (m *machine) rest(ctx context.Context, c *engine.Collector) error {
	before := m.settled.Clone()
	before.Events()
	then := &machine{env: m.env, server: before, blind: m.blind}
	then.arrive(added(before.Objects()))
	return engine.Drain(ctx, c, &world{wire: &wire{api: before}, machine: then, happened: before.Events}, engine.Follow{})
}

// finalText is the world and what the collector could not settle, indented.
// ResourceVersions differ from schedule to schedule and are left out.
func (m *machine) finalText() string {
	var b strings.Builder
	for _, o := range m.server.Objects() {
		text, _, _ := strings.Cut(Format(o, m.env.Names), " rv=")
		fmt.Fprintln(&b, "  "+text)
	}
	if b.Len() == 0 {
		b.WriteString("  empty\n")
	}
	for line := range strings.Lines(worksText(m.collector.Deferred)) {
		b.WriteString("  deferred: " + line)
	}
	return b.String()
}
