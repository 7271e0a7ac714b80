package history_test

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// forget makes the history begin after the first n changes.
func (s *stage) forget(n int) {
	s.Events()
	there := map[object.Ref]*object.Object{}
	for _, o := range s.first {
		there[o.WithoutUID()] = o
	}
	for _, c := range s.changes[:n] {
		s.from = c.Revision
		if c.Type == object.Deleted {
			delete(there, c.Object.WithoutUID())
		} else {
			there[c.Object.WithoutUID()] = c.Object
		}
	}
	s.first = nil
	for _, o := range there {
		s.first = append(s.first, o)
	}
	s.changes = s.changes[n:]
}

// TestTraceInTheDark: whatever is missing from a history, its beginning, surrounding objects, or
// states before a change, no deletion is wrongly called a certain request. The same holds if
// objects share a UID.
func TestTraceInTheDark(t *testing.T) {
	certain, uncertain := 0, 0
	scenario.CheckUntil(t, func() bool { return certain > 0 && uncertain > 0 }, func(t *rapid.T) {
		w := scenario.DrawCluster(t, scenario.Wild)
		deeds := drawDeeds(t, w)
		r := live(t, w, deeds, -1, rapid.Uint64().Draw(t, "schedule"))
		r.stage.Events()
		r.stage.forget(rapid.IntRange(0, len(r.stage.changes)).Draw(t, "forgotten"))
		hidden := rapid.Uint32().Draw(t, "hidden")
		p := r.stage.past(func(r object.Ref) bool { return hidden>>(len(r.Name+r.Kind)%32)&1 == 1 })
		for i := range p.Changes {
			if rapid.IntRange(0, 4).Draw(t, "old known") == 0 {
				p.Changes[i].Old = nil
			}
		}
		twins := map[types.UID]int{}
		for _, o := range w.Objects {
			twins[o.UID]++
		}
		a := history.Trace(p)
		for _, q := range a.Requests {
			for _, i := range q.Losses {
				switch o := a.Losses[i].Object; {
				case !q.Certain:
					uncertain++
				case twins[o.UID] > 1:
				case !r.meant(deeds, o, q.Policy):
					t.Fatalf("%s was never asked for in this way\n\n%s", o.Ref, r.story(w, deeds, a))
				default:
					certain++
				}
			}
		}
		if text := sound(a); text != "" {
			t.Fatalf("%s\n\n%s", text, r.story(w, deeds, a))
		}
		if tell(a) != tell(history.Trace(p)) {
			t.Fatal("two answers to one question")
		}
	})
}

// sound returns the inconsistencies of an account.
func sound(a *history.Account) string {
	took := make([]int, len(a.Requests))
	for i, l := range a.Losses {
		if l.Cause.Code == "" || l.Object == nil {
			return fmt.Sprintf("loss %d has no cause", i)
		}
		if i > 0 && a.Losses[i-1].Asked > l.Asked {
			return "losses are not in order"
		}
		if k := l.Cause.Request; k >= 0 {
			took[k]++
		}
	}
	for k, q := range a.Requests {
		if took[k] != q.Took || len(q.Losses) == 0 {
			return fmt.Sprintf("request %d took %d, not %d", k, took[k], q.Took)
		}
		for _, i := range q.Losses {
			if a.Losses[i].Orphaned {
				return fmt.Sprintf("request %d asked for what stays", k)
			}
		}
	}
	return ""
}
