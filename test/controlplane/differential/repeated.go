package differential

import (
	"context"
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

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
	result, err := plan.Simulate(ctx, snap, seed, plan.Options{NoSteps: true, Explore: plan.Usual, Seed: 1})
	if err != nil {
		return nil, err
	}
	// What would happen without the request is not told for sure: the collector may have missed it.
	open := map[string]bool{}
	for _, e := range result.Plan.Effects {
		open[object.Ref(e.Object).String()] = e.Outcome == report.Unknown || e.AlreadyHappening && seed.Verb != plan.Collect
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
