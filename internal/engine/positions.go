package engine

// Positions is a set of owner references of one object, by their places in its list.
// The zero value is empty. It is kept small, for a plan holds millions: the first 64
// take one word, and only an object with more of them pays for more. A copy shares what
// lies beyond; nothing may be added to either after that.
type Positions struct {
	first uint64
	// rest has one bit for each of the references from the 65th on.
	rest *[]uint64
}

// Add puts the i-th reference in.
func (p *Positions) Add(i int) {
	if i < 64 {
		p.first |= 1 << i
		return
	}
	if p.rest == nil {
		p.rest = new([]uint64)
	}
	for len(*p.rest) < i/64 {
		*p.rest = append(*p.rest, 0)
	}
	(*p.rest)[i/64-1] |= 1 << (i % 64)
}

// Has reports whether the i-th reference is in the set.
func (p Positions) Has(i int) bool {
	switch {
	case i < 64:
		return p.first&(1<<i) != 0
	case p.rest == nil || len(*p.rest) < i/64:
		return false
	default:
		return (*p.rest)[i/64-1]&(1<<(i%64)) != 0
	}
}

// Empty reports whether nothing is in the set.
func (p Positions) Empty() bool { return p.first == 0 && p.rest == nil }
