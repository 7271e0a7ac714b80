package impact

import (
	"encoding/binary"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// A Fold is a snapshot in which one object stands for all that are alike: of the pods of a
// ReplicaSet one is left, with the claim that it brings and its volume.
//
// What happens to an object follows from what it is, from those with whom it goes, and from
// whether there is still one that it waits for; never from how many there are. So objects with
// the same owner come to the same end if they are the same but for their names, and each that is
// below one of them has one below the other to which that applies as well. That is a
// bisimulation, and one of each class shows all.
//
// It is so for whatever is deleted but for three: an object that is a part of a limb itself, of
// which only some others are siblings; a node, for on which one a pod is does not count; and
// where something is known of webhooks or of nodes, which is more than a snapshot has: labels
// do not count either.
type Fold struct {
	*Positions
	// natures are what objects are by themselves, 0 for those that are not folded; forms are
	// what they are with what is below them, 0 for those that are not in a limb.
	natures, forms []int32
	// above is below which object each in a limb is, negative for none: a volume is below its
	// claim, any other object below its owner.
	above []int32
	// open are those below an object that have no form yet, less one that is not counted yet;
	// size is how many objects a limb has.
	open, size []int32
	// youngest is when the youngest object of a limb was made that is more than one object.
	youngest map[int]int64
	// times are for how many objects each stands, itself included; 0 where another one does. by is
	// who stands for each.
	times, by []int32
	// below are the numbers of what may be below an object, kinds the forms of these with it.
	below map[string]int32
	kinds map[[2]int32]int32
	// chosen are those below one that stands for others, by their form.
	chosen map[[2]int32]int
}

// limb is how many objects may hang together in a limb. Who ranks what more of them take needs
// them one by one.
const limb = 100

// Fold finds the objects that are alike.
func (p *Positions) Fold() *Fold {
	n := len(p.objects)
	f := &Fold{
		Positions: p, natures: p.naturesOf(), forms: make([]int32, n), above: make([]int32, n), open: make([]int32, n), size: make([]int32, n), times: make([]int32, n), by: make([]int32, n),
		youngest: map[int]int64{}, below: map[string]int32{"": 0}, kinds: map[[2]int32]int32{}, chosen: map[[2]int32]int{},
	}
	for i := range f.objects {
		if f.natures[i] != 0 && f.leaves[i] {
			f.form(i)
		}
	}
	f.choose()
	return f
}

// Times is for how many objects one stands, itself included; 0 where another one does.
func (f *Fold) Times(i int) int { return int(f.times[i]) }

// By is the object that stands for one, which may be that itself.
func (f *Fold) By(i int) int { return int(f.by[i]) }

// Above is the object below which one in a limb is; negative where there is none.
func (f *Fold) Above(i int) int { return int(f.above[i]) }

// Limb reports whether an object may stand for others, or others for it.
func (f *Fold) Limb(i int) bool { return f.forms[i] != 0 }

// Objects lists the objects that stand for all, in their order.
func (f *Fold) Objects() []*object.Object {
	var list []*object.Object
	for i, o := range f.objects {
		if f.times[i] > 0 {
			list = append(list, o)
		}
	}
	return list
}

// form gives an object its form, and all above it of which it was the last.
func (f *Fold) form(i int) {
	for {
		f.forms[i] = numberOf(f.kinds, [2]int32{f.natures[i], f.formsBelow(i)})
		f.size[i]++
		f.above[i] = -1
		f.EachOwner(i, func(x int) { f.above[i] = int32(x) })
		above := int(f.above[i])
		if above < 0 || f.natures[above] == 0 {
			return
		}
		if f.size[above] += f.size[i]; f.size[above] >= limb || !f.last(above) {
			return
		}
		i = above
	}
}

// last counts one more form below an object and reports whether all have theirs.
func (f *Fold) last(above int) bool {
	if f.open[above] == 0 {
		f.EachBelow(above, func(int) { f.open[above]++ })
		f.open[above]++
	}
	f.open[above]--
	return f.open[above] == 1
}

// formsBelow is the number of the set of forms that are below an object, and notes when the
// youngest of them was made.
func (f *Fold) formsBelow(i int) int32 {
	if f.leaves[i] {
		return 0
	}
	var forms []int32
	youngest := f.objects[i].Created
	f.EachBelow(i, func(x int) {
		forms, youngest = append(forms, f.forms[x]), max(youngest, f.made(x))
	})
	f.youngest[i] = youngest
	slices.Sort(forms)
	var key []byte
	for _, x := range slices.Compact(forms) {
		key = binary.LittleEndian.AppendUint32(key, uint32(x))
	}
	return numberOf(f.below, string(key))
}

// made is when the youngest object of a limb was made. The clock of a simulated server starts
// behind all of its objects: the youngest of those that are alike stands for them.
func (f *Fold) made(i int) int64 {
	if f.leaves[i] {
		return f.objects[i].Created
	}
	return f.youngest[i]
}

// choose finds who stands for whom.
func (f *Fold) choose() {
	heads := map[[2]int32]int{}
	key := func(i int) ([2]int32, bool) {
		above := f.above[i]
		return [2]int32{above, f.forms[i]}, above < 0 || f.forms[above] == 0
	}
	for i := range f.objects {
		if f.forms[i] == 0 {
			f.times[i], f.by[i] = 1, int32(i)
		} else if k, head := key(i); head {
			if x, ok := heads[k]; !ok || f.made(i) > f.made(x) {
				heads[k] = i
			}
		}
	}
	for i := range f.objects {
		if f.forms[i] != 0 {
			if k, head := key(i); head {
				f.stand(heads[k], i)
			}
		}
	}
}

// stand has one object stand for another one, and those below it for those below that.
func (f *Fold) stand(one, other int) {
	f.times[one]++
	f.by[other] = int32(one)
	f.EachBelow(other, func(x int) { f.stand(f.among(one, f.forms[x]), x) })
}

// among is the youngest of a form below an object.
func (f *Fold) among(one int, form int32) int {
	key := [2]int32{int32(one), form}
	x, known := f.chosen[key]
	if !known {
		x = -1
		f.EachBelow(one, func(y int) {
			if f.forms[y] == form && (x < 0 || f.made(y) > f.made(x)) {
				x = y
			}
		})
		f.chosen[key] = x
	}
	return x
}

// numberOf numbers keys from 1.
func numberOf[K comparable](numbers map[K]int32, key K) int32 {
	n, known := numbers[key]
	if !known {
		n = int32(len(numbers)) + 1
		numbers[key] = n
	}
	return n
}
