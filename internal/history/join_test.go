package history_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// part is what a reader knows who has looked from one change to another. He has not looked for
// what is hidden.
func (s *stage) part(from, to int, hidden func(object.Ref) bool) *history.Past {
	s.Events()
	p := *s
	p.changes = s.changes[:to]
	p.forget(from)
	past := p.past(hidden)
	past.From.Revision = p.from
	if past.To.Revision == 0 {
		past.To = past.From
	}
	return past
}

// joined joins pasts one after the other.
func joined(t *rapid.T, pasts []*history.Past) *history.Past {
	all := pasts[0]
	for _, next := range pasts[1:] {
		var err error
		if all, err = history.Join(all, next); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// TestJoin: a past that was read in parts, which may overlap, has the account of the whole.
func TestJoin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := scenario.DrawCluster(t, scenario.Wild&^scenario.RepeatedUIDs)
		deeds := drawDeeds(t, w)
		r := live(t, w, deeds, -1, rapid.Uint64().Draw(t, "schedule"))
		r.stage.Events()
		n := len(r.stage.changes)
		var cuts []int
		for range rapid.IntRange(1, 3).Draw(t, "cuts") {
			cuts = append(cuts, rapid.IntRange(0, n).Draw(t, "cut"))
		}
		slices.Sort(cuts)
		var pasts []*history.Past
		from := 0
		for _, to := range append(cuts, n) {
			overlap := rapid.IntRange(0, min(from, 3)).Draw(t, "overlap")
			pasts = append(pasts, r.stage.part(from-overlap, to, nil))
			from = to
		}
		whole := r.stage.part(0, n, nil)
		all := joined(t, pasts)
		if diff := cmp.Diff(tell(history.Trace(whole)), tell(history.Trace(all))); diff != "" {
			t.Fatalf("parts %v of %d (-whole +joined):\n%s\n\n%s", cuts, n, diff, r.story(w, deeds, history.Trace(whole)))
		}
		if all.From != whole.From || all.To != whole.To {
			t.Fatalf("from %v to %v, want %v to %v", all.From, all.To, whole.From, whole.To)
		}
	})
}

// TestJoinInTheDark: whatever one of the parts does not know, nothing is called a request for
// certain that was none.
func TestJoinInTheDark(t *testing.T) {
	certain, uncertain := 0, 0
	scenario.CheckUntil(t, func() bool { return certain > 0 && uncertain > 0 }, func(t *rapid.T) {
		w := scenario.DrawCluster(t, scenario.Wild&^scenario.RepeatedUIDs)
		deeds := drawDeeds(t, w)
		r := live(t, w, deeds, -1, rapid.Uint64().Draw(t, "schedule"))
		r.stage.Events()
		n := len(r.stage.changes)
		cut := rapid.IntRange(0, n).Draw(t, "cut")
		pasts := []*history.Past{r.stage.part(0, cut, hides(t)), r.stage.part(cut, n, hides(t))}
		for i, p := range pasts {
			if kind := rapid.SampledFrom(append([]object.Resource{{}}, p.Resources.All()...)).Draw(t, "limited"); kind.Kind != "" {
				blind(p, kind, rapid.Bool().Draw(t, "all of it"))
				t.Logf("part %d lacks %s", i, kind.Kind)
			}
		}
		a := history.Trace(joined(t, pasts))
		for _, q := range a.Requests {
			for _, i := range q.Losses {
				switch {
				case !q.Certain:
					uncertain++
				case !r.meant(deeds, a.Losses[i].Object, q.Policy):
					t.Fatalf("%s was never asked for in this way\n\n%s", a.Losses[i].Object.Ref, r.story(w, deeds, a))
				default:
					certain++
				}
			}
		}
		if text := sound(a); text != "" {
			t.Fatal(text)
		}
	})
}

func hides(t *rapid.T) func(object.Ref) bool {
	hidden := rapid.Uint32().Draw(t, "hidden")
	return func(r object.Ref) bool { return hidden>>(len(r.Name+r.Kind)%32)&1 == 1 }
}

// blind takes from a past what it knows of a kind, or the first half of that.
func blind(p *history.Past, kind object.Resource, whole bool) {
	from := history.Moment{Revision: p.From.Revision + (p.To.Revision-p.From.Revision)/2 + 1}
	if whole {
		from.Revision = 0
	}
	of := func(r object.Ref) bool { return r.Kind == kind.Kind && r.Group() == kind.Group }
	p.Changes = slices.DeleteFunc(p.Changes, func(c history.Change) bool {
		return of(c.Object.Ref) && (whole || c.Revision <= from.Revision)
	})
	p.Absent = slices.DeleteFunc(p.Absent, of)
	p.Standing = slices.DeleteFunc(p.Standing, func(o *object.Object) bool { return of(o.Ref) })
	p.Limits = append(p.Limits, history.Limit{Resource: kind, From: from, Why: "not seen"})
}

// TestJoinOfStrangers: where nothing is known of what was in between, nothing is joined.
func TestJoinOfStrangers(t *testing.T) {
	early := &history.Past{From: history.Moment{Revision: 1}, To: history.Moment{Revision: 10}}
	late := &history.Past{From: history.Moment{Revision: 11}, To: history.Moment{Revision: 20}}
	if _, err := history.Join(early, late); err == nil || !strings.Contains(err.Error(), "revisions 10 to 11") {
		t.Errorf("got %v", err)
	}
	late.From.Revision = 10
	for _, pair := range [][2]*history.Past{{early, late}, {late, early}} {
		if p, err := history.Join(pair[0], pair[1]); err != nil || p.From.Revision != 1 || p.To.Revision != 20 {
			t.Errorf("%+v, %v", p, err)
		}
	}
}

// TestJoinTellsWhatWasThere: what stood in the first past is what the first change of the second
// has changed.
func TestJoinTellsWhatWasThere(t *testing.T) {
	o := &object.Object{Ref: object.ConfigMap.Ref("shop", "a")}
	o.UID = "a"
	going := o.Clone()
	going.Edit().DeletionTimestamp = 1000
	another := o.Clone()
	another.UID = "b"
	for _, x := range []struct {
		then *object.Object
		want *object.Object
	}{{o, o}, {another, nil}} {
		first := &history.Past{To: history.Moment{Revision: 10}, Standing: []*object.Object{x.then}}
		second := &history.Past{
			From: first.To, To: history.Moment{Revision: 20},
			Changes: []history.Change{{Revision: 11, Type: object.Modified, Object: going}, {Revision: 12, Type: object.Deleted, Object: going}},
		}
		p, err := history.Join(first, second)
		if err != nil {
			t.Fatal(err)
		}
		if p.Changes[0].Old != x.want || p.Changes[1].Old != nil || len(p.Standing) > 0 {
			t.Errorf("%+v, %+v", p.Changes, p.Standing)
		}
	}
}

// TestJoinOfLimits: of a kind no more is known in all than in the parts, and where it begins is
// where the last hole ends.
func TestJoinOfLimits(t *testing.T) {
	const none = -1 // no limit
	for _, x := range []struct {
		what        string
		first, late int
		want        int
	}{
		{"both know it", none, none, none},
		{"the first began later", 150, none, 150},
		{"the first has holes", 100, none, 100},
		{"the first knows nothing", 0, none, 200},
		{"the late one began later", none, 250, 250},
		{"the late one has holes", none, 200, 100},
		{"the late one knows nothing", none, 0, 0},
		{"neither knows anything", 0, 0, 0},
		{"both began later", 150, 250, 250},
		{"the late one has holes, too", 150, 200, 100},
	} {
		t.Run(x.what, func(t *testing.T) {
			past := func(from, to uint64, limit int) *history.Past {
				p := &history.Past{From: history.Moment{Revision: from}, To: history.Moment{Revision: to}}
				if limit != none {
					p.Limits = []history.Limit{{Resource: object.Pod.Resource(), From: history.Moment{Revision: uint64(limit)}, Why: "why"}}
				}
				return p
			}
			p, err := history.Join(past(100, 200, x.first), past(200, 300, x.late))
			if err != nil {
				t.Fatal(err)
			}
			got := none
			for _, l := range p.Limits {
				got = int(l.From.Revision)
			}
			if got != x.want || len(p.Limits) > 1 {
				t.Errorf("%+v, want %d", p.Limits, x.want)
			}
		})
	}
}
