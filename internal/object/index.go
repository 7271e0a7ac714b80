package object

import "hash/maphash"

// Index is a hash set of numbers, each of a thing with a unique name. The zero value is empty.
// Callers pass a function that returns the name of a number. For a thing that is gone and stays in
// the index until the next Renumber, it must return a name that is never looked up. An Index must
// be used by one goroutine, but Find may be called concurrently.
type Index struct {
	// slots have a number in the lower half and the hash of its name in the upper half; 0 means
	// free. It is a hash table with linear probing. taken is the number of used slots.
	slots []slot
	taken int
}

// slot is a number plus one, so that none is 0, with the hash of its name.
type slot uint64

func (s slot) hash() uint32   { return uint32(s >> 32) }
func (s slot) number() uint32 { return uint32(s) - 1 }

func slotOf(hash, number uint32) slot { return slot(hash)<<32 | slot(number+1) }

// smallest is the minimum number of slots of a non-empty index: one cache line.
const smallest = 8

// seed is the hash seed of the process. No result depends on it.
var seed = maphash.MakeSeed()

func hashOf(name string) uint32 { return uint32(maphash.String(seed, name)) }

// SizedIndex returns an empty index with memory for n names.
func SizedIndex(n int) Index {
	if n == 0 {
		return Index{}
	}
	n += n / 16 // a margin for estimates that are too low
	return Index{slots: make([]slot, room(n))}
}

// room returns the number of slots for n names.
func room(n int) int { return max(smallest, n+n/3+1) }

// full reports whether n names are too many for size slots: with less than a quarter free, searches
// get long.
func full(n, size int) bool { return n > size-size/4 }

// Len returns the number of names.
func (x *Index) Len() int { return x.taken }

// Clone returns an independent copy.
func (x *Index) Clone() Index {
	return Index{slots: append([]slot(nil), x.slots...), taken: x.taken}
}

// Find returns the number of the thing with a name.
func (x *Index) Find(name string, nameOf func(uint32) string) (uint32, bool) {
	if x.taken == 0 {
		return 0, false
	}
	at, ok := x.search(hashOf(name), name, nameOf)
	if !ok {
		return 0, false
	}
	return x.slots[at].number(), true
}

// Look reads the slot where the search for a name begins, as a prefetch. It returns a number that
// depends on the slot, so that the compiler keeps the read.
func (x *Index) Look(name string) int {
	if x.taken == 0 {
		return 0
	}
	return int(x.slots[x.home(hashOf(name))])
}

// home returns the slot where the search for a hash begins.
func (x *Index) home(hash uint32) int { return int(uint64(hash) * uint64(len(x.slots)) >> 32) }

// next returns the following slot, wrapping around.
func (x *Index) next(at int) int {
	if at++; at == len(x.slots) {
		return 0
	}
	return at
}

// way returns the number of slots from one to another, wrapping around.
func (x *Index) way(from, to int) int {
	if to < from {
		to += len(x.slots)
	}
	return to - from
}

// search returns the slot of a name, or the free slot for it. There is always a free slot.
func (x *Index) search(hash uint32, name string, nameOf func(uint32) string) (at int, ok bool) {
	for at = x.home(hash); ; at = x.next(at) {
		s := x.slots[at]
		if s == 0 {
			return at, false
		}
		if s.hash() == hash && nameOf(s.number()) == name {
			return at, true
		}
	}
}

// Put sets the number of a name and replaces an earlier one.
func (x *Index) Put(name string, number uint32, nameOf func(uint32) string) {
	if full(x.taken+1, len(x.slots)) {
		x.grow()
	}
	hash := hashOf(name)
	at, ok := x.search(hash, name, nameOf)
	if !ok {
		x.taken++
	}
	x.slots[at] = slotOf(hash, number)
}

// grow doubles the slots.
func (x *Index) grow() {
	x.move(max(smallest, 2*len(x.slots)), func(n uint32) (uint32, bool) { return n, true })
}

// move rehashes the remaining numbers into size slots, by their stored hashes.
func (x *Index) move(size int, to func(uint32) (uint32, bool)) {
	old := x.slots
	x.slots, x.taken = make([]slot, size), 0
	for _, s := range old {
		if s == 0 {
			continue
		}
		n, ok := to(s.number())
		if !ok {
			continue
		}
		at := x.home(s.hash())
		for x.slots[at] != 0 {
			at = x.next(at)
		}
		x.slots[at] = slotOf(s.hash(), n)
		x.taken++
	}
}

// Take removes a name and returns its number.
func (x *Index) Take(name string, nameOf func(uint32) string) (uint32, bool) {
	if x.taken == 0 {
		return 0, false
	}
	at, ok := x.search(hashOf(name), name, nameOf)
	if !ok {
		return 0, false
	}
	number := x.slots[at].number()
	x.empty(at)
	return number, true
}

// empty frees a slot. It moves each following entry into the free slot if a search for the entry
// would stop there, and then continues with the slot that this frees.
func (x *Index) empty(at int) {
	x.taken--
	for next := x.next(at); x.slots[next] != 0; next = x.next(next) {
		if x.way(x.home(x.slots[next].hash()), next) >= x.way(at, next) {
			x.slots[at] = x.slots[next]
			at = next
		}
	}
	x.slots[at] = 0
}

// Renumber replaces the numbers, and removes each name if to returns false for its number. left is
// the number of remaining names. The new numbers must be unique.
func (x *Index) Renumber(left int, to func(uint32) (uint32, bool)) {
	x.move(room(left), to)
}
