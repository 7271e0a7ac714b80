package history_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// remembering is what is known of the changes from the nth on to a reader who knows of everything
// that whole is about what it was by then.
func (s *stage) remembering(n int, whole *history.Past) *history.Past {
	past := s.part(n, len(s.changes), nil)
	known := map[object.Ref]bool{}
	for _, o := range past.Standing {
		known[o.WithoutUID()] = true
	}
	for _, ref := range past.Absent {
		known[ref] = true
	}
	for _, c := range past.Changes {
		known[c.Object.WithoutUID()] = true
	}
	later := *s
	later.forget(n)
	there := map[object.Ref]*object.Object{}
	for _, o := range later.first {
		there[o.WithoutUID()] = o
	}
	asked := slices.Clone(whole.Absent)
	for _, o := range whole.Standing {
		asked = append(asked, o.WithoutUID())
	}
	for _, c := range whole.Changes[:n] {
		asked = append(asked, c.Object.WithoutUID())
	}
	for _, ref := range asked {
		o := there[ref]
		switch {
		case known[ref]:
			continue
		case o != nil:
			past.Standing = append(past.Standing, o)
		default:
			past.Absent = append(past.Absent, ref)
		}
		known[ref] = true
	}
	return past
}

// TestSince: a past whose beginning is dropped has the account of one that has begun later, but
// remembers what stood.
func TestSince(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := scenario.DrawCluster(t, scenario.Wild&^scenario.RepeatedUIDs)
		deeds := drawDeeds(t, w)
		r := live(t, w, deeds, -1, rapid.Uint64().Draw(t, "schedule"))
		r.stage.Events()
		n := len(r.stage.changes)
		cut := rapid.IntRange(0, n).Draw(t, "cut")
		whole := r.stage.part(0, n, nil)
		want := r.stage.remembering(cut, whole)
		got := whole.Since(want.From.Revision)
		if diff := cmp.Diff(tell(history.Trace(want)), tell(history.Trace(got))); diff != "" {
			t.Fatalf("from %d of %d (-begun later +dropped):\n%s\n\n%s", cut, n, diff, r.story(w, deeds, history.Trace(want)))
		}
		if got.From != want.From || len(got.Changes) != len(want.Changes) {
			t.Fatalf("from %v with %d changes, want %v with %d", got.From, len(got.Changes), want.From, len(want.Changes))
		}
	})
}

// TestSinceOfLimits: of a kind that is known from a moment on nothing lacks behind it; holes stay.
func TestSinceOfLimits(t *testing.T) {
	for limit, want := range map[uint64]int{0: 0, 100: 200, 150: -1, 200: -1, 250: 250} {
		p := &history.Past{From: history.Moment{Revision: 100}, To: history.Moment{Revision: 300}, Limits: []history.Limit{
			{Resource: object.Pod.Resource(), From: history.Moment{Revision: limit}},
		}}
		got := -1
		for _, l := range p.Since(200).Limits {
			got = int(l.From.Revision)
		}
		if got != want {
			t.Errorf("a limit at %d is at %d, want %d", limit, got, want)
		}
	}
	clock := history.NewClock([]history.Moment{{Revision: 90, Time: 9}, {Revision: 110, Time: 11}, {Revision: 190, Time: 19}, {Revision: 210, Time: 21}})
	p := (&history.Past{From: history.Moment{Revision: 100}, To: history.Moment{Revision: 300}, Clock: clock}).Since(200)
	if p.From != (history.Moment{Revision: 200, Time: 19}) || len(p.Clock.Ticks()) != 2 || p.Clock.At(205).Time != 19 {
		t.Errorf("%v, %v", p.From, p.Clock.Ticks())
	}
}
