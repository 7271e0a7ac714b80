package draw

import "slices"

// page places the areas. Like the boxes of an area, they are in columns between gutters.
type page struct {
	*router
	// wide is the width of each gutter of the units. x is the left side of each column, from the
	// left side of the unit; the last is that of the gutter at the right border.
	wide []int
	x    []int
	// broadest is the width of each column of the units, by the gutter on its left.
	broadest []int
	// unitWidth, unitX, unitY and pageColumn are indexed by unit.
	unitWidth, unitX, unitY []int
	pageColumn              []int32
	// broad is the width of each column of the page, gutterX the start of its gutters.
	broad, gutterX []int
	height         int
}

func newPage(f *forest, r *router) *page {
	p := &page{
		router: r, wide: make([]int, r.pages), x: make([]int, r.pages),
		unitWidth: make([]int, len(f.units)), unitX: make([]int, len(f.units)), unitY: make([]int, len(f.units)),
		pageColumn: make([]int32, len(f.units)),
	}
	p.widen()
	p.arrange()
	p.routeBetweenAreas()
	return p
}

// widen computes the widths of gutters from their lanes, and the positions of columns.
func (p *page) widen() {
	count := p.lanes(p.spans(func(b bend) bool { return b.gutter != noBox }), p.pages)
	p.broadest = make([]int, p.pages)
	for i, b := range p.Boxes {
		g := p.left(i)
		p.broadest[g] = max(p.broadest[g], b.W)
	}
	for u := range p.units {
		x := 0
		for c := range p.columns[u] + 1 {
			g := p.first[u] + c
			p.wide[g] = gutterWidth(count[g], c == 0, c == p.columns[u])
			p.x[g] = x + p.wide[g]
			x = p.x[g] + p.broadest[g]
		}
		p.unitWidth[u] = x
	}
}

func gutterWidth(lanes int32, first, last bool) int {
	switch {
	case lanes == 0 && (first || last):
		return areaPad
	case first:
		return areaPad + int(lanes)*laneStep + laneEnd
	case last:
		return laneStart + int(lanes)*laneStep + areaPad
	}
	return laneStart + int(max(lanes-1, 0))*laneStep + laneEnd
}

// spans returns the parts of gutters used by the wanted bends.
func (p *page) spans(wanted func(bend) bool) []laneSpan {
	var spans []laneSpan
	for i, e := range p.Edges {
		y := p.absolute(p.unitOf(int32(e.Owner)), p.anchor(e.Owner))
		for k := p.begin[i]; k < p.begin[i+1]; k++ {
			b := p.bends[k]
			to := p.absolute(b.unit, b.y)
			if wanted(b) && y != to {
				spans = append(spans, laneSpan{
					gutter: b.gutter, owner: int32(e.Owner), bend: k, tree: b.tree, low: min(y, to), high: max(y, to),
				})
			}
			y = to
		}
	}
	return spans
}

// absolute returns a height on the page. Before units are placed, only heights of one unit are
// comparable.
func (p *page) absolute(unit int32, y int) int {
	if unit == noBox {
		return y
	}
	return p.unitY[unit] + y
}

// arrange puts the units into columns by graph.column. Units of the same column are broken into
// several columns for a good ratio.
func (p *page) arrange() {
	columns := make([][]int32, slices.Max(p.column)+1)
	for u, c := range p.column {
		columns[c] = append(columns[c], int32(u))
	}
	for _, units := range columns {
		slices.SortFunc(units, func(a, b int32) int { return int(p.units[a][0] - p.units[b][0]) })
		items := make([]pageItem, len(units))
		for i, u := range units {
			items[i] = pageItem{width: p.unitWidth[u], height: p.unitHeight[u], gap: areaGap}
		}
		from := 0
		for _, end := range fold(items, areaGap) {
			p.placeUnits(units[from:end])
			from = end
		}
	}
	p.height += margin
}

// placeUnits places units below each other in a new column, which is as wide as the widest of them.
func (p *page) placeUnits(units []int32) {
	y, broad := margin, 0
	for _, u := range units {
		p.pageColumn[u] = int32(len(p.broad))
		p.unitY[u] = y
		y += p.unitHeight[u] + areaGap
		broad = max(broad, p.unitWidth[u])
	}
	p.broad = append(p.broad, broad)
	p.height = max(p.height, y-areaGap)
}

// routeBetweenAreas routes lines between areas along the gutters of the page. Lines between
// different gutters pass through the upper margin.
func (p *page) routeBetweenAreas() {
	for i, e := range p.Edges {
		if p.layoutGraph.within(int32(i)) {
			continue
		}
		out, in := &p.bends[p.begin[i]+1], &p.bends[p.begin[i]+2]
		out.gutter = p.pages + p.pageColumn[p.unitOf(int32(e.Owner))] + 1
		in.gutter = p.pages + p.pageColumn[p.unitOf(int32(e.Dependent))]
		if out.gutter == in.gutter {
			out.unit, out.y = in.unit, in.y
		} else {
			out.y = p.separate(e.Owner, noBox, margin/2)
		}
	}
	gutters := p.pages + int32(len(p.broad)) + 1
	count := p.lanes(p.spans(func(b bend) bool { return b.gutter >= p.pages }), gutters)[p.pages:]
	p.gutterX = make([]int, len(p.broad)+1)
	x := 0
	for c := range p.gutterX {
		p.gutterX[c] = x
		if last := len(p.broad); c == 0 || c == last {
			x += max(margin, pageLane+int(count[c])*laneStep)
		} else {
			x += max(areaGap, 2*pageLane+int(count[c]-1)*laneStep)
		}
		if c < len(p.broad) {
			for u, column := range p.pageColumn {
				if int(column) == c {
					p.unitX[u] = x
				}
			}
			x += p.broad[c]
		}
	}
	p.gutterX = append(p.gutterX, x)
}

// pageLane is the distance between an area and a line next to it.
const pageLane = 12

// pageItem is a block that is put into columns like the text of a newspaper.
type pageItem struct {
	width, height int
	// gap is the distance from the item above; none applies to the first item of a column.
	gap int
}

// maxFolds limits the exhaustive search: every number of columns below it is tried, beyond it
// some are skipped.
const maxFolds = 12

// fold breaks items into adjacent columns, so that the smallest page of the wanted ratio contains
// them. It returns the end index of each column.
func fold(items []pageItem, between int) []int {
	total := 0
	for _, x := range items {
		total += x.height + x.gap
	}
	var best []int
	least := 0
	for n := 1; n <= len(items); n += 1 + n/maxFolds {
		ends, size := fill(items, total/n, between)
		if best == nil || size < least {
			best, least = ends, size
		}
		if n > 4*len(best) {
			break
		}
	}
	return best
}

// fill breaks items into columns of about the height limit, with a distance of between. size is the
// width of the smallest page of the preferred ratio that contains them.
func fill(items []pageItem, limit, between int) (ends []int, size int) {
	width, tallest := 0, 0
	wide, high := 0, 0
	for i, x := range items {
		if i > 0 && high+x.gap+x.height/2 > limit {
			ends = append(ends, i)
			width, tallest = width+wide+between, max(tallest, high)
			wide, high = x.width, x.height
			continue
		}
		if i > 0 {
			high += x.gap
		}
		wide, high = max(wide, x.width), high+x.height
	}
	ends = append(ends, len(items))
	width, tallest = width+wide, max(tallest, high)
	return ends, max(width, int(pageRatio*float64(tallest)))
}
