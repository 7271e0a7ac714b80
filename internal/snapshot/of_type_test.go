package snapshot

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// TestOfType: the objects of a type are those that a look at each object finds, in the same order.
func TestOfType(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := genSnapshot(t)
		refs := []object.Ref{{APIVersion: "v1", Kind: "Absent"}}
		for _, o := range s.Objects {
			refs = append(refs, o.Ref)
		}
		for _, ref := range refs {
			r := object.Resource{Kind: ref.Kind}
			r.Group, r.Version = object.SplitAPIVersion(ref.APIVersion)
			if r.APIVersion() != ref.APIVersion {
				continue // no resource has it
			}
			var want []*object.Object
			for _, o := range s.Objects {
				if o.APIVersion == ref.APIVersion && o.Kind == ref.Kind {
					want = append(want, o)
				}
			}
			if got := s.OfType(r); !slices.Equal(got, want) {
				t.Fatalf("%v: %d objects, want %d", ref, len(got), len(want))
			}
		}
	})
}
