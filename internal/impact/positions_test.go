package impact_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// TestPositions: by their positions, objects have the owners and dependents that they have by
// themselves.
func TestPositions(t *testing.T) {
	owned := 0
	rapid.Check(t, func(t *rapid.T) {
		snap := drawReach(t)
		m := mapped(snap)
		p := m.Positions()
		same := func(what string, o *object.Object, want []*object.Object, each func(yield func(int))) {
			byRef := func(a, b *object.Object) int { return object.Compare(a.Ref, b.Ref) }
			var got []*object.Object
			each(func(x int) { got = append(got, snap.Objects[x]) })
			want = slices.SortedFunc(slices.Values(want), byRef)
			slices.SortFunc(got, byRef)
			if !slices.Equal(want, got) {
				t.Fatalf("%s %s (-by itself +by position):\n%s", what, o.Ref, cmp.Diff(want, got))
			}
			owned += len(got)
		}
		for i, o := range snap.Objects {
			if at := p.Of(o); at != i {
				t.Fatalf("%s is at %d, want %d", o.Ref, at, i)
			}
			if p.Settled(i) != m.Settled(o) {
				t.Fatalf("%s settled: %v", o.Ref, p.Settled(i))
			}
			if !m.Settled(o) {
				continue
			}
			same("the owners of", o, m.Owners(o), func(yield func(int)) { p.EachOwner(i, yield) })
			same("what is below", o, m.Below(o), func(yield func(int)) { p.EachBelow(i, yield) })
		}
	})
	if owned == 0 {
		t.Error("nobody ever had an owner")
	}
}
