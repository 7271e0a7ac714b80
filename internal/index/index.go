// Package index finds the numbers of things by their names. The things themselves have
// the names, the index keeps none: a name costs eight bytes and some slack, and the
// garbage collector of Go finds nothing in there to follow.
package index

import "hash/maphash"

// Index is a set of numbers, each of a thing that has another name. The zero value is empty.
// Whoever asks says which name the thing of a number has; that of a thing which is gone, and is
// left in until the next Renumber, is one that nobody asks for. It is for one goroutine, except
// that many may Find at the same time.
type Index struct {
	// slots have a number in the lower half and the hash of its name in the upper one; what is
	// free is not taken. A number is at the first free place from that of its hash on.
	slots []slot
	taken int
}

// slot is a number, one more than it is so that none is 0, behind the hash of its name.
type slot uint64

func (s slot) hash() uint32   { return uint32(s >> 32) }
func (s slot) number() uint32 { return uint32(s) - 1 }

func slotOf(hash, number uint32) slot { return slot(hash)<<32 | slot(number+1) }

// smallest is the number of slots of an index that is not empty: what one line of a cache has.
const smallest = 8

// seed makes all hashes of one run. Nothing that can be seen from outside depends on it.
var seed = maphash.MakeSeed()

func hashOf(name string) uint32 { return uint32(maphash.String(seed, name)) }

// Sized returns an empty index that expects n names.
func Sized(n int) Index {
	if n == 0 {
		return Index{}
	}
	n += n / 16 // who expects n may have forgotten some
	return Index{slots: make([]slot, room(n))}
}

// room is how many slots n names need.
func room(n int) int { return max(smallest, n+n/3+1) }

// full reports whether n names are too many for so many slots: a search gets long when less than
// a quarter is free.
func full(n, size int) bool { return n > size-size/4 }

// Len is the number of names.
func (x *Index) Len() int { return x.taken }

// Clone returns an index of its own with the same content.
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

// Look reads where the search for a name begins, and returns a number that depends on it.
func (x *Index) Look(name string) int {
	if x.taken == 0 {
		return 0
	}
	return int(x.slots[x.home(hashOf(name))])
}

// home is the slot from which on a name with this hash is.
func (x *Index) home(hash uint32) int { return int(uint64(hash) * uint64(len(x.slots)) >> 32) }

// next is the slot after another one: the first comes after the last.
func (x *Index) next(at int) int {
	if at++; at == len(x.slots) {
		return 0
	}
	return at
}

// way is how many slots there are from one to another one.
func (x *Index) way(from, to int) int {
	if to < from {
		to += len(x.slots)
	}
	return to - from
}

// search is where a name is, or where it would go. There is always a free slot.
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

// Put gives a name a number, instead of the one that it may have had.
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

// move puts what is left into other slots. The hashes say where everything goes.
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

// Take takes a name out and returns the number that it had.
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

// empty frees a slot, and moves up what had to go past it.
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

// Renumber gives each of so many things that are left another number, and takes out the names of
// those of which it says false. No two of the numbers may be the same.
func (x *Index) Renumber(left int, to func(uint32) (uint32, bool)) {
	x.move(room(left), to)
}
