package oracle

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

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
