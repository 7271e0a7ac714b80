package layout

import "slices"

// sweeps is the number of sorting passes.
const sweeps = 2

// settle moves trees and siblings with extra edges closer to the other ends: each is sorted by the
// mean position of these. Others keep their positions.
func (f *forest) settle() {
	if !slices.Contains(f.tied, true) {
		return
	}
	place := make([]int, len(f.below))
	for range sweeps {
		count := 0
		for _, node := range f.top {
			f.number(node, place, &count)
		}
		sum, ends := f.pulls(place)
		for node := range f.below {
			if f.tied[node] {
				f.sort(f.below[node], place, sum, ends)
			}
		}
	}
}

// number numbers the nodes in reading order.
func (f *forest) number(node int32, place []int, count *int) {
	place[node] = *count
	*count++
	for _, i := range f.below[node] {
		f.number(i, place, count)
	}
}

// pulls sums, for each node, the positions of the other ends of extra edges at or below it.
func (f *forest) pulls(place []int) (sum, ends []int) {
	sum, ends = make([]int, len(f.below)), make([]int, len(f.below))
	for i, e := range f.Edges {
		if f.extra(int32(i)) {
			sum[e.Owner] += place[e.Dependent]
			sum[e.Dependent] += place[e.Owner]
			ends[e.Owner]++
			ends[e.Dependent]++
		}
	}
	for _, i := range slices.Backward(f.topological) {
		if e := f.beside[i]; e != none {
			owner := f.Edges[e].Owner
			sum[owner] += sum[i]
			ends[owner] += ends[i]
		}
	}
	return sum, ends
}

func (f *forest) sort(nodes []int32, place, sum, ends []int) {
	slices.SortStableFunc(nodes, func(a, b int32) int {
		// Means are compared as fractions, without rounding.
		return mean(a, place, sum, ends)*weight(b, ends) - mean(b, place, sum, ends)*weight(a, ends)
	})
}

func mean(node int32, place, sum, ends []int) int {
	if ends[node] == 0 {
		return place[node]
	}
	return sum[node]
}

func weight(node int32, ends []int) int { return max(ends[node], 1) }
