package snapshot

import (
	"fmt"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Vouched is the user's word about the lists of a dump that prove nothing themselves.
type Vouched struct {
	// Partial is true if no list is complete.
	Partial bool
	// Complete are types, as kubectl accepts them, with all their objects in the dump, even if
	// Partial is true: those in the namespaces In, or all.
	Complete []string
	In       []string
}

// UnknownTypeError is a type that a user vouches for and that a dump lacks.
type UnknownTypeError struct {
	Name      string
	Resources *object.Resources
}

// Error returns the type.
func (e *UnknownTypeError) Error() string { return fmt.Sprintf("no resource type %q is known", e.Name) }

// vouch adds the user's word to a coverage. Known failures stay.
func (v Vouched) vouch(c *Coverage, resources *object.Resources, objects []*object.Object) error {
	if v.Partial {
		c.nothingWhole("it was said that no list of the dump is whole")
	}
	for _, name := range v.Complete {
		r, ok := resources.Named(name, func(r object.Resource) bool {
			for _, o := range objects {
				if o.Kind == r.Kind && object.GroupOf(o.APIVersion) == r.Group {
					return true
				}
			}
			return false
		})
		if !ok {
			return &UnknownTypeError{name, resources}
		}
		if len(v.In) == 0 || !r.Namespaced {
			c.addAll(r.GroupResource())
			continue
		}
		for _, ns := range v.In {
			c.Add(r.GroupResource(), ns)
		}
	}
	return nil
}

// vouchFor adds the user's word to a snapshot with a final coverage.
func (v Vouched) vouchFor(s *Snapshot) error {
	if !v.Partial && len(v.Complete) == 0 {
		return nil
	}
	if err := v.vouch(s.coverage, s.Resources, s.Objects); err != nil {
		return err
	}
	s.listGaps()
	return nil
}

// listGaps recomputes the gaps after a change of the coverage.
func (s *Snapshot) listGaps() {
	undiscovered := slices.DeleteFunc(s.Gaps, func(g Gap) bool { return g.Resource != EveryResource })
	s.Gaps = slices.Concat(undiscovered, s.gapsOf())
	sortGaps(s.Gaps)
}
