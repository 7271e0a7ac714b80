package differential

import (
	"context"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
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
