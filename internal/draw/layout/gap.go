package layout

import (
	"cmp"
	"slices"
)

// clearance is the minimum distance of a line from the upper or lower side of a box.
const clearance = 4

// column lists the occupied stretches of a column, from top to bottom.
type column []stretch

type stretch struct{ top, bottom int }

// mostTries bounds the search for a gap.
const mostTries = 40

// gap returns the free height nearest to y in the columns [low, high). apart reports whether lines
// there may be shifted slightly. If there is no gap, it is the channel above all boxes of the area.
func (r *router) gap(box, low, high int32, y int) (at int, apart bool) {
	u, group := r.unitOf(box), r.Boxes[box].Group
	columns := r.occupied(u)[low:high]
	top, bottom := r.areaRow[group]+r.Header, r.areaRow[group]+r.areaHeight[group]
	if _, taken := blocking(columns, y); !taken {
		return y, false
	}
	best, found := r.channel[group], false
	for _, step := range [2]func(stretch) int{
		func(s stretch) int { return s.top - boxGap/2 },
		func(s stretch) int { return s.bottom + boxGap/2 },
	} {
		at := y
		for range mostTries {
			s, taken := blocking(columns, at)
			if !taken {
				if !found || abs(at-y) < abs(best-y) {
					best, found = at, true
				}
				break
			}
			if at = step(s); at <= top || at >= bottom {
				break
			}
		}
	}
	return best, true
}

// blocking returns a box that a line at y would cross or come too close to.
func blocking(columns []column, y int) (stretch, bool) {
	for _, c := range columns {
		i, _ := slices.BinarySearchFunc(c, y, func(s stretch, y int) int { return cmp.Compare(s.bottom+clearance, y) })
		if i < len(c) && c[i].top-clearance <= y {
			return c[i], true
		}
	}
	return stretch{}, false
}

// occupied returns the occupied stretches of a unit's columns.
func (r *router) occupied(u int32) []column {
	if r.taken[u] == nil {
		r.taken[u] = make([]column, r.columns[u])
		for _, group := range r.units[u] {
			r.occupy(r.top[group], r.taken[u])
		}
		for _, c := range r.taken[u] {
			slices.SortFunc(c, func(a, b stretch) int { return cmp.Compare(a.top, b.top) })
		}
	}
	return r.taken[u]
}

func (r *router) occupy(node int32, columns []column) {
	if r.drawn(node) {
		columns[r.at[node]] = append(columns[r.at[node]], stretch{r.y[node], r.y[node] + r.Boxes[node].H})
	}
	for _, i := range r.below[node] {
		r.occupy(i, columns)
	}
}

func abs(n int) int { return max(n, -n) }
