package layout

import (
	"cmp"
	"slices"
)

// span is the part of a gutter that a line uses after one of its bends.
type span struct {
	gutter, owner, bend int32
	tree                bool
	low, high           int
}

// bundle is the lines of one owner in a gutter, which share a lane: spans[from:to].
type bundle struct {
	from, to  int
	gutter    int32
	tree      bool
	low, high int
}

// mostLanes is the maximum number of lanes in a gutter; further lines share them.
const mostLanes = 16

// lanes assigns lanes to the lines of all gutters. Lines of trees never overlap and get the first
// lane. Others get one that is free along their span. It returns the number of lanes of each
// gutter.
func (r *router) lanes(spans []span, gutters int32) []int32 {
	count := make([]int32, gutters)
	bundles := bundled(spans)
	for from := 0; from < len(bundles); {
		to := from
		for to < len(bundles) && bundles[to].gutter == bundles[from].gutter {
			to++
		}
		count[bundles[from].gutter] = r.share(spans, bundles[from:to])
		from = to
	}
	return count
}

// share assigns the lanes of one gutter, and returns their number.
func (r *router) share(spans []span, bundles []bundle) int32 {
	first, free := 0, []int{} // lower end of the last line in each lane
	if bundles[0].tree {
		first, free = 1, []int{0}
	}
	for i, b := range bundles {
		lane := 0
		if !b.tree {
			lane = first
			for lane < len(free) && free[lane] > b.low {
				lane++
			}
			if lane == mostLanes {
				lane = first + i%(mostLanes-first)
			}
			if lane == len(free) {
				free = append(free, 0)
			}
			free[lane] = b.high + laneStep
		}
		for _, s := range spans[b.from:b.to] {
			r.bends[s.bend].lane = int32(lane)
		}
	}
	return int32(len(free))
}

// bundled sorts the spans and joins those of one owner. Bundles are sorted by gutter, with those of
// trees first, then from top to bottom.
func bundled(spans []span) []bundle {
	slices.SortStableFunc(spans, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.gutter, b.gutter), treesFirst(a.tree, b.tree), cmp.Compare(a.owner, b.owner))
	})
	var bundles []bundle
	for i, s := range spans {
		if i == 0 || spans[i-1].gutter != s.gutter || spans[i-1].tree != s.tree || spans[i-1].owner != s.owner {
			bundles = append(bundles, bundle{from: i, gutter: s.gutter, tree: s.tree, low: s.low, high: s.high})
		}
		b := &bundles[len(bundles)-1]
		b.to, b.low, b.high = i+1, min(b.low, s.low), max(b.high, s.high)
	}
	slices.SortStableFunc(bundles, func(a, b bundle) int {
		return cmp.Or(cmp.Compare(a.gutter, b.gutter), treesFirst(a.tree, b.tree), cmp.Compare(a.low, b.low))
	})
	return bundles
}

func treesFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}
