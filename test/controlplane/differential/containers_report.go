package differential

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// what names what users did in a phase.
func (d *deletion) what() string {
	if d.phase == 0 {
		return "start"
	}
	if d.acts[d.phase][0].Drop != "" {
		return "finalizer"
	}
	kinds := map[string]string{"Namespace": "namespace", "CustomResourceDefinition": "crd"}
	name := kinds[d.acts[d.phase][0].Ref.Kind]
	for _, a := range d.acts[d.phase] {
		if kinds[a.Ref.Kind] != name || name == "" {
			return "mixed"
		}
	}
	return name
}

// report is a disagreement for people: what a scenario file needs, and what came.
func (d *deletion) report() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d, phase %d: %s\n\ncluster\n%s----\n", d.seed, d.phase, d.verdict, scenarioText(d.objects))
	for phase, acts := range d.acts {
		for _, a := range acts {
			fmt.Fprintf(&b, "\n%s\n", directive(a))
		}
		if phase < len(d.states) {
			fmt.Fprintf(&b, "\ncontrollers\n----\nreal server:\n%s", indent(lined(d.states[phase])))
		}
	}
	fmt.Fprintf(&b, "\nnot as foretold:\n")
	foretold, now := d.foretold.state, stateOf(d.now.objects)
	for _, name := range d.wrong {
		if foretold[name] == "" && now[name] == "" {
			fmt.Fprintf(&b, "  %s\n", name)
			continue
		}
		fmt.Fprintf(&b, "  dry run:     %s\n  real server: %s\n", orGone(foretold[name], name), orGone(now[name], name))
	}
	return b.String()
}

func orGone(line, name string) string {
	if line == "" {
		return name + " is gone"
	}
	return line
}

func lined(state map[string]string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(state)) {
		b.WriteString(state[name] + "\n")
	}
	return b.String()
}

// scenarioText is a world as the input of a scenario, facts and all.
func scenarioText(objects []*object.Object) string {
	names := scenario.Names{}
	for _, o := range objects {
		names.Learn(o)
	}
	var b strings.Builder
	for _, o := range objects {
		line, _, _ := strings.Cut(scenario.Format(o, names), " rv=")
		b.WriteString(line + "\n")
	}
	return b.String()
}

// census counts what became of the worlds with containers, by what was done to them.
type census map[string]*headcount

type headcount struct {
	worlds  map[uint64]bool
	phases  map[verdict]int
	objects int
	missed  int
	unknown int
	ends    [3]int // gone, being deleted, there
	blocked int    // namespaces whose conditions were compared
	warned  int    // of the contested phases, those that a dry run announced by itself
}

func (c census) add(d *deletion) {
	n := c[d.what()]
	if n == nil {
		n = &headcount{worlds: map[uint64]bool{}, phases: map[verdict]int{}}
		c[d.what()] = n
	}
	n.worlds[d.seed] = true
	n.phases[d.verdict]++
	n.objects += len(d.before)
	for _, u := range d.foretold.unknown {
		if u {
			n.unknown++
		}
	}
	if d.verdict == wrong || d.verdict == undecided {
		n.missed += len(d.wrong)
	}
	n.blocked += len(d.foretold.conditions)
	if d.verdict == contested && d.announced {
		n.warned++
	}
	n.ends[0] += len(d.before) - len(d.now.objects)
	for _, o := range d.now.objects {
		if o.BeingDeleted() {
			n.ends[1]++
		} else {
			n.ends[2]++
		}
	}
}

// String is the closing table.
func (c census) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-4s %-10s %6s %7s %7s %7s %11s %7s %7s %10s %9s %9s %8s %5s %9s", "cell", "", "worlds", "phases", "objects", "gone", "terminating", "there",
		"unknown", "conditions", "predicted", "timing", "(warned)", "wrong", "agreement")
	for _, what := range slices.Sorted(maps.Keys(c)) {
		n := c[what]
		phases := n.phases[predicted] + n.phases[contested] + n.phases[wrong]
		fmt.Fprintf(&b, "\n%-4s %-10s %6d %7d %7d %7d %11d %7d %7d %10d %9d %9d %8d %5d %8.2f%%", "F", what, len(n.worlds), phases, n.objects,
			n.ends[0], n.ends[1], n.ends[2], n.unknown, n.blocked, n.phases[predicted], n.phases[contested], n.warned, n.phases[wrong],
			100*float64(n.objects-n.missed)/float64(max(1, n.objects)))
	}
	return b.String()
}

func (c census) close(release string, worlds int, seed uint64, took time.Duration) (string, Totals) {
	sum := Totals{Release: release}
	seen := map[uint64]bool{}
	for _, n := range c {
		maps.Copy(seen, n.worlds)
		sum.Phases += n.phases[predicted] + n.phases[contested] + n.phases[wrong]
		sum.Objects += n.objects
		sum.Wrong += n.phases[wrong]
	}
	sum.Worlds = len(seen)
	return fmt.Sprintf("%d worlds with namespaces and CRDs from seed %d in %s on %s\n%s", worlds, seed, took.Round(time.Second), release, c), sum
}

// smallest looks for the smallest story that still ends otherwise than foretold.
// Every round tries all ways of leaving something out. Next is the number of the next
// world.
func (s *stage) smallest(ctx context.Context, worst *deletion, next *int, most, rounds int) (*deletion, error) {
	for range rounds {
		var best *deletion
		candidates := slices.DeleteFunc(simpler(worst.story, max(1, worst.phase)), func(c story) bool { return !inhabitable(c) })
		batches, err := portions(ctx, candidates, most)
		if err != nil {
			return worst, err
		}
		for _, batch := range batches {
			err := s.batch(ctx, *next, batch, func(d *deletion) {
				if d.verdict == wrong && (best == nil || size(d.story) < size(best.story)) {
					best = d
				}
			})
			if err != nil {
				return worst, err
			}
			*next += len(batch)
			if best != nil {
				break
			}
		}
		if best == nil {
			return worst, nil
		}
		worst = best
	}
	return worst, nil
}

// inhabitable reports whether everything in a world has the namespace, the definition
// and the node that it needs, and every act its object.
func inhabitable(s story) bool {
	there := func(kind, name string) bool {
		return slices.ContainsFunc(s.objects, func(o *object.Object) bool { return o.Kind == kind && o.Name == name })
	}
	for _, o := range s.objects {
		switch {
		case o.Namespace != "" && !there("Namespace", o.Namespace),
			o.Group() == drawnGroup && !there("CustomResourceDefinition", pluralOf(o.Kind)+"."+drawnGroup),
			o.Pod() != nil && o.Pod().NodeName != "" && !there("Node", o.Pod().NodeName):
			return false
		}
	}
	for _, acts := range s.phases {
		if len(acts) == 0 {
			return false
		}
	}
	return len(s.phases) > 0
}

// crowd is how many definitions may be held by their instances at a time. The API
// server has five workers for them, and each waits for a minute.
const crowd = 4

// portions cuts a list of stories into batches of at most size, in none of which too
// many definitions are held by their instances.
func portions(ctx context.Context, stories []story, size int) ([][]story, error) {
	held := make([]int, len(stories))
	for i, s := range stories {
		var err error
		if held[i], err = heldDefinitions(ctx, s); err != nil {
			return nil, err
		}
	}
	var batches [][]story
	left := make([]int, len(stories))
	for i := range left {
		left[i] = i
	}
	for len(left) > 0 {
		var batch []story
		var later []int
		crowded := 0
		for _, i := range left {
			if n := held[i]; len(batch) < size && (crowded+n <= crowd || len(batch) == 0) {
				batch, crowded = append(batch, stories[i]), crowded+n
				continue
			}
			later = append(later, i)
		}
		batches, left = append(batches, batch), later
	}
	return batches, nil
}

// heldDefinitions counts the definitions that the first thing that users do leaves
// waiting for instances.
func heldDefinitions(ctx context.Context, s story) (int, error) {
	var first []scenario.Act
	if len(s.phases) > 0 {
		first = s.phases[0]
	}
	f, err := foretell(ctx, s.objects, platform{Resources: scenario.Resources()}, first, 0)
	if err != nil {
		return 0, fmt.Errorf("seed %d: %w", s.seed, err)
	}
	n := 0
	for _, line := range f.state {
		if strings.Contains(line, definitionClean) && strings.HasSuffix(line, " terminating") {
			n++
		}
	}
	return n, nil
}
