package graph

import (
	"cmp"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

func TestCompare(t *testing.T) {
	a, b, c := to("a"), to("b"), to("c")
	blockingA := blockingTo("a")
	pair := func(x, y object.OwnerReference) [2]object.OwnerReference { return [2]object.OwnerReference{x, y} }
	type refs = []object.OwnerReference
	type pairs = [][2]object.OwnerReference
	for _, r := range []struct {
		name     string
		old, new refs
		want     Change
	}{
		{"both empty", nil, nil, Change{}},
		{"equal", refs{a, b}, refs{a, b}, Change{}},
		{"another order", refs{a, b}, refs{b, a}, Change{}},
		{"added", refs{a}, refs{b, a, c}, Change{Added: refs{b, c}}},
		{"removed", refs{c, a, b}, refs{a}, Change{Removed: refs{c, b}}},
		{"replaced", refs{a}, refs{b}, Change{Added: refs{b}, Removed: refs{a}}},
		{"changed", refs{a}, refs{blockingA}, Change{Changed: pairs{pair(a, blockingA)}}},
		{"the last of the old ones counts", refs{a, blockingA}, refs{a}, Change{Changed: pairs{pair(blockingA, a)}}},
		{"the last of the old ones is removed", refs{a, blockingA}, nil, Change{Removed: refs{blockingA}}},
		{"identical old ones are removed once", refs{a, a}, nil, Change{Removed: refs{a}}},
		{"further new ones are added", refs{a}, refs{a, blockingA, a}, Change{Added: refs{blockingA, a}}},
		{"new ones without an old one", nil, refs{a, a}, Change{Added: refs{a, a}}},
		// As upstream: a list with a repeated UID differs from itself.
		{"repeated and unchanged", refs{a, blockingA}, refs{a, blockingA}, Change{Added: refs{blockingA}, Changed: pairs{pair(blockingA, a)}}},
	} {
		t.Run(r.name, func(t *testing.T) {
			got := Compare(r.old, r.new)
			want(t, "change", got, r.want)
			want(t, "empty", got.Empty(), len(r.want.Added)+len(r.want.Removed)+len(r.want.Changed) == 0)
		})
	}
}

// specified is §3.5 B2 word by word, with a map.
func specified(old, next []object.OwnerReference) Change {
	var c Change
	last := map[types.UID]object.OwnerReference{}
	for _, ref := range old {
		last[ref.UID] = ref
	}
	for _, ref := range next {
		before, ok := last[ref.UID]
		if !ok {
			c.Added = append(c.Added, ref)
			continue
		}
		delete(last, ref.UID)
		if before != ref {
			c.Changed = append(c.Changed, [2]object.OwnerReference{before, ref})
		}
	}
	for _, ref := range last {
		c.Removed = append(c.Removed, ref)
	}
	return c
}

func drawReferences(t *rapid.T, label string) []object.OwnerReference {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) object.OwnerReference {
		ref := to(rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "uid"))
		ref.BlockOwnerDeletion = object.Flag(rapid.IntRange(0, 2).Draw(t, "blocking"))
		if rapid.IntRange(0, 5).Draw(t, "kind") == 0 {
			ref.Kind = "Secret"
		}
		return ref
	}), 0, 6).Draw(t, label)
}

func TestCompareIsAsSpecified(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		old, next := drawReferences(t, "old"), drawReferences(t, "new")
		got, wanted := Compare(old, next), specified(old, next)
		byUID := func(x, y object.OwnerReference) int { return cmp.Compare(x.UID, y.UID) }
		slices.SortFunc(got.Removed, byUID)
		slices.SortFunc(wanted.Removed, byUID)
		if !slices.Equal(got.Added, wanted.Added) || !slices.Equal(got.Removed, wanted.Removed) || !slices.Equal(got.Changed, wanted.Changed) {
			t.Fatalf("Compare(%v, %v) = %+v, specified is %+v", old, next, got, wanted)
		}
	})
}
