package engine_test

import (
	"context"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// under is an attempt in progress.
type under struct {
	attempt  engine.Attempt
	facts    *engine.Facts
	decision *engine.Decision
}

// machine chooses every step of a collector and of its users at random. Only the order of events of
// one kind is fixed.
type machine struct {
	*rig
	acts    []scenario.Act
	pending []object.Event
	under   []under
}

func (m *machine) arrive() { m.pending = append(m.pending, m.Events()...) }

func (m *machine) observe(t *rapid.T) {
	m.arrive()
	if len(m.pending) == 0 {
		t.Skip("nothing has happened")
	}
	kind := rapid.SampledFrom(m.pending).Draw(t, "event").Object.Kind
	for i, e := range m.pending {
		if e.Object.Kind == kind {
			m.pending = append(m.pending[:i:i], m.pending[i+1:]...)
			m.collector.Observe(e)
			return
		}
	}
}

func (m *machine) next(t *rapid.T) {
	if len(m.under) > 3 {
		t.Skip("enough is under way")
	}
	if a, ok := m.collector.Next(); ok {
		m.under = append(m.under, under{attempt: a})
	}
}

// step advances an attempt in progress. It decides twice: the second decision must be equal, and
// the collector unchanged.
func (m *machine) step(t *rapid.T) {
	if len(m.under) == 0 {
		t.Skip("nothing is under way")
	}
	i := rapid.IntRange(0, len(m.under)-1).Draw(t, "attempt")
	u := &m.under[i]
	switch {
	case u.facts == nil:
		facts := engine.Lookup(context.Background(), m, m.collector.Rules(), u.attempt)
		u.facts = &facts
	case u.decision == nil:
		before := dump(m.collector)
		decision := m.collector.Decide(*u.facts)
		again := m.collector.Decide(*u.facts)
		if !reflect.DeepEqual(decision, again) {
			m.fatalf("decided\n%+v\nand then\n%+v", decision, again)
		}
		if after := dump(m.collector); after != before {
			m.fatalf("deciding %s changed\n%s\nto\n%s", u.attempt.Ref, before, after)
		}
		u.decision = &decision
	default:
		out := engine.Act(context.Background(), m, *u.decision)
		m.under = append(m.under[:i:i], m.under[i+1:]...)
		m.collector.Settle(out)
	}
}

func (m *machine) meddle(t *rapid.T) {
	a := scenario.DrawMeddling(t, m.world, m.acts)
	m.acts = append(m.acts, a)
	m.act(a)
}

// TestPropertyMachine drives the collector action by action. The graph is consistent after each
// one, Decide changes nothing, and in the end the machine settles, whatever was left unfinished.
func TestPropertyMachine(t *testing.T) {
	decided := 0
	rapid.Check(t, func(t *rapid.T) {
		w := scenario.DrawWorld(t, scenario.Wild)
		m := &machine{rig: newRig(t, w), acts: scenario.DrawDeletes(t, w, scenario.Policies)}
		for _, o := range m.listed() {
			m.pending = append(m.pending, object.Event{Type: object.Added, Object: o})
		}
		m.act(m.acts...)
		t.Repeat(map[string]func(*rapid.T){
			"":              func(*rapid.T) { m.check() },
			"Observe":       m.observe,
			"Observe again": m.observe,
			"Next":          m.next,
			"Step":          m.step,
			"Step again":    m.step,
			"Wake":          func(*rapid.T) { m.collector.Wake() },
			"Meddle":        m.meddle,
		})
		decided += len(m.under)
		for len(m.under) > 0 {
			m.step(t)
		}
		m.arrive()
		for _, e := range m.pending {
			m.collector.Observe(e)
		}
		m.drain()
	})
	if decided == 0 {
		t.Error("nothing was ever under way: the property says nothing")
	}
}
