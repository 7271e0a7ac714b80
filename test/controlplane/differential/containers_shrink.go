package differential

import (
	"context"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

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
