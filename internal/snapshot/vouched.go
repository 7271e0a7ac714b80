package snapshot

import (
	"fmt"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Vouched is what a user says of the lists of a dump, where nothing in it tells.
type Vouched struct {
	// Partial: no list is whole.
	Partial bool
	// Complete are types, as kubectl takes them, of which the dump holds all objects, Partial
	// or not: those in the namespaces In, or all of them.
	Complete []string
	In       []string
}

// UnknownTypeError is a type that a user vouches for and that a dump does not know.
type UnknownTypeError struct {
	Name      string
	Resources *object.Resources
}

// Error names the type.
func (e *UnknownTypeError) Error() string { return fmt.Sprintf("no resource type %q is known", e.Name) }

// vouch takes a user's word for the coverage of objects. What is known to be missing or broken
// stays so.
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

// vouchFor takes a user's word for a snapshot whose coverage is judged already.
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

// listGaps makes the gaps anew after the coverage has changed.
func (s *Snapshot) listGaps() {
	undiscovered := slices.DeleteFunc(s.Gaps, func(g Gap) bool { return g.Resource != EveryResource })
	s.Gaps = slices.Concat(undiscovered, s.gapsOf())
	sortGaps(s.Gaps)
}
