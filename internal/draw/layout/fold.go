package layout

// item is a block that is put into columns like the text of a newspaper.
type item struct {
	width, height int
	// gap is the distance from the item above; none applies to the first item of a column.
	gap int
}

// mostFolds limits the exhaustive search: every number of columns below it is tried, beyond it
// some are skipped.
const mostFolds = 12

// fold breaks items into adjacent columns, so that the smallest page of the wanted ratio contains
// them. It returns the end index of each column.
func fold(items []item, between int) []int {
	total := 0
	for _, x := range items {
		total += x.height + x.gap
	}
	var best []int
	least := 0
	for n := 1; n <= len(items); n += 1 + n/mostFolds {
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

// fill breaks items into columns of about the given height. size is the width of the smallest page
// that contains them.
func fill(items []item, limit, between int) (ends []int, size int) {
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
	return ends, max(width, int(ratio*float64(tallest)))
}
