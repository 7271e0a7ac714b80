package snapshot

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSorted: sorting in halves is sorting, and leaves equal ones in the order that the whole
// comparison asks for.
func TestSorted(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, worthHalving - 1, worthHalving, worthHalving + 1, 3*worthHalving + 7} {
		list := make([]int, n)
		for i := range list {
			list[i] = random.IntN(n/3 + 1)
		}
		want := slices.Sorted(slices.Values(list))
		if got := sorted(list, func(a, b int) int { return a - b }); !slices.Equal(got, want) {
			t.Errorf("%d numbers are not sorted", n)
		}
	}
}
