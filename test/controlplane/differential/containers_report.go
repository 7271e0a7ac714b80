package differential

import (
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
