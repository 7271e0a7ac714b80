package oracle

import (
	"context"
	"slices"
)

// smallest looks for the smallest story that still breaks the same rule. Every round
// tries all ways of leaving something out, in one batch; what is decided by chance may
// get lost on the way, and then the last story that showed it stays.
func (s *stage) smallest(ctx context.Context, worst *trial, rounds int) (*trial, error) {
	r := worst.wrong[0].rule
	for range rounds {
		var best *trial
		stories := simpler(worst.story)
		for len(stories) > 0 && best == nil {
			n := min(len(stories), *atOnce)
			var all []*trial
			for _, st := range stories[:n] {
				all = append(all, &trial{stage: s, story: st})
			}
			stories = stories[n:]
			if err := s.batch(ctx, all, worst.story.controllers); err != nil {
				return worst, err
			}
			for _, t := range all {
				if t.breaks(r) && (best == nil || t.story.size() < best.story.size()) {
					best = t
				}
			}
		}
		if best == nil {
			break
		}
		worst = best
	}
	return worst, nil
}

func (t *trial) breaks(r rule) bool {
	return slices.ContainsFunc(t.wrong, func(v violation) bool { return v.rule == r })
}

func (s *story) size() int {
	n := 2*len(s.command.flags) + 3*len(s.command.targets) + 3*len(s.steps)
	for _, t := range s.things {
		n += 10 + 2*len(t.owners) + len(t.finalizers) + len(t.labels) + len(t.annotations)
	}
	if s.fault != noFault {
		n += 5
	}
	if s.released {
		n += 3
	}
	return n
}

// simpler lists the stories with something left out: half of the objects, one object,
// what others do, a flag, an owner, a finalizer, a mark, the fault.
func simpler(s *story) []*story {
	var list []*story
	for half := len(s.things) / 2; half >= 1; half /= 2 {
		for from := 1; from < len(s.things); from += half {
			c := s.clone()
			c.things = slices.Delete(c.things, from, min(from+half, len(c.things)))
			c.mend()
			list = append(list, c)
		}
	}
	for i := range s.steps {
		c := s.clone()
		c.steps = slices.Delete(c.steps, i, i+1)
		list = append(list, c)
	}
	for i := range s.command.flags {
		c := s.clone()
		c.command.flags = slices.Delete(c.command.flags, i, i+1)
		list = append(list, c)
	}
	for i := range s.command.targets {
		if len(s.command.targets) > 1 {
			c := s.clone()
			c.command.targets = slices.Delete(c.command.targets, i, i+1)
			list = append(list, c)
		}
	}
	for i := range s.things {
		for j := range s.things[i].owners {
			c := s.clone()
			c.things[i].owners = slices.Delete(c.things[i].owners, j, j+1)
			list = append(list, c)
		}
		if t := s.things[i]; len(t.finalizers) > 1 || len(t.finalizers) > 0 && !t.deleting {
			c := s.clone()
			c.things[i].finalizers = c.things[i].finalizers[1:]
			list = append(list, c)
		}
		if len(s.things[i].annotations)+len(s.things[i].labels) > 0 {
			c := s.clone()
			c.things[i].annotations, c.things[i].labels = nil, nil
			list = append(list, c)
		}
	}
	if s.fault != noFault {
		c := s.clone()
		c.fault = noFault
		list = append(list, c)
	}
	if s.released {
		c := s.clone()
		c.released = false
		list = append(list, c)
	}
	return slices.DeleteFunc(list, func(c *story) bool { return !c.whole() })
}

func (s *story) clone() *story {
	c := *s
	c.things, c.steps = slices.Clone(s.things), slices.Clone(s.steps)
	c.command.flags, c.command.targets = slices.Clone(s.command.flags), slices.Clone(s.command.targets)
	for i := range c.things {
		c.things[i].owners, c.things[i].finalizers = slices.Clone(c.things[i].owners), slices.Clone(c.things[i].finalizers)
	}
	return &c
}

// mend leaves out what was about things that are not there any more.
func (s *story) mend() {
	missing := func(name string) bool { return s.thing(name) == nil }
	for i := range s.things {
		t := &s.things[i]
		t.owners = slices.DeleteFunc(t.owners, func(o owner) bool { return !o.ghost && missing(o.name) })
		if missing(t.with) {
			t.with = ""
		}
	}
	s.steps = slices.DeleteFunc(s.steps, func(p step) bool { return missing(p.object) })
	s.command.targets = slices.DeleteFunc(s.command.targets, missing)
}

// whole reports whether everything has its namespace, and the command something to be
// about.
func (s *story) whole() bool {
	for _, t := range s.things {
		if t.namespace != "" && s.thing(t.namespace) == nil {
			return false
		}
	}
	return s.command.verb == "collect" || s.command.selector != "" || len(s.command.targets) > 0
}
