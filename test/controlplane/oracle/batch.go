package oracle

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/kubectl-gc/kubectl-gc/test/extent"
)

// batch carries stories out, each in two worlds of its own, some of them at a time.
func (s *stage) batch(ctx context.Context, all []*trial, who controllers) error {
	within, stop := context.WithCancel(ctx)
	defer stop()
	if err := s.set(within, all, who); err != nil {
		return err
	}
	errs := make([]error, len(all))
	next := make(chan int)
	var group sync.WaitGroup
	for range *workers {
		group.Go(func() {
			for i := range next {
				if err := all[i].run(within); err != nil {
					errs[i] = fmt.Errorf("seed %d: %w", all[i].story.seed, err)
				}
			}
		})
	}
	for i := range all {
		next <- i
	}
	close(next)
	group.Wait()
	stop()
	if err := errors.Join(append(errs, s.failed())...); err != nil {
		return err
	}
	for _, t := range all {
		t.sort()
	}
	return s.strike(ctx, all)
}

// tell is what went wrong in a run, and the story, for somebody who has to repeat it.
func (t *trial) tell(everything bool) string {
	var b strings.Builder
	b.WriteString("\n" + t.ours.plain(t.story.String()))
	for _, d := range t.deeds {
		fmt.Fprintf(&b, "  happened: %s somebody %s: %s (%d)\n", d.when, d.do, t.ours.plain(d.key.String()), d.code)
	}
	fmt.Fprintf(&b, "  exit code %d\n", t.ran.code)
	for _, w := range t.writes {
		if !w.rehearsed() {
			fmt.Fprintf(&b, "  wrote: %s %d\n", t.ours.plain(w.String()), w.Response.Code)
		}
	}
	for _, v := range t.wrong {
		fmt.Fprintf(&b, "  WRONG: %s: %s: %s\n", v.rule, t.ours.plain(v.object.String()), t.ours.plain(strings.TrimSpace(v.text)))
	}
	if everything {
		b.WriteString(t.ours.plain(t.shown.String() + t.ran.String()))
		for _, u := range t.undoSaid {
			b.WriteString(t.ours.plain(u.String()))
		}
	}
	return b.String()
}

// census counts in how many runs something was there.
type census struct {
	counts map[string]map[string]int
	order  []string
}

func (c *census) count(what, which string) {
	if c.counts == nil {
		c.counts = map[string]map[string]int{}
	}
	if c.counts[what] == nil {
		c.counts[what], c.order = map[string]int{}, append(c.order, what)
	}
	c.counts[what][which]++
}

func (c *census) add(t *trial) {
	s := t.story
	verb := s.command.verb
	c.count("command", verb)
	c.count("controllers", string(s.controllers))
	c.count("rights", string(s.rights))
	c.count("answer", string(s.answer))
	c.count("fault", string(s.fault))
	c.count("a policy guards some objects", fmt.Sprint(slices.ContainsFunc(s.things, func(t thing) bool { return t.labels[guarded] != "" })))
	c.count("finalizers are removed in the end", fmt.Sprint(t.freed))
	policy := s.command.value("--cascade")
	if verb == "delete" && policy == "" {
		policy = "background"
	}
	if policy != "" {
		c.count("policy", policy)
	}
	for _, f := range s.command.flags {
		name, _, _ := strings.Cut(f, "=")
		c.count("flag", name)
	}
	if s.command.selector != "" {
		c.count("flag", "-l")
	}
	seen := map[string]bool{}
	for _, d := range t.deeds {
		outcome := ""
		if d.code != 0 {
			outcome = " (refused)"
		}
		seen["somebody "+string(d.do)+outcome] = true
		seen[string(d.when)] = true
	}
	for what := range seen {
		c.count("meanwhile", what)
	}
	c.count("exit code", fmt.Sprint(t.ran.code))
	if !t.wrote() {
		c.count("nothing written", reasonOf(t.ran))
	}
	c.count("wrote", fmt.Sprint(t.wrote()))
	switch {
	case t.undone == nil:
		c.count("undo", "nothing to undo, or not asked for")
	case t.undone.State == "":
		c.count("undo", "planned, and not carried out")
	default:
		c.count("undo", string(t.undone.State))
	}
	for range t.twinless {
		c.count("judged", "not: objects that two controllers were at, at once")
	}
	for range t.noticed {
		c.count("judged", "changes found in the account and in the backup")
	}
	if t.wrote() && t.meddled() {
		c.count("judged", "others had a hand in what became of some objects")
	}
	for _, what := range slices.Compact(slices.Sorted(slices.Values(t.known))) {
		c.count("known", what)
	}
	for _, v := range t.wrong {
		c.count("violation", string(v.rule))
	}
}

// table is what was counted.
func (c *census) table() string {
	var b strings.Builder
	for _, what := range c.order {
		var names []string
		for name := range c.counts[what] {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			fmt.Fprintf(&b, "\n%-12s %-55s %5d", what, name, c.counts[what][name])
		}
	}
	return b.String()
}

var names = regexp.MustCompile(`"?\b[mt][0-9]+-\S*|sha256:[0-9a-f]*|[0-9]+`)

// reasonOf is the first sentence of why nothing was written, without names.
func reasonOf(ran said) string {
	_, text, ok := strings.Cut(ran.errs, "error: ")
	if !ok {
		return "nothing to do"
	}
	line, _, _ := strings.Cut(text, "\n")
	line = names.ReplaceAllString(strings.TrimPrefix(line, "refused, nothing was written: "), "…")
	return line[:min(55, len(line))]
}

// defect is something that is known to be wrong and not put right yet. What is in this
// list is counted and does not fail the test; whoever puts it right takes it out.
type defect struct {
	what string
	is   func(*trial, violation) bool
}

var known []defect

// sort takes the known defects out of what went wrong.
func (t *trial) sort() {
	t.wrong = slices.DeleteFunc(t.wrong, func(v violation) bool {
		for _, d := range known {
			if d.is(t, v) {
				t.known = append(t.known, d.what)
				return !*strict
			}
		}
		return false
	})
}

var (
	number  = flag.Int("runs", extent.Of(40, 2000), "the number of runs")
	first   = flag.Uint64("seed", 1, "the first seed")
	atOnce  = flag.Int("batch", 60, "the number of worlds that stand there at a time")
	workers = flag.Int("workers", 30, "the number of runs at a time")
	small   = flag.Int("shrink", 2, "how many rounds a story that went wrong is made smaller")
	strict  = flag.Bool("strict", false, "fail for what is known to be wrong, too")
	verbose = flag.Bool("say", false, "print what the program said")
	judged  = flag.String("program", "", "the program to judge, instead of the one of this repository")
)
