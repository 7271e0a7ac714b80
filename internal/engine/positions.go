package engine

// Positions is a set of owner references of one object, by their index. The zero value is empty. It
// is compact because a plan holds millions: the first 64 indexes take one word; only more of them
// allocate. A copy shares the allocated part, so neither may be changed after copying.
type Positions struct {
	first uint64
	// rest has one bit for each index from 64 on.
	rest *[]uint64
}

// Add adds index i.
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

// Has reports whether index i is in the set.
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

// Empty reports whether the set is empty.
func (p Positions) Empty() bool { return p.first == 0 && p.rest == nil }
