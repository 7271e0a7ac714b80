package differential

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// shrink looks for the smallest story that still ends in a state that no schedule
// reaches. Every round tries all ways of leaving something out, in one batch.
func (c *court) shrink(ctx context.Context, worst *trial, rounds int) (*trial, error) {
	for range rounds {
		candidates := simpler(worst.story, worst.phase)
		var best *trial
		for len(candidates) > 0 {
			n := min(len(candidates), c.slots)
			err := c.batch(ctx, candidates[:n], func(t *trial) {
				if t.verdict == wrong && (best == nil || size(t.story) < size(best.story)) {
					best = t
				}
			})
			if err != nil {
				return worst, err
			}
			candidates = candidates[n:]
		}
		if best == nil {
			return worst, nil
		}
		worst = best
	}
	return worst, nil
}

func size(s story) int {
	n := 0
	for _, o := range s.objects {
		n += 10 + len(o.Owners) + len(o.Finalizers())
	}
	for _, acts := range s.phases {
		n += 5 * len(acts)
	}
	return n
}

// simpler lists the stories with something left out: what came after the phase
// that went wrong, half of the objects, one object, one act, one reference, one
// finalizer.
func simpler(s story, phase int) []story {
	s.phases = s.phases[:phase]
	list := []story{}
	for half := len(s.objects) / 2; half >= 1; half /= 2 {
		for from := 0; from < len(s.objects); from += half {
			c := s
			c.objects = slices.Delete(slices.Clone(s.objects), from, min(from+half, len(s.objects)))
			list = append(list, c.consistent())
		}
	}
	for p := range s.phases {
		for a := range s.phases[p] {
			c := s
			c.phases = slices.Clone(s.phases)
			c.phases[p] = slices.Delete(slices.Clone(s.phases[p]), a, a+1)
			list = append(list, c)
		}
	}
	for i, o := range s.objects {
		for r := range o.Owners {
			list = append(list, s.with(i, func(c *object.Object) { c.Owners = slices.Delete(slices.Clone(o.Owners), r, r+1) }))
		}
		for f := range o.Finalizers() {
			if len(o.Finalizers()) > 1 || !o.BeingDeleted() {
				list = append(list, s.with(i, func(c *object.Object) {
					c.Edit().Finalizers = slices.Delete(slices.Clone(o.Finalizers()), f, f+1)
				}))
			}
		}
	}
	return list
}

func (s story) with(i int, change func(*object.Object)) story {
	c := s
	c.objects = slices.Clone(s.objects)
	c.objects[i] = s.objects[i].Clone()
	change(c.objects[i])
	return c
}

// consistent leaves out the acts on objects that are not there.
func (s story) consistent() story {
	phases := make([][]scenario.Act, len(s.phases))
	for p, acts := range s.phases {
		for _, a := range acts {
			if slices.ContainsFunc(s.objects, func(o *object.Object) bool { return o.Ref == a.Ref }) {
				phases[p] = append(phases[p], a)
			}
		}
	}
	s.phases = phases
	return s
}

// repetitions is how often in all a story is told to a server whose objects did not end as a dry run
// with its default flags says. Where the server comes to the same end each time, the dry run has to
// say that end, and not only that it is possible. Three that agree are a matter of chance in one of
// four worlds with two ends.
const repetitions = 8

// misjudged is a phase of a story in which objects ended otherwise than a dry run says that claims to
// know it: the outcome that it puts first, whatever it says of timing beside.
type misjudged struct {
	story
	phase   int
	states  []string // at the end of this phase and of those before
	objects []string
	says    string
}

// misjudge compares the phase that a trial has just ended with a dry run. It is nil where that agrees,
// or cannot be asked about what users did.
func (t *trial) misjudge(ctx context.Context, on platform) (*misjudged, error) {
	if t.now.state == t.expected.state {
		return nil, nil
	}
	seed, ok := seedOf(t.before, t.acts[t.phase])
	if !ok {
		return nil, nil
	}
	snap, err := on.snapshot(t.before)
	if err != nil {
		return nil, err
	}
	result, err := plan.Simulate(ctx, snap, seed, plan.Options{Record: plan.RecordRequests, Explore: plan.Usual, Seed: 1})
	if err != nil {
		return nil, err
	}
	// What would happen without the request is not told for sure: the collector may have missed it.
	open := map[string]bool{}
	for _, e := range result.Plan.Effects {
		open[e.Object.String()] = e.Outcome == report.Unknown || e.AlreadyHappening && seed.Verb != plan.Collect
	}
	names := otherThan(t.world, listed(result.After()), open)
	if len(names) == 0 {
		return nil, nil
	}
	return &misjudged{t.story, t.phase, append(t.states[:t.phase:t.phase], t.now.state), names, text(listed(result.After()))}, nil
}

// constant repeats stories, and describes those phases in which the server always ended alike.
func (c *court) constant(ctx context.Context, list []*misjudged) (reports []string, err error) {
	var again []story
	told := map[uint64][][]string{}
	for _, m := range list {
		if _, known := told[m.seed]; !known {
			again = append(again, m.story)
			told[m.seed] = nil
		}
	}
	if len(again) == 0 {
		return nil, nil
	}
	for range repetitions - 1 {
		last := map[uint64]*trial{}
		if err := c.batch(ctx, again, func(t *trial) { last[t.seed] = t }); err != nil {
			return nil, err
		}
		for seed, t := range last {
			told[seed] = append(told[seed], t.states)
		}
	}
	for _, m := range list {
		if m.always(told[m.seed]) {
			reports = append(reports, fmt.Sprintf("seed %d, phase %d: %d of %d repetitions end alike, and a dry run says otherwise of %s\n\ncluster\n%s%s----\nserver:\n%sdry run:\n%s",
				m.seed, m.phase, repetitions, repetitions, strings.Join(m.objects, ", "), text(m.story.objects), m.acts(), indent(m.states[m.phase]), indent(m.says)))
		}
	}
	return reports, nil
}

// always reports whether all other repetitions ended alike, in this phase and in those before.
func (m *misjudged) always(told [][]string) bool {
	for _, states := range told {
		if len(states) <= m.phase {
			return false
		}
		for phase := range m.states {
			if states[phase] != m.states[phase] {
				return false
			}
		}
	}
	return true
}

// acts is what users did up to the phase.
func (m *misjudged) acts() string {
	var b strings.Builder
	for _, acts := range m.phases[:m.phase] {
		for _, a := range acts {
			fmt.Fprintf(&b, "%s\n", directive(a))
		}
	}
	return b.String()
}

// report is a disagreement for people: what a scenario file needs, and what came.
func (t *trial) report() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d, phase %d: %s\n\ncluster\n%s----\n", t.seed, t.phase, t.verdict, text(t.objects))
	for phase, acts := range t.acts {
		for _, a := range acts {
			fmt.Fprintf(&b, "\n%s\n", directive(a))
		}
		if phase < len(t.states) {
			fmt.Fprintf(&b, "\ndrain\n----\nreal server:\n%s", indent(t.states[phase]))
		}
	}
	fmt.Fprintf(&b, "dry run:\n%s", indent(t.expected.state))
	sides, _ := difference(t.now.requests, t.expected.requests)
	fmt.Fprintf(&b, "requests of the garbage collector:\n%s", indent(sides))
	if t.verdict == wrong {
		fmt.Fprintf(&b, "found under no schedule: %s\n", t.want.left())
	}
	return b.String()
}

func directive(a scenario.Act) string {
	target := a.Ref.APIVersion + " " + a.Ref.Kind + " " + strings.TrimPrefix(a.Ref.Namespace+"/"+a.Ref.Name, "/")
	switch {
	case a.Drop != "":
		return "patch merge " + target + " without " + a.Drop
	case a.Policy != "":
		return "delete " + target + " policy=" + string(a.Policy)
	default:
		return "delete " + target
	}
}

func indent(s string) string {
	if s == "" {
		return "  empty\n"
	}
	return "  " + strings.ReplaceAll(strings.TrimSuffix(s, "\n"), "\n", "\n  ") + "\n"
}
